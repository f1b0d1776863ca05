"""Readers of robot files."""

from kinetree.io.load import load
from kinetree.io.urdf import load_urdf

__all__ = ["load", "load_urdf"]
