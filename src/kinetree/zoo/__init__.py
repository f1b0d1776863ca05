"""Robots of our own, to try things on: `names`, `load`, `path`."""

from kinetree.zoo.catalogue import load, names, path

__all__ = ["load", "names", "path"]
