"""A height field and other shapes: the triangle below each point of the shape that may touch it counts as a plane.

The points are those that touch the plane of the triangle below the shape's centre, so there are as many contacts. This
is exact where the ground is flat under the shape, and in error by how much it bends there: ridges between the points
are not seen.
"""

from __future__ import annotations

from kinetree.collision.contact_point import ContactPoint, along, nowhere_unless
from kinetree.collision.guarded import clipped, unit
from kinetree.collision.plane_hull import lowest_corners
from kinetree.collision.planes import lowest_of_rims
from kinetree.collision.repeated import over_table
from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Sphere
from kinetree.expr import Scalar, absolute, equal, floor, less, less_equal, minimum, select
from kinetree.spatial import Transform, Vec3

__all__ = ["field_box", "field_capsule", "field_cylinder", "field_ellipsoid", "field_hull", "field_sphere"]

Points = tuple[ContactPoint, ...]


def field_sphere(field: HeightField, X_a: Transform, sphere: Sphere, X_b: Transform, _: Scalar) -> Points:
    return (_ball(field, X_a, X_b.r, sphere.radius),)


def field_capsule(field: HeightField, X_a: Transform, capsule: Capsule, X_b: Transform, _: Scalar) -> Points:
    """Both ends."""
    half = X_b.E.z * capsule.half_length
    return _ball(field, X_a, X_b.r + half, capsule.radius), _ball(field, X_a, X_b.r - half, capsule.radius)


def field_ellipsoid(field: HeightField, X_a: Transform, ellipsoid: Ellipsoid, X_b: Transform, _: Scalar) -> Points:
    """The point that is lowest over the triangle below the centre."""
    n = X_b.E @ _below(field, X_a, X_b.r)
    x, y, z = ellipsoid.x, ellipsoid.y, ellipsoid.z
    u, _length = unit(Vec3(n.x * x, n.y * y, n.z * z))
    return (_point(field, X_a, X_b.r - X_b.E.T @ Vec3(u.x * x, u.y * y, u.z * z)),)


def field_cylinder(field: HeightField, X_a: Transform, cylinder: Cylinder, X_b: Transform, _: Scalar) -> Points:
    normal = _below(field, X_a, X_b.r)
    return tuple(_point(field, X_a, X_b.r + p) for p in lowest_of_rims(normal, cylinder, X_b))


def field_box(field: HeightField, X_a: Transform, box: Box, X_b: Transform, _: Scalar) -> Points:
    """The lower one of each two opposite corners."""
    normal = _below(field, X_a, X_b.r)
    points = []
    for sx, sy in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)):
        corner = X_b.E.x * (sx * box.x) + X_b.E.y * (sy * box.y) + X_b.E.z * box.z
        corner = corner * select(less(0.0, normal.dot(corner)), -1.0, 1.0)
        points.append(_point(field, X_a, X_b.r + corner))
    return tuple(points)


def field_hull(field: HeightField, X_a: Transform, hull: Hull, X_b: Transform, _: Scalar) -> Points:
    corners = lowest_corners(_below(field, X_a, X_b.r), hull, X_b)
    return tuple(nowhere_unless(exists, _point(field, X_a, corner)) for exists, corner in corners)


def _below(field: HeightField, X_a: Transform, p: Vec3) -> Vec3:
    """The normal of the triangle below a point, in the world."""
    return X_a.E.T @ _slope(field, X_a.E @ (p - X_a.r))[1]


def _point(field: HeightField, X_a: Transform, p: Vec3) -> ContactPoint:
    """The contact of a point in the world."""
    local = X_a.E @ (p - X_a.r)
    height, normal, within = _slope(field, local)
    distance = (local.z - height) * normal.z
    n = X_a.E.T @ normal
    return nowhere_unless(within, along(n, distance, p - n * (0.5 * distance)))


def _ball(field: HeightField, X_a: Transform, center: Vec3, radius: Scalar) -> ContactPoint:
    """The contact of a ball."""
    local = X_a.E @ (center - X_a.r)
    lowest = local - _slope(field, local)[1] * radius
    height, normal, within = _slope(field, lowest)
    distance = normal.dot(local - Vec3(lowest.x, lowest.y, height)) - radius
    n = X_a.E.T @ normal
    return nowhere_unless(within, along(n, distance, center - n * (radius + 0.5 * distance)))


def _slope(field: HeightField, p: Vec3) -> tuple[Scalar, Vec3, Scalar]:
    """The height of the surface at a point's x and y, its normal, and whether the point is over the field."""
    rows, columns = len(field.heights), len(field.heights[0])
    per_x, per_y = 0.5 * (columns - 1) / field.half_x, 0.5 * (rows - 1) / field.half_y
    x = clipped((p.x + field.half_x) * per_x, 0.0, columns - 1.0)
    y = clipped((p.y + field.half_y) * per_y, 0.0, rows - 1.0)
    column, row = minimum(floor(x), columns - 2.0), minimum(floor(y), rows - 2.0)
    low, right, left, high = _corners(field, row, column)
    u, v = x - column, y - row
    # Two triangles, on both sides of the diagonal u = v.
    first = less(u, v)
    by_u = select(first, high - left, right - low)
    by_v = select(first, left - low, high - right)
    normal, _ = unit(Vec3(-by_u * per_x, -by_v * per_y, 1.0))
    within = less_equal(absolute(p.x), field.half_x) * less_equal(absolute(p.y), field.half_y)
    return low + by_u * u + by_v * v, normal, within


def _corners(field: HeightField, row: Scalar, column: Scalar) -> list[Scalar]:
    """The heights of a cell's corners at (u, v) = (0, 0), (1, 0), (0, 1) and (1, 1).

    Every height is looked at: no index of a program may depend on data.
    """
    table = [
        (float(i), float(j), height) for i, heights in enumerate(field.heights) for j, height in enumerate(heights)
    ]

    def step(entry: tuple[Scalar, Scalar, Scalar], corners: list[Scalar]) -> list[Scalar]:
        i, j, height = entry
        in_row = equal(i, row), equal(i, row + 1.0)
        in_column = equal(j, column), equal(j, column + 1.0)
        here = (in_row[v] * in_column[u] for v in range(2) for u in range(2))
        return [select(is_here, height, old) for is_here, old in zip(here, corners, strict=True)]

    return over_table(table, [0.0] * 4, step, like=row)
