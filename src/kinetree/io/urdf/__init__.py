"""URDF, the Unified Robot Description Format."""

from kinetree.io.urdf.reader import load_urdf, read_urdf
from kinetree.io.urdf.shapes import SHAPES

__all__ = ["SHAPES", "load_urdf", "read_urdf"]
