"""Two capsules: the nearest points of two segments, or two points where the segments are parallel."""

from __future__ import annotations

from kinetree.collision.contact_point import (
    ContactPoint,
    between_spheres,
    clipped,
    either,
    nearest,
    nowhere_unless,
    sign_of,
)
from kinetree.collision.shapes import Capsule
from kinetree.collision.spheres import of_coincident
from kinetree.expr import Scalar, absolute, less, select
from kinetree.spatial import Transform

__all__ = ["capsule_capsule", "capsule_capsule_nearest"]

_PARALLEL = 1e-8
"""The squared sine below which axes count as parallel, as in MuJoCo 4."""


def capsule_capsule(
    a: Capsule, X_a: Transform, b: Capsule, X_b: Transform, _: Scalar
) -> tuple[ContactPoint, ContactPoint]:
    """One point, or of parallel axes the two ends of the stretch where the capsules are side by side."""
    parallel, crossing, low, high = _candidates(a, X_a, b, X_b)
    return either(parallel, low, crossing), nowhere_unless(parallel, high)


def capsule_capsule_nearest(a: Capsule, X_a: Transform, b: Capsule, X_b: Transform) -> ContactPoint:
    """The point of the smallest distance, also of axes that are almost parallel."""
    _, *points = _candidates(a, X_a, b, X_b)
    return nearest(points)


def _candidates(
    a: Capsule, X_a: Transform, b: Capsule, X_b: Transform
) -> tuple[Scalar, ContactPoint, ContactPoint, ContactPoint]:
    """Whether the axes are parallel; the nearest point if they are not, and the ends of the stretch if they are.

    The squared distance of the points at s and t along the axes u and w, from the centres, is least on both lines where
    s = ((c x w) . n) / n² and t = ((c x u) . n) / n², with c between the centres and n = u x w.
    """
    u, w = X_a.E.z, X_b.E.z
    c = X_b.r - X_a.r
    n = u.cross(w)
    sine2, cosine = n.dot(n), u.dot(w)
    along_u, along_w = u.dot(c), w.dot(c)
    coincident = of_coincident(X_a, X_b)

    def at(s: Scalar, t: Scalar) -> ContactPoint:
        return between_spheres(X_a.r + u * s, a.radius, X_b.r + w * t, b.radius, coincident)

    def beside_a(s: Scalar) -> Scalar:
        return clipped(cosine * s - along_w, -b.half_length, b.half_length)

    def beside_b(t: Scalar) -> Scalar:
        return clipped(cosine * t + along_u, -a.half_length, a.half_length)

    # Where the minimum over both lines is beyond an end of the first segment, the end; then so for the second one.
    safe = select(less(sine2, _TINY), 1.0, sine2)
    s = c.cross(w).dot(n) / safe
    t = c.cross(u).dot(n) / safe
    s_clipped = clipped(s, -a.half_length, a.half_length)
    t = select(less(a.half_length, absolute(s)), cosine * s_clipped - along_w, t)
    t_clipped = clipped(t, -b.half_length, b.half_length)
    crossing = at(select(less(b.half_length, absolute(t)), beside_b(t_clipped), s_clipped), t_clipped)

    # Each end of the stretch is an end of the second segment where that is beside the first one, else one of the first.
    ends = []
    for end in (-1.0, 1.0):
        of_b = along_u + b.half_length * end
        s = clipped(along_u + absolute(cosine) * b.half_length * end, -a.half_length, a.half_length)
        is_of_b = less(of_b * end, a.half_length)
        ends.append(at(s, select(is_of_b, sign_of(cosine) * end * b.half_length, beside_a(s))))
    return less(sine2, _PARALLEL), crossing, ends[0], ends[1]


_TINY = 1e-30
