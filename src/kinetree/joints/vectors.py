"""Vectors that kinds of joint are made from: checked, normalised, described."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

from kinetree.errors import ModelError
from kinetree.inputs import is_masked
from kinetree.spatial import Mat3, Vec3

__all__ = ["axis_name", "rows_ending_in", "three_numbers", "unit_axis"]

_ROUNDING = 2.0**-52
_TEXT = (str, bytes)
_NO_VECTORS = (str, bytes, bytearray, Mapping, Set)
"""Types that are not vectors, even if iterating over them yields numbers."""


def rows_ending_in(z: Vec3) -> Mat3:
    """A rotation whose last row is the unit vector z, which is the third axis of the coordinates it leads to."""
    components = [float(z_k) for z_k in z.components()]
    least = min((1, 0, 2), key=lambda k: abs(components[k]))
    across = Vec3(*(float(k == least) for k in range(3))).cross(z)
    x = unit_axis([float(x_k) for x_k in across.components()])
    return Mat3(x, z.cross(x), z)


def three_numbers(what: str, vector: Sequence[float] | Vec3) -> Vec3:
    """Check and return a vector of three finite numbers; `what` begins the error message."""
    x, y, z = _three(what, vector)
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        raise ModelError(f"{what} must be three finite numbers, not {[x, y, z]}")
    return Vec3(x + 0.0, y + 0.0, z + 0.0)


def _three(what: str, vector: Sequence[float] | Vec3) -> tuple[float, float, float]:
    numbers = vector.components() if isinstance(vector, Vec3) else vector
    try:
        if type(numbers) is not list and type(numbers) is not tuple and isinstance(numbers, _NO_VECTORS):
            raise TypeError
        x, y, z = numbers
        if type(x) is type(y) is type(z) is float:
            return x, y, z
        if is_masked(numbers):
            raise TypeError
        return _number(x), _number(y), _number(z)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what} must be three numbers, not {vector!r:.60}") from None


def _number(x: object) -> float:
    if isinstance(x, _TEXT):  # float would parse it
        raise TypeError
    return float(x)  # type: ignore[arg-type]


def unit_axis(axis: Sequence[float] | Vec3) -> Vec3:
    """The axis scaled to length one; an axis whose length is one up to rounding is unchanged."""
    x, y, z = _three("a joint axis", axis)
    length = math.sqrt(x * x + y * y + z * z)
    if abs(length - 1.0) <= _ROUNDING:
        return Vec3(x, y, z)
    if not math.isfinite(length) or length == 0.0:
        raise ModelError(f"a joint axis must be three finite numbers that are not all zero, not {[x, y, z]}")
    return Vec3(x / length, y / length, z / length)


def axis_name(axis: Vec3) -> str:
    """The axis for people: "x", "-z", or its components."""
    for name, unit in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0)), ("z", (0.0, 0.0, 1.0))):
        if axis.components() == unit:
            return name
        if tuple(-a + 0.0 for a in axis.components()) == unit:
            return "-" + name
    return "(" + ", ".join(f"{a:.4g}" for a in axis.components()) + ")"
