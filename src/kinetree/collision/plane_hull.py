"""A plane and a convex hull.

Where the hull's faces are known, corners of one of these count (lowest_face.py); otherwise the lowest corner, and the
lowest ones that are not close to those before.

A plane and a hull whose faces are known: corners of the face at the lowest corner that is turned most to the plane.

Of a face with more than four corners four count: the lowest one, and three that widen the quadrilateral, found by going
around the face as long as its area grows. They are known beforehand for each face and each corner of it, so that a
program looks at each of these once.

Source: by experiment with MuJoCo 4.0, in which contacts are those, in this order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from kinetree.collision.contact_point import ContactPoint, across, along, chosen, nowhere_unless, unit
from kinetree.collision.repeated import farthest_apart, over_table
from kinetree.collision.shapes import Capsule, Cylinder, Ellipsoid, Hull, Plane, Sphere
from kinetree.expr import Scalar, absolute, less, select
from kinetree.spatial import Transform, Vec3

__all__ = [
    "lowest_corners",
    "lowest_of_rims",
    "plane_capsule",
    "plane_cylinder",
    "plane_ellipsoid",
    "plane_hull",
    "plane_sphere",
]

_SLOTS = 4
_APART = 0.3
"""How far apart the corners are, as a fraction of the greatest distance of a corner from the middle of the hull's box:
corners of a finely divided rim would otherwise be all on one side."""


def plane_hull(_: Plane, X_a: Transform, hull: Hull, X_b: Transform, __: Scalar) -> tuple[ContactPoint, ...]:
    normal = X_a.E.z
    if hull.faces:
        down = -(X_b.E @ normal)
        corners = [(exists, X_b.r + X_b.E.T @ p) for exists, p in corners_of_lowest_face(hull, down)]
    else:
        corners = lowest_corners(normal, hull, X_b)
    return tuple(nowhere_unless(exists, above(normal, X_a.r, corner)) for exists, corner in corners)


def lowest_corners(normal: Vec3, hull: Hull, X_b: Transform) -> list[tuple[Scalar, Vec3]]:
    """For each slot, whether there is such a corner, and where it is in the world."""
    down = -(X_b.E @ normal)
    apart = _APART * _radius(hull)
    lowest: list[Vec3] = []
    corners = []
    for _slot in range(_SLOTS):
        depth, corner = farthest_apart(hull.vertices, down, lowest, apart)
        lowest.append(corner)
        corners.append((less(-1e9, depth), X_b.r + X_b.E.T @ corner))
    return corners


def _radius(hull: Hull) -> float:
    ranges = [(min(x), max(x)) for x in zip(*hull.vertices, strict=True)]
    middle = [0.5 * (low + high) for low, high in ranges]
    return max(math.dist(vertex, middle) for vertex in hull.vertices)


Point = tuple[float, float, float]
_NOWHERE = -1e10


def corners_of_lowest_face(hull: Hull, down: Vec3) -> list[tuple[Scalar, Vec3]]:
    """For each of four slots, whether there is a corner, and where it is, in the hull's axes."""

    def lower(row: tuple[Scalar, ...], best: list[Scalar]) -> list[Scalar]:
        depth, number = down.dot(Vec3(*row[:3])), row[3]
        is_lower = less(best[0], depth)
        return [select(is_lower, x, y) for x, y in zip((depth, number), best, strict=True)]

    numbered = [(*vertex, float(k)) for k, vertex in enumerate(hull.vertices)]
    _, lowest = over_table(numbered, [_NOWHERE, 0.0], lower, like=down.x)

    def turned(row: tuple[Scalar, ...], best: list[Scalar]) -> list[Scalar]:
        begins_there = less(absolute(row[0] - lowest), 0.5)
        turn = select(begins_there, down.dot(Vec3(*row[1:4])), _NOWHERE)
        is_more = less(best[0], turn)
        return [select(is_more, x, y) for x, y in zip((turn, *row[4:]), best, strict=True)]

    rows = _rows(hull)
    entries = over_table(rows, [_NOWHERE, *rows[0][4:]], turned, like=down.x)
    has_fourth = entries[1]
    corners = [Vec3(*entries[k : k + 3]) for k in (2, 5, 8, 11)]
    return list(zip((1.0, 1.0, 1.0, has_fourth), corners, strict=True))


@lru_cache(maxsize=512)
def _rows(hull: Hull) -> list[tuple[float, ...]]:
    """For each face and each corner of it: its number, the face's normal, whether there is a fourth one, and four."""
    rows: list[tuple[float, ...]] = []
    for face in hull.faces:
        normal = _normal([hull.vertices[k] for k in face])
        for start, number in enumerate(face):
            around = [hull.vertices[k] for k in (*face[start:], *face[:start])]
            four = _four(around)
            has_fourth = float(len(four) == 4)
            numbers = [x for corner in (*four, four[0])[:4] for x in corner]
            rows.append((float(number), *normal, has_fourth, *numbers))
    return rows


def _four(corners: Sequence[Point]) -> list[Point]:
    """The first corner and three more in their order, such that none of them gains area by going on."""
    count = len(corners)
    if count <= 4:
        return list(corners)
    first = corners[0]

    def area(b: int, c: int, d: int) -> float:
        second, third, fourth = (corners[k % count] for k in (b, c, d))
        return _area(first, second, third) + _area(first, third, fourth)

    b, c, d = 1, 2, 3
    largest = area(b, c, d)
    while (new := area(b, c, d + 1)) > largest:
        largest, d = new, d + 1
        while (new := area(b, c + 1, d)) > largest:
            largest, c = new, c + 1
        while (new := area(b + 1, c, d)) > largest:
            largest, b = new, b + 1
    return [first, *(corners[k % count] for k in (b, c, d))]


def _area(a: Point, b: Point, c: Point) -> float:
    return 0.5 * math.hypot(*_cross(_minus(b, a), _minus(c, a)))


def _normal(corners: Sequence[Point]) -> Point:
    """The unit normal of a polygon that is nearly plane."""
    sums = [0.0, 0.0, 0.0]
    for b, c in pairwise(corners[1:]):
        sums = [x + y for x, y in zip(sums, _cross(_minus(b, corners[0]), _minus(c, corners[0])), strict=True)]
    size = math.hypot(*sums)
    x, y, z = (number / size for number in sums)
    return x, y, z


def _minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


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
