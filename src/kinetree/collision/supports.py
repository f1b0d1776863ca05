"""Convex shapes as a core, known by its farthest point along a direction, and a radius around it."""

from __future__ import annotations

import math
from collections.abc import Callable

from kinetree.collision.guarded import sign_of, unit
from kinetree.collision.repeated import farthest
from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, Hull, Shape, Sphere
from kinetree.expr import Scalar, maximum, sqrt
from kinetree.records import record
from kinetree.spatial import Vec3

__all__ = ["Core", "core_of"]


@record(frozen=True, slots=True)
class Core:
    """A convex shape in its own axes."""

    radius: Scalar
    """All points at most so far from the core belong to the shape."""
    reach: Scalar
    """No point of the shape is farther from its origin."""
    support: Callable[[Vec3], Vec3]
    """A point of the core that is farthest along a direction, of any length."""
    is_round: bool = False
    """Whether the core is not a polyhedron."""


def core_of(shape: Shape) -> Core:
    if isinstance(shape, Sphere):
        return Core(shape.radius, shape.radius, lambda _: Vec3.zero())
    if isinstance(shape, Capsule):
        h = shape.half_length
        return Core(shape.radius, h + shape.radius, lambda d: Vec3(0.0, 0.0, sign_of(d.z) * h))
    if isinstance(shape, Box):
        x, y, z = shape.x, shape.y, shape.z
        reach = sqrt(x * x + y * y + z * z)
        return Core(0.0, reach, lambda d: Vec3(sign_of(d.x) * x, sign_of(d.y) * y, sign_of(d.z) * z))
    if isinstance(shape, Hull):
        points = shape.vertices
        return Core(0.0, max(math.hypot(*p) for p in points), lambda d: farthest(points, d))
    if isinstance(shape, Cylinder):
        return _cylinder(shape)
    if isinstance(shape, Ellipsoid):
        return _ellipsoid(shape)
    raise TypeError(f"a {shape.kind} is not convex and bounded")


def _cylinder(shape: Cylinder) -> Core:
    r, h = shape.radius, shape.half_length

    def support(d: Vec3) -> Vec3:
        radial, _ = unit(Vec3(d.x, d.y, 0.0))
        return Vec3(radial.x * r, radial.y * r, sign_of(d.z) * h)

    return Core(0.0, sqrt(r * r + h * h), support, is_round=True)


def _ellipsoid(shape: Ellipsoid) -> Core:
    x, y, z = shape.x, shape.y, shape.z

    def support(d: Vec3) -> Vec3:
        u, _ = unit(Vec3(d.x * x, d.y * y, d.z * z))
        return Vec3(u.x * x, u.y * y, u.z * z)

    return Core(0.0, maximum(x, maximum(y, z)), support, is_round=True)
