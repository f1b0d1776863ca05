"""The table of pairs of shapes: which function finds their contacts, and how many slots it has.

A height field and other shapes: the triangle below each point of the shape that may touch it counts as a plane.

The points are those that touch the plane of the triangle below the shape's centre, so there are as many contacts. This
is exact where the ground is flat under the shape, and in error by how much it bends there: ridges between the points
are not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from kinetree.collision.box_box import box_box
from kinetree.collision.capsule_box import capsule_box
from kinetree.collision.capsules import capsule_capsule
from kinetree.collision.contact_point import FAR, ContactPoint, along, chosen, clipped, nowhere_unless, unit
from kinetree.collision.convex import convex_convex
from kinetree.collision.manifold import with_faces
from kinetree.collision.plane_hull import (
    lowest_corners,
    lowest_of_rims,
    plane_capsule,
    plane_cylinder,
    plane_ellipsoid,
    plane_hull,
    plane_sphere,
)
from kinetree.collision.repeated import over_part, over_table
from kinetree.collision.shapes import KINDS, Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Plane, Shape, Sphere
from kinetree.collision.spheres import sphere_box, sphere_capsule, sphere_cylinder, sphere_sphere
from kinetree.errors import OptionError
from kinetree.expr import Scalar, Symbol, absolute, equal, floor, less, less_equal, maximum, minimum, select, unless
from kinetree.records import record
from kinetree.spatial import Transform, Vec3

__all__ = [
    "ITERATIVE",
    "PAIRS",
    "are_sums",
    "contacts",
    "has_loops",
    "in_order",
    "is_supported",
    "slots",
    "unsupported",
]

_SLOTS = 4
_STEPS = 3
"""How often the lowest point of a ball is sought on smooth ground, where its normal changes from point to point."""


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
    lowest = local
    for _ in range(_STEPS if field.is_smooth else 1):
        lowest = local - _slope(field, lowest)[1] * radius
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
    if field.is_smooth:
        height, by_u, by_v = _smooth(_around(field, row, column), x - column, y - row)
    else:
        low, right, left, high = _corners(field, row, column)
        u, v = x - column, y - row
        # Two triangles, on both sides of the diagonal u = v.
        first = less(u, v)
        by_u = select(first, high - left, right - low)
        by_v = select(first, left - low, high - right)
        height = low + by_u * u + by_v * v
    normal, _ = unit(Vec3(-by_u * per_x, -by_v * per_y, 1.0))
    within = less_equal(absolute(p.x), field.half_x) * less_equal(absolute(p.y), field.half_y)
    return height, normal, within


def _smooth(heights: Sequence[Scalar], u: Scalar, v: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The height in a cell, and its derivatives by u and v, of four rows of four heights around the cell.

    The surface is of third degree along each row and column, with the slope of the two neighbours at each height: a
    Catmull-Rom spline.
    """
    (along, slopes), (across, rises) = _weights(u), _weights(v)

    def summed(weights: Sequence[Scalar], numbers: Sequence[Scalar]) -> Scalar:
        total: Scalar = 0.0
        for weight, number in zip(weights, numbers, strict=True):
            total = total + weight * number
        return total

    rows = [summed(along, heights[k : k + 4]) for k in (0, 4, 8, 12)]
    by_u = [summed(slopes, heights[k : k + 4]) for k in (0, 4, 8, 12)]
    return summed(across, rows), summed(across, by_u), summed(rises, rows)


