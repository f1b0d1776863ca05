"""A plane and a hull whose faces are known: corners of the face at the lowest corner that is turned most to the plane.

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

from kinetree.collision.repeated import over_table
from kinetree.collision.shapes import Hull
from kinetree.expr import Scalar, absolute, less, select
from kinetree.spatial import Vec3

__all__ = ["corners_of_lowest_face"]

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
