"""Robots that come with kinetree, to try things on: `names`, `load`, `path`."""

from kinetree.io.sources import register
from kinetree.zoo.catalogue import found, load, names, path

__all__ = ["load", "names", "path"]

register("zoo", names, found)
