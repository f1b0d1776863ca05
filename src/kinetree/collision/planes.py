"""A plane and round shapes: each point is the lowest one of a sphere, of a rim or of an ellipsoid."""

from __future__ import annotations

import math

from kinetree.collision.contact_point import ContactPoint, across, along
from kinetree.collision.guarded import chosen, unit
from kinetree.collision.shapes import Capsule, Cylinder, Ellipsoid, Plane, Sphere
from kinetree.expr import Scalar, less, select
from kinetree.spatial import Transform, Vec3

__all__ = ["above", "lowest_of_rims", "plane_capsule", "plane_cylinder", "plane_ellipsoid", "plane_sphere"]

Points = tuple[ContactPoint, ...]


def above(normal: Vec3, origin: Vec3, lowest: Vec3) -> ContactPoint:
    """The contact of a plane and a shape whose point nearest to it is given."""
    distance = normal.dot(lowest - origin)
    return along(normal, distance, lowest - normal * (0.5 * distance))


def plane_sphere(_: Plane, X_a: Transform, sphere: Sphere, X_b: Transform, __: Scalar) -> Points:
    normal = X_a.E.z
    return (above(normal, X_a.r, X_b.r - normal * sphere.radius),)


def plane_capsule(_: Plane, X_a: Transform, capsule: Capsule, X_b: Transform, __: Scalar) -> Points:
    """Both ends, the upper one of the axis first; the first tangent is along the axis."""
    normal, axis = X_a.E.z, X_b.E.z
    tangent = across(axis, normal)
    points = []
    for half in (capsule.half_length, -capsule.half_length):
        point = above(normal, X_a.r, X_b.r + axis * half - normal * capsule.radius)
        points.append(ContactPoint(point.distance, point.position, normal, tangent))
    return tuple(points)


def plane_ellipsoid(_: Plane, X_a: Transform, ellipsoid: Ellipsoid, X_b: Transform, __: Scalar) -> Points:
    """The point whose normal is that of the plane."""
    normal = X_a.E.z
    n = X_b.E @ normal
    scaled = Vec3(n.x * ellipsoid.x, n.y * ellipsoid.y, n.z * ellipsoid.z)
    direction, _length = unit(scaled)
    lowest = Vec3(-direction.x * ellipsoid.x, -direction.y * ellipsoid.y, -direction.z * ellipsoid.z)
    return (above(normal, X_a.r, X_b.r + X_b.E.T @ lowest),)


def plane_cylinder(_: Plane, X_a: Transform, cylinder: Cylinder, X_b: Transform, __: Scalar) -> Points:
    """The lowest point of the lower rim and that of the upper one; two more of the lower rim, a third of it apart.

    The x axis of a cylinder that is upright says where these are.
    """
    normal = X_a.E.z
    return tuple(above(normal, X_a.r, X_b.r + p) for p in lowest_of_rims(normal, cylinder, X_b))


def lowest_of_rims(normal: Vec3, cylinder: Cylinder, X_b: Transform) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """These points as seen from the cylinder's centre, in the world's axes."""
    z = X_b.E.z
    cosine = normal.dot(z)
    axis = chosen(less(0.0, cosine), -z, z)  # points toward the plane
    cosine = select(less(0.0, cosine), -cosine, cosine)
    down, tilt = unit(axis * cosine - normal, X_b.E.x)
    radial = chosen(less(tilt, _UPRIGHT), X_b.E.x, down) * cylinder.radius
    half = axis * cylinder.half_length
    sideways = unit(radial.cross(half))[0] * (0.5 * math.sqrt(3.0) * cylinder.radius)
    third = half - radial * 0.5
    return half + radial, radial - half, third + sideways, third - sideways


_UPRIGHT = 1e-15
"""The sine of an angle below which the cylinder's own axes say which points of its rim are taken, as in MuJoCo."""
