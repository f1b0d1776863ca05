"""Pairs of shapes that are far apart: a test that is quicker than their contacts, which it leaves out."""

from __future__ import annotations

from kinetree.collision.contact_point import ContactPoint, points_unless
from kinetree.collision.pairs import contacts, slots
from kinetree.collision.repeated import reach_of
from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, Hull, Shape, Sphere
from kinetree.expr import Scalar, is_zero, less, maximum, sqrt
from kinetree.spatial import Transform, Vec3

__all__ = ["contacts_nearby", "enclosing_radius", "is_beyond", "reach"]

_QUICK = {("sphere", "sphere"), ("capsule", "sphere")}
"""Pairs, sorted, whose contacts are found almost as quickly as that they are far apart."""
_ROUNDING = 1.0 + 1e-9


def contacts_nearby(
    a: Shape, X_a: Transform, b: Shape, X_b: Transform, margin: Scalar, absent: Scalar = 0.0
) -> tuple[ContactPoint, ...]:
    """The contact points of two shapes, as `contacts` has them, where balls around both are within the margin.

    Elsewhere, and where one of them is `absent`, all are `FAR` away; compiled programs leave the search out there.
    """
    limit = reach(a, b, margin)
    idle = None if limit is None else is_beyond(limit, X_a.r, X_b.r)
    if not is_zero(absent):
        idle = absent if idle is None else maximum(idle, absent)
    if idle is None:
        return contacts(a, X_a, b, X_b, margin)
    return points_unless(idle, slots(a.kind, b.kind), lambda: contacts(a, X_a, b, X_b, margin))


def is_beyond(limit: Scalar, a: Vec3, b: Vec3) -> Scalar:
    """1.0 where the squared distance of two points is larger than a limit."""
    between = b - a
    far: Scalar = less(limit, between.dot(between))
    return far


def reach(a: Shape, b: Shape, margin: Scalar, *, of_all: bool = False) -> Scalar | None:
    """The squared distance of the origins up to which balls around both shapes are within the margin; None where the
    shapes are unbounded, or, unless it is asked for `of_all`, their points are found almost as quickly."""
    one, other = enclosing_radius(a), enclosing_radius(b)
    if one is None or other is None or (not of_all and tuple(sorted((a.kind, b.kind))) in _QUICK):
        return None
    radius: Scalar = (one + other + maximum(margin, 0.0)) * _ROUNDING
    return radius * radius


def enclosing_radius(shape: Shape) -> Scalar | None:
    """The radius of a ball about the shape's origin that holds it; None if it is unbounded."""
    radius: Scalar | None = None
    if isinstance(shape, Sphere):
        radius = shape.radius
    elif isinstance(shape, Capsule):
        radius = shape.radius + shape.half_length
    elif isinstance(shape, Cylinder):
        radius = sqrt(shape.radius * shape.radius + shape.half_length * shape.half_length)
    elif isinstance(shape, Ellipsoid):
        radius = maximum(shape.x, maximum(shape.y, shape.z))
    elif isinstance(shape, Box):
        radius = sqrt(shape.x * shape.x + shape.y * shape.y + shape.z * shape.z)
    elif isinstance(shape, Hull):
        radius = reach_of(shape.vertices)
    return radius