def _weights(t: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """The weights of four heights in the middle interval, and their derivatives."""
    powers = (1.0, t, t * t, t * t * t), (0.0, 1.0, 2.0 * t, 3.0 * t * t)
    weights, slopes = ([a * x + b * y + c * z + d * w for a, b, c, d in _CATMULL_ROM] for x, y, z, w in powers)
    return weights, slopes


_CATMULL_ROM = ((0.0, -0.5, 1.0, -0.5), (1.0, 0.0, -2.5, 1.5), (0.0, 0.5, 2.0, -1.5), (0.0, 0.0, -0.5, 0.5))
"""The coefficients of each weight, that of 1 first."""


def _around(field: HeightField, row: Scalar, column: Scalar) -> Sequence[Scalar]:
    """Four rows of four heights around a cell; beyond the field the ground goes on as at its edge.

    Rows that no sample of a group needs are left out.
    """
    table, rows, columns = _extended(field.heights)
    like = row if isinstance(row, Symbol) else column

    def enter(i: Any, number: Sequence[Scalar], heights: Sequence[Scalar]) -> Sequence[Scalar]:
        above = number[0] - row
        idle = maximum(less(above, -0.5), less(3.5, above))

        def pick(_: Any, entry: Sequence[Scalar], four: Sequence[Scalar]) -> Sequence[Scalar]:
            offset = entry[0] - column
            return [select(equal(offset, float(k)), entry[1], x) for k, x in enumerate(four)]

        def inside(before: Sequence[Scalar]) -> Sequence[Scalar]:
            four = over_part(table, 2, (i * columns, columns), [0.0] * 4, pick, like)
            return [select(equal(above, float(k // 4)), four[k % 4], x) for k, x in enumerate(before)]

        return unless(idle, heights, inside)

    return over_part(tuple(map(float, range(rows))), 1, (0, rows), [0.0] * 16, enter, like)


@lru_cache(maxsize=16)
def _extended(heights: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], int, int]:
    """The number of its column and each height of a field with one more row and column on all sides."""
    rows = [(2.0 * row[0] - row[1], *row, 2.0 * row[-1] - row[-2]) for row in heights]
    first, last = ([2.0 * x - y for x, y in zip(rows[a], rows[b], strict=True)] for a, b in ((0, 1), (-1, -2)))
    numbers = [x for row in (first, *rows, last) for j, height in enumerate(row) for x in (float(j), height)]
    return tuple(numbers), len(rows) + 2, len(first)


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


@record(frozen=True, slots=True)
class Pair:
    """A row of the table."""

    slots: int
    find: Callable[[Any, Transform, Any, Transform, Scalar], tuple[ContactPoint, ...]]
    """find(a, X_a, b, X_b, margin): `slots` points."""


PAIRS: dict[tuple[str, str], Pair] = {
    ("plane", "sphere"): Pair(1, plane_sphere),
    ("plane", "capsule"): Pair(2, plane_capsule),
    ("plane", "ellipsoid"): Pair(1, plane_ellipsoid),
    ("plane", "cylinder"): Pair(4, plane_cylinder),
    ("plane", "box"): Pair(4, plane_box),
    ("plane", "hull"): Pair(4, plane_hull),
    ("heightfield", "sphere"): Pair(1, field_sphere),
    ("heightfield", "capsule"): Pair(2, field_capsule),
    ("heightfield", "ellipsoid"): Pair(1, field_ellipsoid),
    ("heightfield", "cylinder"): Pair(4, field_cylinder),
    ("heightfield", "box"): Pair(4, field_box),
    ("heightfield", "hull"): Pair(4, field_hull),
    ("sphere", "sphere"): Pair(1, sphere_sphere),
    ("sphere", "capsule"): Pair(1, sphere_capsule),
    ("sphere", "cylinder"): Pair(1, sphere_cylinder),
    ("sphere", "box"): Pair(1, sphere_box),
    ("capsule", "capsule"): Pair(2, capsule_capsule),
    ("capsule", "box"): Pair(2, capsule_box),
    ("box", "box"): Pair(8, box_box),
}
ITERATIVE = (
    ("sphere", "ellipsoid"), ("sphere", "hull"),
    ("capsule", "ellipsoid"), ("capsule", "cylinder"), ("capsule", "hull"),
    ("ellipsoid", "ellipsoid"), ("ellipsoid", "cylinder"), ("ellipsoid", "box"), ("ellipsoid", "hull"),
    ("cylinder", "cylinder"), ("cylinder", "box"), ("cylinder", "hull"),
    ("box", "hull"), ("hull", "hull"),
)  # fmt: skip
_WITH_FACES = ("cylinder", "box", "hull")


def _iterative(a: str, b: str) -> Pair:
    """One point, or several where both shapes have faces or lines to touch with."""
    if b not in _WITH_FACES or a not in ("capsule", *_WITH_FACES):
        return Pair(1, convex_convex)
    count = 2 if a == "capsule" else 4

    def find(a: Shape, X_a: Transform, b: Shape, X_b: Transform, margin: Scalar) -> Points:
        (nearest,) = convex_convex(a, X_a, b, X_b, margin)
        return with_faces(a, X_a, b, X_b, margin, nearest, count)

    return Pair(count, find)


PAIRS.update((pair, _iterative(*pair)) for pair in ITERATIVE)


def in_order(kind_a: str, kind_b: str) -> bool:
    """Whether the first kind of a pair comes first in the table, as in MuJoCo."""
    return KINDS.index(kind_a) <= KINDS.index(kind_b)


def is_supported(kind_a: str, kind_b: str) -> bool:
    """Whether there are contacts between two kinds of shapes."""
    return {kind_a, kind_b} <= {*KINDS} and _key(kind_a, kind_b) in PAIRS


def has_loops(kind_a: str, kind_b: str) -> bool:
    """Whether a pair's contacts are found in loops, which a trace with a recorder keeps and any other writes out."""
    return not {"hull", "heightfield"}.isdisjoint((kind_a, kind_b)) or _key(kind_a, kind_b) in ITERATIVE


def are_sums(kind_a: str, kind_b: str) -> bool:
    """Whether a pair's nearest point is searched by iterations, which see both shapes as sums of others."""
    return _key(kind_a, kind_b) in ITERATIVE and "hull" not in (kind_a, kind_b)


def slots(kind_a: str, kind_b: str) -> int:
    """How many contact points a pair of shapes has; a pair that is not in the table is rejected."""
    return _row(kind_a, kind_b).slots


def contacts(a: Shape, X_a: Transform, b: Shape, X_b: Transform, margin: Scalar = 0.0) -> tuple[ContactPoint, ...]:
    """The contact points of two shapes, placed in the world by X_a and X_b, with normals from a to b.

    There are always `slots(a.kind, b.kind)` of them; those that do not exist are `FAR` away. The margin decides which
    ones are returned where there are more candidates than slots. Points farther apart than it may be among them, but
    for shapes that are searched by iterations, which end where these are known to be farther apart.
    """
    row = _row(a.kind, b.kind)
    if in_order(a.kind, b.kind):
        return row.find(a, X_a, b, X_b, margin)
    return tuple(point.flipped() for point in row.find(b, X_b, a, X_a, margin))


def unsupported(kind_a: str, kind_b: str) -> str:
    """A message about a pair that is not in the table."""
    with_first = [name for name in KINDS if _key(kind_a, name) in PAIRS]
    return (
        f"there are no contacts between a {kind_a} and a {kind_b} yet; "
        f"a {kind_a} has them with {', '.join(with_first) or 'nothing'}"
    )


def _key(kind_a: str, kind_b: str) -> tuple[str, str]:
    return (kind_a, kind_b) if in_order(kind_a, kind_b) else (kind_b, kind_a)


def _row(kind_a: str, kind_b: str) -> Pair:
    row = PAIRS.get(_key(kind_a, kind_b))
    if row is None:
        raise OptionError(unsupported(kind_a, kind_b))
    return row
