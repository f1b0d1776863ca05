"""Robots that come with kinetree, to try things on: `names`, `load`, `path`."""

from kinetree.io.sources import register, robots
from kinetree.zoo.catalogue import found, load, names, path

__all__ = ["load", "names", "path", "robots"]

register("zoo", names, found)
