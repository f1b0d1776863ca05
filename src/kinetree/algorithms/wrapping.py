"""The shortest way of a string around a sphere or a cylinder, or through one.

Seen along the axis n, p and q are points outside of a circle of radius r about the origin, whose tangents touch it at
cos α = r / |p|, and θ is the angle that the string sweeps on its way: the one between p and q, or that of the way
through a side site s, from p to s and from s to q, each less than half a turn. It follows the circle by

    φ = |θ| - α_p - α_q

If that is negative the straight way is free. A string through the inside is straight where the straight way goes
through the circle; elsewhere it is bent at a point t of the circle, to the same angle β with the normal on both sides.
By the law of sines,

    2 β = |θ| + asin(sin β cos α_p) + asin(sin β cos α_q)

The difference of both sides is concave in β, so that Newton's method from β = π/2 finds it from one side. Along a
cylinder's axis the string moves in proportion to its length. A sphere's n is normal to p and q. If an end is inside,
the string is straight.

Source: MuJoCo documentation, "XML Reference", section on geoms of spatial tendons, and "Changelog" of version 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.expr import Scalar, absolute, atan2, cos, less, less_equal, maximum, repeat, select, sin, slopes_of, sqrt
from kinetree.spatial import Vec3

__all__ = ["Wrapped", "wrapped", "wrapped_inside"]

_TINY = 1e-30
_ITERATIONS = 40
_EXACT = 1e-15
"""The size of a step of Newton's method that counts as zero, rad."""


class Wrapped(NamedTuple):
    """A way between two points that is bent by a shape."""

    touches: Scalar
    """Whether it is; if not, the rest means nothing."""
    arrives: Vec3
    leaves: Vec3
    """Where it meets the shape, and where it leaves it, from the shape's centre."""
    length: Scalar
    """Its length on the shape."""


def wrapped(p: Vec3, q: Vec3, radius: float, axis: Vec3 | None, side: Vec3 | None) -> Wrapped:
    """The way from p to q around a shape, from its centre; `axis` is a cylinder's, None for a sphere."""
    plane = _seen(p, q, radius, axis)
    n, sweep = plane.n, plane.sweep
    if side is not None:
        sweep = _angle(n, plane.p, side) + _angle(n, side, plane.q)
    turn = select(less(sweep, 0.0), -1.0, 1.0)
    phi = absolute(sweep) - plane.alpha_p - plane.alpha_q
    touches = less(0.0, phi) * plane.is_outside
    arc = radius * phi
    climb = (n.dot(q) - n.dot(p)) * (1.0 / select(touches, plane.free_p + arc + plane.free_q, 1.0))
    first = _turned(n, plane.p * (radius / plane.r_p), turn * plane.alpha_p)
    second = _turned(n, plane.q * (radius / plane.r_q), -(turn * plane.alpha_q))
    return Wrapped(
        touches,
        first + n * (n.dot(p) + climb * plane.free_p),
        second + n * (n.dot(q) - climb * plane.free_q),
        arc * sqrt(1.0 + climb * climb),
    )


def wrapped_inside(p: Vec3, q: Vec3, radius: float, axis: Vec3 | None) -> Wrapped:
    """The way from p to q through the inside of a shape, from its centre."""
    plane = _seen(p, q, radius, axis)
    n, turn, theta = plane.n, select(less(plane.sweep, 0.0), -1.0, 1.0), absolute(plane.sweep)
    touches = less(theta, plane.alpha_p + plane.alpha_q) * plane.is_outside
    ratios = [select(touches, radius / r, 0.5) for r in (plane.r_p, plane.r_q)]
    beta = _bend(select(touches, theta, 1.0), ratios)
    t = _turned(n, plane.p * (radius / plane.r_p), turn * (beta - _asin(ratios[0] * sin(beta))))
    before, after = (sqrt(maximum(way.dot(way), _TINY)) for way in (t - plane.p, plane.q - t))
    point = t + n * (n.dot(p) + (n.dot(q) - n.dot(p)) * before / (before + after))
    return Wrapped(touches, point, point, 0.0)


class _Seen(NamedTuple):
    """Two points as seen along an axis."""

    n: Vec3
    p: Vec3
    q: Vec3
    r_p: Scalar
    r_q: Scalar
    """Their distances from it."""
    free_p: Scalar
    free_q: Scalar
    """The lengths of their tangents."""
    alpha_p: Scalar
    alpha_q: Scalar
    sweep: Scalar
    """The angle from p to q."""
    is_outside: Scalar


def _seen(p: Vec3, q: Vec3, radius: float, axis: Vec3 | None) -> _Seen:
    n = _normal(p, q) if axis is None else axis
    p, q = p - n * n.dot(p), q - n * n.dot(q)
    r_p, r_q = (sqrt(maximum(x.dot(x), _TINY)) for x in (p, q))
    free_p, free_q = (sqrt(maximum(x * x - radius * radius, _TINY)) for x in (r_p, r_q))
    alpha_p, alpha_q = (atan2(x, radius) for x in (free_p, free_q))
    is_outside = less(radius, r_p) * less(radius, r_q)
    return _Seen(n, p, q, r_p, r_q, free_p, free_q, alpha_p, alpha_q, _angle(n, p, q), is_outside)


def _bend(theta: Scalar, ratios: Sequence[Scalar]) -> Scalar:
    """β, with the derivatives of the implicit function."""

    def newton(beta: Scalar) -> Scalar:
        s, c = sin(beta), cos(beta)
        value: Scalar = theta - 2.0 * beta
        slope: Scalar = -2.0
        for ratio in ratios:
            value = value + _asin(ratio * s)
            slope = slope + ratio * c / sqrt(1.0 - (ratio * s) * (ratio * s))
        return value / slope

    def step(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        (beta,) = state
        change = newton(beta)
        return [beta - change], less_equal(absolute(change), _EXACT)

    (found,) = repeat(_ITERATIONS, [0.5 * math.pi], step)
    fixed = slopes_of(found, 0.0)
    beta: Scalar = slopes_of(fixed, fixed - newton(fixed))
    return beta


def _asin(x: Scalar) -> Scalar:
    angle: Scalar = atan2(x, sqrt(maximum(1.0 - x * x, _TINY)))
    return angle


def _normal(p: Vec3, q: Vec3) -> Vec3:
    """A unit vector normal to two vectors, p × q unless they are parallel."""
    n = p.cross(q)
    x, y, _ = p.components()
    is_x = less(absolute(x), absolute(y))
    other = Vec3(select(is_x, 1.0, 0.0), select(is_x, 0.0, 1.0), 0.0).cross(p)
    is_apart = less(1e-24 * p.dot(p) * q.dot(q), n.dot(n))
    normal = Vec3(*(select(is_apart, a, b) for a, b in zip(n.components(), other.components(), strict=True)))
    size: Scalar = sqrt(maximum(normal.dot(normal), _TINY))
    return normal * (1.0 / size)


def _angle(n: Vec3, a: Vec3, b: Vec3) -> Scalar:
    """From a to b about n; none from or to a point on n."""
    s, c = n.dot(a.cross(b)), (a - n * n.dot(a)).dot(b)
    angle: Scalar = atan2(s, select(less(_TINY, s * s + c * c), c, 1.0))
    return angle


def _turned(n: Vec3, v: Vec3, angle: Scalar) -> Vec3:
    """A vector normal to n turned about it."""
    c: Scalar = cos(angle)
    s: Scalar = sin(angle)
    return v * c + n.cross(v) * s
