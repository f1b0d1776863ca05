"""The shortest way of a string around a sphere or a cylinder.

Seen along the axis n, p and q are points outside of a circle of radius r about the origin, and θ is the angle that the
string sweeps about it on its way: the one between p and q, or that of the way through a side site s, from p to s and
from s to q, each less than half a turn. It touches the circle where tangents do, r / |p| = cos α, and follows it by

    φ = |θ| - α_p - α_q

If that is negative the straight way is free. Along a cylinder's axis the string moves in proportion to its length. A
sphere's n is normal to p and q; if an end is inside, the string is straight.

Source: MuJoCo documentation, "XML Reference", section on geoms of spatial tendons, and "Changelog" of version 4.
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.expr import Scalar, absolute, atan2, cos, less, maximum, select, sin, sqrt
from kinetree.spatial import Vec3

__all__ = ["Wrapped", "wrapped"]

_TINY = 1e-30


class Wrapped(NamedTuple):
    """A way between two points around a shape."""

    touches: Scalar
    """Whether it does; if not, the rest means nothing."""
    arrives: Vec3
    leaves: Vec3
    """Where it meets the shape, and where it leaves it, from the shape's centre."""
    length: Scalar
    """Its length on the shape."""


def wrapped(p: Vec3, q: Vec3, radius: float, axis: Vec3 | None, side: Vec3 | None) -> Wrapped:
    """The way from p to q, from the shape's centre; `axis` is a cylinder's, None for a sphere."""
    n = _normal(p, q) if axis is None else axis
    across_p, across_q = (x - n * n.dot(x) for x in (p, q))
    r_p, r_q = (sqrt(maximum(x.dot(x), _TINY)) for x in (across_p, across_q))
    sweep = _angle(n, across_p, across_q)
    if side is not None:
        sweep = _angle(n, across_p, side) + _angle(n, side, across_q)
    turn = select(less(sweep, 0.0), -1.0, 1.0)
    free_p, free_q = (sqrt(maximum(x * x - radius * radius, _TINY)) for x in (r_p, r_q))
    alpha_p, alpha_q = (atan2(x, radius) for x in (free_p, free_q))
    phi = absolute(sweep) - alpha_p - alpha_q
    touches = less(0.0, phi) * less(radius, r_p) * less(radius, r_q)
    arc = radius * phi
    climb = (n.dot(q) - n.dot(p)) * (1.0 / select(touches, free_p + arc + free_q, 1.0))
    first = _turned(n, across_p * (radius / r_p), turn * alpha_p)
    second = _turned(n, across_q * (radius / r_q), -(turn * alpha_q))
    return Wrapped(
        touches,
        first + n * (n.dot(p) + climb * free_p),
        second + n * (n.dot(q) - climb * free_q),
        arc * sqrt(1.0 + climb * climb),
    )


def _normal(p: Vec3, q: Vec3) -> Vec3:
    """A unit vector normal to two vectors, p × q unless they are parallel."""
    n = p.cross(q)
    x, y, _ = p.components()
    is_x = less(absolute(x), absolute(y))
    other = Vec3(select(is_x, 1.0, 0.0), select(is_x, 0.0, 1.0), 0.0).cross(p)
    is_apart = less(1e-24 * p.dot(p) * q.dot(q), n.dot(n))
    chosen = Vec3(*(select(is_apart, a, b) for a, b in zip(n.components(), other.components(), strict=True)))
    size: Scalar = sqrt(maximum(chosen.dot(chosen), _TINY))
    return chosen * (1.0 / size)


def _angle(n: Vec3, a: Vec3, b: Vec3) -> Scalar:
    """From a to b about n; none from or to a point on n."""
    s, c = n.dot(a.cross(b)), (a - n * n.dot(a)).dot(b)
    found: Scalar = atan2(s, select(less(_TINY, s * s + c * c), c, 1.0))
    return found


def _turned(n: Vec3, v: Vec3, angle: Scalar) -> Vec3:
    """A vector normal to n turned about it."""
    c: Scalar = cos(angle)
    s: Scalar = sin(angle)
    return v * c + n.cross(v) * s
