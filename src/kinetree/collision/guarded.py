"""Vectors chosen without branches, and divided by lengths that may be zero: values and derivatives stay finite."""

from __future__ import annotations

from kinetree.expr import Scalar, floor, less, maximum, minimum, select, sqrt
from kinetree.spatial import Vec3

__all__ = ["X_AXIS", "chosen", "clipped", "frozen", "frozen_vector", "sign_of", "unit"]

X_AXIS = Vec3(1.0, 0.0, 0.0)
_STEPS = 2.0**44
_TINY = 1e-15
"""Lengths below this one count as zero, as in MuJoCo."""


def chosen(condition: Scalar, a: Vec3, b: Vec3) -> Vec3:
    """`a` where the condition is not zero, `b` elsewhere."""
    return Vec3(select(condition, a.x, b.x), select(condition, a.y, b.y), select(condition, a.z, b.z))


def clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    inside: Scalar = maximum(low, minimum(x, high))
    return inside


def frozen(x: Scalar) -> Scalar:
    """The number itself, with the derivative zero; to 6e-14, since that is the derivative of a floor."""
    steps: Scalar = floor(x * _STEPS)
    return steps * (1.0 / _STEPS)


def frozen_vector(v: Vec3) -> Vec3:
    return Vec3(frozen(v.x), frozen(v.y), frozen(v.z))


def sign_of(x: Scalar) -> Scalar:
    """1 for positive numbers and -1 for others."""
    sign: Scalar = select(less(0.0, x), 1.0, -1.0)
    return sign


def unit(v: Vec3, otherwise: Vec3 = X_AXIS) -> tuple[Vec3, Scalar]:
    """The direction and the length of a vector; another direction, and the length zero, where it has none."""
    squared = v.dot(v)
    none = less(squared, _TINY * _TINY)
    length = sqrt(select(none, 1.0, squared))
    return chosen(none, otherwise, v * (1.0 / length)), select(none, 0.0, length)
