"""A sphere and a box: the nearest point of the box; for a centre inside, of its nearest face."""

from __future__ import annotations

from kinetree.collision.contact_point import ContactPoint, along
from kinetree.collision.guarded import chosen, clipped, unit
from kinetree.collision.shapes import Box, Sphere
from kinetree.expr import Scalar, absolute, less, less_equal, select
from kinetree.spatial import Transform, Vec3

__all__ = ["ball_box", "sphere_box"]


def sphere_box(sphere: Sphere, X_a: Transform, box: Box, X_b: Transform, _: Scalar) -> tuple[ContactPoint, ...]:
    return (ball_box(X_b.E @ (X_a.r - X_b.r), sphere.radius, box, X_b),)


def ball_box(center: Vec3, radius: Scalar, box: Box, X: Transform) -> ContactPoint:
    """The contact of a ball, whose centre is given in the box's axes, and a box."""
    x, y, z = center.components()
    on_box = Vec3(clipped(x, -box.x, box.x), clipped(y, -box.y, box.y), clipped(z, -box.z, box.z))
    direction, outside = unit(on_box - center)
    is_inside = less_equal(outside, 0.0)

    # From the inside, the nearest of six faces; of equally near ones the first, in the order -x, x, -y, y, -z, z.
    depth, inward = x + box.x, Vec3(1.0, 0.0, 0.0)
    faces = (
        (box.x - x, Vec3(-1.0, 0.0, 0.0)),
        (y + box.y, Vec3(0.0, 1.0, 0.0)),
        (box.y - y, Vec3(0.0, -1.0, 0.0)),
        (z + box.z, Vec3(0.0, 0.0, 1.0)),
        (box.z - z, Vec3(0.0, 0.0, -1.0)),
    )
    for next_depth, next_inward in faces:
        is_nearer = less(absolute(next_depth), absolute(depth))
        depth = select(is_nearer, next_depth, depth)
        inward = chosen(is_nearer, next_inward, inward)
    normal = chosen(is_inside, inward, direction)
    gap = select(is_inside, -absolute(depth), outside)
    place = center + normal * (0.5 * (gap + radius))
    return along(X.E.T @ normal, gap - radius, X.r + X.E.T @ place)
