"""<origin xyz rpy>."""

from __future__ import annotations

from kinetree.io.document import Element
from kinetree.io.numbers import numbers
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.rotations import from_rpy

__all__ = ["read_placement"]

_ZERO = (0.0, 0.0, 0.0)
_AXES = Mat3.identity()
_IDENTITY = Transform.identity()


def read_placement(origin: Element | None) -> Transform:
    """The placement of an element by its <origin>, in the frame of the link around; the identity if there is none."""
    if origin is None:
        return _IDENTITY
    xyz = numbers(origin, "xyz", 3, _ZERO)
    rpy = numbers(origin, "rpy", 3, _ZERO)
    E = _AXES if rpy == _ZERO else from_rpy(*rpy).T
    return Transform(E, Vec3(*xyz))
