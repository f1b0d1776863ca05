"""The result of a pair of shapes: a fixed number of points where they touch or are near each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.expr import Scalar, absolute, less, maximum, minimum, otherwise, select, slopes_of, sqrt
from kinetree.records import record
from kinetree.spatial import Vec3

__all__ = [
    "FAR",
    "ContactPoint",
    "across",
    "along",
    "between_spheres",
    "chosen",
    "clipped",
    "either",
    "frozen",
    "frozen_vector",
    "nearest",
    "nowhere_unless",
    "points_unless",
    "sign_of",
    "tangents",
    "unit",
]

X_AXIS = Vec3(1.0, 0.0, 0.0)
_TINY = 1e-15
"""Lengths below this one count as zero, as in MuJoCo."""


def chosen(condition: Scalar, a: Vec3, b: Vec3) -> Vec3:
    """`a` where the condition is not zero, `b` elsewhere."""
    return Vec3(select(condition, a.x, b.x), select(condition, a.y, b.y), select(condition, a.z, b.z))


def clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    inside: Scalar = maximum(low, minimum(x, high))
    return inside


def frozen(x: Scalar) -> Scalar:
    """The number itself, with the derivative zero."""
    constant: Scalar = slopes_of(x, 0.0)
    return constant


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


def tangents(n: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors across a third one, and across each other."""
    x_is_across = less(absolute(n.x), 0.6)
    axis = Vec3(select(x_is_across, 1.0, 0.0), select(x_is_across, 0.0, 1.0), 0.0)
    a, _length = unit(axis - n * n.dot(axis))
    return a, n.cross(a)


FAR = 1e10
"""The distance of a contact that does not exist, m."""
_NOWHERE = (FAR, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


@record(frozen=True, slots=True)
class ContactPoint:
    """A place where two shapes are near each other, in the world."""

    distance: Scalar
    """Negative where they overlap; `FAR` in an unused slot."""
    position: Vec3
    """Midway between the two surfaces."""
    normal: Vec3
    """A unit vector from the first shape to the second."""
    tangent: Vec3
    """A unit vector across the normal; normal x tangent is the third axis of the contact's frame."""

    def flipped(self) -> ContactPoint:
        """The same place, where the two shapes have changed roles."""
        return ContactPoint(self.distance, self.position, -self.normal, self.tangent)

    @property
    def ends(self) -> tuple[Vec3, Vec3]:
        """The places on the first and on the second surface."""
        half = self.normal * (0.5 * self.distance)
        return self.position - half, self.position + half


def along(normal: Vec3, distance: Scalar, position: Vec3) -> ContactPoint:
    """A point whose tangent is MuJoCo's: the part across the normal of y, or of z where the normal is near y."""
    y_is_across = less(absolute(normal.y), 0.5)
    axis = Vec3(0.0, select(y_is_across, 1.0, 0.0), select(y_is_across, 0.0, 1.0))
    return ContactPoint(distance, position, normal, across(axis, normal))


def across(axis: Vec3, normal: Vec3) -> Vec3:
    """The direction of the part of an axis that is across the normal; MuJoCo's x where it vanishes."""
    return unit(axis - normal * normal.dot(axis))[0]


def between_spheres(c1: Vec3, r1: Scalar, c2: Vec3, r2: Scalar, coincident: Vec3 = X_AXIS) -> ContactPoint:
    """Where two balls are nearest; `coincident` is the normal of balls with the same centre."""
    normal, apart = unit(c2 - c1, coincident)
    distance = apart - r1 - r2
    return along(normal, distance, c1 + normal * (r1 + 0.5 * distance))


def nowhere_unless(exists: Scalar, point: ContactPoint) -> ContactPoint:
    """The point where the condition is not zero; elsewhere it is `FAR` away."""
    return ContactPoint(select(exists, point.distance, FAR), point.position, point.normal, point.tangent)


def points_unless(idle: Scalar, count: int, make: Callable[[], Sequence[ContactPoint]]) -> tuple[ContactPoint, ...]:
    """`count` points, or `FAR` ones where `idle` is not zero: compiled programs do not make them there."""

    def numbers() -> list[Scalar]:
        values: list[Scalar] = []
        for point in make():
            axes = (point.position, point.normal, point.tangent)
            values += [point.distance, *(x for axis in axes for x in axis.components())]
        return values

    flat = iter(otherwise(idle, _NOWHERE * count, numbers))
    points = []
    for _ in range(count):
        distance, *rest = (next(flat) for _ in range(10))
        points.append(ContactPoint(distance, Vec3(*rest[:3]), Vec3(*rest[3:6]), Vec3(*rest[6:])))
    return tuple(points)


def either(condition: Scalar, a: ContactPoint, b: ContactPoint) -> ContactPoint:
    """`a` where the condition is not zero, `b` elsewhere."""
    return ContactPoint(
        select(condition, a.distance, b.distance),
        chosen(condition, a.position, b.position),
        chosen(condition, a.normal, b.normal),
        chosen(condition, a.tangent, b.tangent),
    )


def nearest(points: Sequence[ContactPoint]) -> ContactPoint:
    """The point of the smallest distance; the first one of several."""
    best = points[0]
    for point in points[1:]:
        best = either(less(point.distance, best.distance), point, best)
    return best
