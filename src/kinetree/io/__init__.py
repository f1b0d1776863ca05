"""Readers and writers of robot files, a folder per format."""

from typing import NamedTuple

__all__ = ["FORMATS", "Format"]


class Format(NamedTuple):
    """A format of robot files."""

    title: str
    """Its name for people."""
    root: str
    """The first element of its files; "" for JSON."""
    suffixes: tuple[str, ...]
    """The suffixes of its files, the usual one first."""


FORMATS = {
    "native": Format("kinetree's text form", "", (".json",)),
    "urdf": Format("URDF", "robot", (".urdf",)),
    "sdf": Format("SDF", "sdf", (".sdf", ".world")),
    "mjcf": Format("MJCF", "mujoco", (".xml", ".mjcf")),
}
"""The formats that are read and written, by the names that arguments have for them."""
