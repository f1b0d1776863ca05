"""Robots that come with kinetree, to try things on: `names`, `load`, `path`."""

from kinetree.zoo.catalogue import load, names, path

__all__ = ["load", "names", "path"]
