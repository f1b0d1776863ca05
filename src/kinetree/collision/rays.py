"""Where a ray meets the surface of a shape, and whether a point is inside it.

A ray begins at a point and has a direction of unit length. From inside a shape it meets the surface on its way out.

Source: Ericson, *Real-Time Collision Detection* (2005), section 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from kinetree.errors import OptionError
from kinetree.expr import Scalar, absolute, less, less_equal, minimum, select, sqrt
from kinetree.spatial import Transform, Vec3

__all__ = ["MISSED", "holds", "ray_distance"]

MISSED = 1e10
"""The distance of a surface that the ray does not meet, m."""
_TINY = 1e-15


def ray_distance(shape: Shape, X: Transform, origin: Vec3, direction: Vec3) -> Scalar:
    """How far from its origin a ray meets a shape that is placed at X; `MISSED` if it does not."""
    p, d = X.E @ (origin - X.r), X.E @ direction
    match shape:
        case Plane():
            there = less(d.z, -_TINY)
            return _ahead(there, -p.z * (1.0 / select(there, d.z, 1.0)))
        case Sphere():
            return _first(_ends(p, d, shape.radius * shape.radius))
        case Ellipsoid():
            scale = Vec3(1.0 / shape.x, 1.0 / shape.y, 1.0 / shape.z)
            return _first(_ends(_scaled(p, scale), _scaled(d, scale), 1.0))
        case Capsule():
            h, squared = shape.half_length, shape.radius * shape.radius
            hits = _side(p, d, squared, h)
            for sign in (1.0, -1.0):
                for there, t in _ends(p - Vec3(0.0, 0.0, sign * h), d, squared):
                    hits.append((there * less_equal(h, sign * (p.z + t * d.z)), t))
            return _first(hits)
        case Cylinder():
            h, squared = shape.half_length, shape.radius * shape.radius
            hits = _side(p, d, squared, h)
            for sign in (1.0, -1.0):
                there, t = _crossing(p.z - sign * h, d.z)
                x, y = p.x + t * d.x, p.y + t * d.y
                hits.append((there * less_equal(x * x + y * y, squared), t))
            return _first(hits)
        case Box():
            return _first(_faces(p, d, (shape.x, shape.y, shape.z)))
    raise OptionError(f"rays do not meet shapes of the kind {shape.kind!r}")


def holds(shape: Shape, X: Transform, point: Vec3) -> Scalar:
    """1 where a point is inside a shape that is placed at X, 0 elsewhere."""
    p = X.E @ (point - X.r)
    inside: Scalar
    match shape:
        case Plane():
            inside = less(p.z, 0.0)
        case Sphere():
            inside = less(p.dot(p), shape.radius * shape.radius)
        case Ellipsoid():
            s = _scaled(p, Vec3(1.0 / shape.x, 1.0 / shape.y, 1.0 / shape.z))
            inside = less(s.dot(s), 1.0)
        case Capsule():
            beyond = absolute(p.z) - minimum(absolute(p.z), shape.half_length)
            inside = less(p.x * p.x + p.y * p.y + beyond * beyond, shape.radius * shape.radius)
        case Cylinder():
            inside = less(absolute(p.z), shape.half_length) * less(p.x * p.x + p.y * p.y, shape.radius * shape.radius)
        case Box():
            inside = less(absolute(p.x), shape.x) * less(absolute(p.y), shape.y) * less(absolute(p.z), shape.z)
        case _:
            raise OptionError(f"nothing is inside shapes of the kind {shape.kind!r}")
    return inside


Hits = list[tuple[Scalar, Scalar]]
"""Whether the line meets a surface, and how far along the ray."""


def _ends(p: Vec3, d: Vec3, squared: Scalar) -> Hits:
    """Both ends of the part of a line that is in a ball about the origin."""
    return _roots(d.dot(d), p.dot(d), p.dot(p) - squared)


def _roots(a: Scalar, b: Scalar, c: Scalar) -> Hits:
    """The roots of a t² + 2 b t + c."""
    discriminant = b * b - a * c
    there = less(_TINY, discriminant) * less(_TINY, a)
    root = sqrt(select(there, discriminant, 1.0))
    over = 1.0 / select(there, a, 1.0)
    return [(there, (-b - root) * over), (there, (-b + root) * over)]


def _side(p: Vec3, d: Vec3, squared: Scalar, h: Scalar) -> Hits:
    """The round side of a cylinder."""
    hits = _roots(d.x * d.x + d.y * d.y, p.x * d.x + p.y * d.y, p.x * p.x + p.y * p.y - squared)
    return [(there * less_equal(absolute(p.z + t * d.z), h), t) for there, t in hits]


def _crossing(p: Scalar, d: Scalar) -> tuple[Scalar, Scalar]:
    """Where a line is at zero."""
    there = less(_TINY, absolute(d))
    return there, -p * (1.0 / select(there, d, 1.0))


def _faces(p: Vec3, d: Vec3, sizes: tuple[Scalar, Scalar, Scalar]) -> Hits:
    hits: Hits = []
    ps, ds = p.components(), d.components()
    for k, size in enumerate(sizes):
        for sign in (1.0, -1.0):
            there, t = _crossing(ps[k] - sign * size, ds[k])
            for j in range(3):
                if j != k:
                    there = there * less_equal(absolute(ps[j] + t * ds[j]), sizes[j])
            hits.append((there, t))
    return hits


def _first(hits: Sequence[tuple[Scalar, Scalar]]) -> Scalar:
    nearest: Scalar = MISSED
    for there, t in hits:
        nearest = minimum(nearest, _ahead(there, t))
    return nearest


def _ahead(there: Scalar, t: Scalar) -> Scalar:
    ahead: Scalar = select(there * less_equal(0.0, t), t, MISSED)
    return ahead


def _scaled(v: Vec3, s: Vec3) -> Vec3:
    return Vec3(v.x * s.x, v.y * s.y, v.z * s.z)
