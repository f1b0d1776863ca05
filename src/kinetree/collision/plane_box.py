"""A plane and a box: corners below the box's centre."""

from __future__ import annotations

from kinetree.collision.contact_point import FAR, ContactPoint, along
from kinetree.collision.guarded import chosen
from kinetree.collision.shapes import Box, Plane
from kinetree.expr import Scalar, equal, less, less_equal, select
from kinetree.spatial import Transform, Vec3

__all__ = ["plane_box"]

_SLOTS = 4


def plane_box(_: Plane, X_a: Transform, box: Box, X_b: Transform, margin: Scalar) -> tuple[ContactPoint, ...]:
    """The first four of the corners that are within the margin and not above the centre; x changes sign first."""
    normal = X_a.E.z
    height = normal.dot(X_b.r - X_a.r)
    halves = X_b.E.x * box.x, X_b.E.y * box.y, X_b.E.z * box.z
    rises = tuple(normal.dot(half) for half in halves)
    distances: list[Scalar] = [FAR] * _SLOTS
    corners = [Vec3.zero()] * _SLOTS
    before: Scalar = 0.0
    for k in range(8):
        signs = [1.0 if k >> axis & 1 else -1.0 for axis in range(3)]
        rise: Scalar = 0.0
        corner = Vec3.zero()
        for sign, r, half in zip(signs, rises, halves, strict=True):
            rise, corner = rise + r * sign, corner + half * sign
        distance = height + rise
        counts = less_equal(distance, margin) * less_equal(rise, 0.0)
        for slot in range(min(k + 1, _SLOTS)):
            here = counts * equal(before, float(slot))
            distances[slot] = select(here, distance, distances[slot])
            corners[slot] = chosen(here, corner, corners[slot])
        before = before + counts
    return tuple(
        along(normal, distance, X_b.r + corner - normal * select(less(distance, FAR), 0.5 * distance, 0.0))
        for distance, corner in zip(distances, corners, strict=True)
    )
