"""A sphere and a round shape: the nearest point of the shape's axis, of its surface or of its rim."""

from __future__ import annotations

from kinetree.collision.contact_point import (
    ContactPoint,
    along,
    between_spheres,
    chosen,
    clipped,
    either,
    sign_of,
    unit,
)
from kinetree.collision.shapes import Box, Capsule, Cylinder, Sphere
from kinetree.expr import Scalar, absolute, less, less_equal, select
from kinetree.spatial import Transform, Vec3

__all__ = ["ball_box", "of_coincident", "sphere_box", "sphere_capsule", "sphere_cylinder", "sphere_sphere"]

Points = tuple[ContactPoint, ...]


def of_coincident(X_a: Transform, X_b: Transform) -> Vec3:
    """The normal of balls with the same centre, as MuJoCo has it: across both z axes, or x where these are parallel."""
    return unit(X_a.E.z.cross(X_b.E.z))[0]


def sphere_sphere(a: Sphere, X_a: Transform, b: Sphere, X_b: Transform, _: Scalar) -> Points:
    return (between_spheres(X_a.r, a.radius, X_b.r, b.radius, of_coincident(X_a, X_b)),)


def sphere_capsule(sphere: Sphere, X_a: Transform, capsule: Capsule, X_b: Transform, _: Scalar) -> Points:
    axis, half = X_b.E.z, capsule.half_length
    nearest = X_b.r + axis * clipped(axis.dot(X_a.r - X_b.r), -half, half)
    return (between_spheres(X_a.r, sphere.radius, nearest, capsule.radius, of_coincident(X_a, X_b)),)


def sphere_cylinder(sphere: Sphere, X_a: Transform, cylinder: Cylinder, X_b: Transform, _: Scalar) -> Points:
    """The round side, a flat end or a rim, whichever is nearest to the centre; for a centre inside, side or end."""
    axis, radius, half = X_b.E.z, cylinder.radius, cylinder.half_length
    away = X_a.r - X_b.r
    height = axis.dot(away)
    radial, from_axis = unit(away - axis * height)
    outside_end = absolute(height) - half
    outside_side = from_axis - radius
    within_ends, within_side = less(outside_end, 0.0), less(outside_side, 0.0)
    end_is_nearer = less(outside_side, outside_end)  # only for a centre inside both
    inside = within_ends * within_side
    at_end = within_side * select(inside, end_is_nearer, 1.0)
    at_side = within_ends * select(inside, 1.0 - end_is_nearer, 1.0)

    # A ball of the cylinder's radius on its axis, or one of radius zero on its rim.
    up = sign_of(height)
    center = axis * select(at_side, height, up * half) + radial * select(at_side, 0.0, radius)
    other = select(at_side, radius, 0.0)
    ball = between_spheres(X_a.r, sphere.radius, X_b.r + center, other, of_coincident(X_a, X_b))

    outward = axis * up
    distance = outside_end - sphere.radius
    flat = along(-outward, distance, X_a.r - outward * (sphere.radius + 0.5 * distance))
    return (either(at_end, flat, ball),)


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
