"""<origin xyz rpy>, or <origin xyz quat_xyzw> from version 1.1 on."""

from __future__ import annotations

import math

from kinetree.io.document import Element
from kinetree.io.numbers import numbers
from kinetree.io.urdf.version import version_around
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion, from_rpy

__all__ = ["read_placement"]

_ZERO = (0.0, 0.0, 0.0)
_AXES = Mat3.identity()
_IDENTITY = Transform.identity()
_ROUNDED = 1e-4
"""Files commonly have five digits and more; a quaternion whose length is further from one was not rounded."""


def read_placement(origin: Element | None) -> Transform:
    """The placement of an element by its <origin>, in the frame of the link around; by default the identity."""
    if origin is None:
        return _IDENTITY
    xyz = numbers(origin, "xyz", 3, _ZERO)
    if "quat_xyzw" in origin.attributes:
        return Transform(_turned(origin), Vec3(*xyz))
    rpy = numbers(origin, "rpy", 3, _ZERO)
    E = _AXES if rpy == _ZERO else from_rpy(*rpy).T
    return Transform(E, Vec3(*xyz))


def _turned(origin: Element) -> Mat3:
    """The axes that a quaternion gives."""
    if "rpy" in origin.attributes:
        origin.fail("has both rpy and quat_xyzw; remove one of them")
    if version_around(origin) < (1, 1):
        origin.fail('quat_xyzw came with version 1.1 of URDF; write version="1.1" on <robot>, or give rpy instead')
    x, y, z, w = numbers(origin, "quat_xyzw", 4)
    length = math.hypot(x, y, z, w)
    if not abs(length - 1.0) <= _ROUNDED:
        origin.fail(f"quat_xyzw has length {length:.6g}, but a rotation is a quaternion x y z w of length one")
    return from_quaternion(x / length, y / length, z / length, w / length).T
