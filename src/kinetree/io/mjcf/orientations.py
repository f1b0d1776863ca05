"""Orientations in MJCF's five spellings, and the placements they are part of."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.settings import Settings
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.rotations import from_axis_angle

__all__ = [
    "SPELLINGS", "along_z", "from_euler", "from_quaternion", "orientation", "placed", "placement", "quaternion_of",
]  # fmt: skip

SPELLINGS = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}
"""The attributes for orientations, and how many numbers each has."""
_SHORT = 1e-7
"""MuJoCo takes vectors shorter than this as zero."""
_IDENTITY = Mat3.identity()
_ORIGIN = (0.0, 0.0, 0.0)


def placed(R: Mat3, r: Sequence[float] = _ORIGIN) -> Transform:
    """The placement whose axes are the columns of R, and whose origin is r."""
    return Transform(R.T, Vec3(*r))


def placement(a: Attributes, settings: Settings, position: str = "pos") -> Transform:
    """The placement that an element's attributes give it in what is around it."""
    return placed(orientation(a, settings), a.numbers(position, _ORIGIN))


def orientation(a: Attributes, settings: Settings) -> Mat3:
    """The rotation whose columns are the axes of an element.

    An element has at most one spelling, which replaces that of its defaults.
    """
    name = a.one_of(SPELLINGS)
    if name is None:
        return _IDENTITY
    values = a.numbers(name, (0.0,) * SPELLINGS[name])
    if name == "quat":
        if math.hypot(*values) < _SHORT:
            a.fail(
                "its quaternion has length zero, which is not an orientation; quat is w x y z, such as 1 0 0 0",
                "bad-placement",
            )
        return from_quaternion(values)
    if name == "axisangle":
        return _about(_unit(values[:3], a, name), settings.radians(values[3]))
    if name == "xyaxes":
        return _from_axes(values, a)
    if name == "zaxis":
        return along_z(_unit(values, a, name))
    return from_euler(values, settings)


def from_quaternion(wxyz: Sequence[float]) -> Mat3:
    """The rotation of a quaternion, which need not have length one; w comes first."""
    length = math.hypot(*wxyz)
    w, x, y, z = (c / length for c in wxyz)
    return _rows(
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


def from_euler(angles: Sequence[float], settings: Settings) -> Mat3:
    """Rotations in sequence, about axes that turn with the frame (small letters) or stay (capitals)."""
    R = _IDENTITY
    for angle, letter in zip(angles, settings.euler_sequence, strict=True):
        axis = [0.0, 0.0, 0.0]
        axis["xyz".index(letter.lower())] = 1.0
        turn = _about(axis, settings.radians(angle))
        R = R.times(turn) if letter.islower() else turn.times(R)
    return R


def along_z(direction: Sequence[float]) -> Mat3:
    """The smallest rotation that turns the z axis into a direction of length one."""
    x, y, z = direction
    sine = math.hypot(x, y)
    axis = (-y / sine, x / sine, 0.0) if sine >= 1e-10 else (1.0, 0.0, 0.0)
    return _about(axis, math.atan2(sine, z))


def _about(axis: Sequence[float], angle: float) -> Mat3:
    return from_axis_angle(Vec3(*axis), angle)


def _from_axes(values: Sequence[float], a: Attributes) -> Mat3:
    x = _unit(values[:3], a, "the x axis of xyaxes")
    along = sum(p * q for p, q in zip(x, values[3:], strict=True))
    y = _unit([q - along * p for p, q in zip(x, values[3:], strict=True)], a, "the y axis of xyaxes")
    z = (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
    return _rows(x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


def _rows(*e: float) -> Mat3:
    return Mat3(Vec3(*e[:3]), Vec3(*e[3:6]), Vec3(*e[6:]))


def _unit(vector: Sequence[float], a: Attributes, what: str) -> tuple[float, ...]:
    length = math.hypot(*vector)
    if length < _SHORT:
        a.fail(f"{what} is too short for a direction: {' '.join(f'{x:g}' for x in vector)}", "bad-axis")
    return tuple(x / length for x in vector)


def quaternion_of(R: Mat3) -> tuple[float, float, float, float]:
    """The quaternion w x y z of a rotation, with w not negative."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = map(float, R.components())
    squares = (1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz)
    largest = max(range(4), key=squares.__getitem__)
    s = math.sqrt(squares[largest])
    rows = (
        (s, (zy - yz) / s, (xz - zx) / s, (yx - xy) / s),
        ((zy - yz) / s, s, (xy + yx) / s, (xz + zx) / s),
        ((xz - zx) / s, (xy + yx) / s, s, (yz + zy) / s),
        ((yx - xy) / s, (xz + zx) / s, (yz + zy) / s, s),
    )
    w, x, y, z = (0.5 * c for c in rows[largest])
    return (w, x, y, z) if w >= 0.0 else (-w, -x, -y, -z)
