"""URDF, the Unified Robot Description Format."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.io.urdf.reader import read_urdf
    from kinetree.io.urdf.shapes import SHAPES

__all__ = ["SHAPES", "read_urdf"]
