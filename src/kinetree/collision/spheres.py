"""A sphere and a round shape: the nearest point of the shape's axis, of its surface or of its rim."""

from __future__ import annotations

from kinetree.collision.contact_point import ContactPoint, along, between_spheres, either
from kinetree.collision.guarded import clipped, sign_of, unit
from kinetree.collision.shapes import Capsule, Cylinder, Sphere
from kinetree.expr import Scalar, absolute, less, select
from kinetree.spatial import Transform, Vec3

__all__ = ["of_coincident", "sphere_capsule", "sphere_cylinder", "sphere_sphere"]

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
