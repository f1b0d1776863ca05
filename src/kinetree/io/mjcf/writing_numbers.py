"""Placements as pos and quat."""

from __future__ import annotations

from kinetree.io.xml_text import shown_numbers
from kinetree.spatial import Transform, Vec3

__all__ = ["pose", "vector"]

_HERE = Transform.identity()


def pose(X: Transform) -> dict[str, str]:
    """The attributes of a placement; none of an identity."""
    attributes = {}
    if any(X.r.components()):
        attributes["pos"] = vector(X.r)
    if X.E != _HERE.E:
        x, y, z, w = map(float, X.quaternion)
        attributes["quat"] = shown_numbers([w, x, y, z])
    return attributes


def vector(a: Vec3) -> str:
    """Three numbers."""
    return shown_numbers([float(x) for x in a.components()])
