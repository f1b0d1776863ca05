"""Where a ray meets the surface of a shape, and whether a point is inside it.

A ray begins at a point and has a direction of unit length. From inside a shape it meets the surface on its way out.

Triangles of a mesh, or around a height field, are in boxes, and these in larger ones. The search for the first triangle
leaves out each box that the ray misses, or that it reaches only behind a triangle it has met. The search has no
derivatives: the distance is that to the plane of the triangle it ends with.

Sources: Ericson, *Real-Time Collision Detection* (2005), sections 5.3 and 6.1; triangles by Havel and Herout, "Yet
faster ray-triangle intersection (using SSE4)", IEEE Transactions on Visualization and Computer Graphics 16(3) (2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.collision.contact_point import frozen_vector
from kinetree.collision.repeated import over_part
from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from kinetree.errors import ModelError, OptionError
from kinetree.expr import Scalar, Symbol, absolute, less, less_equal, maximum, minimum, select, sqrt, unless
from kinetree.spatial import Transform, Vec3

__all__ = ["MISSED", "holds", "ray_distance"]

MISSED = 1e10
"""The distance of a surface that the ray does not meet, m."""
_TINY = 1e-15


def ray_distance(shape: Shape, X: Transform, origin: Vec3, direction: Vec3) -> Scalar:
    """How far from its origin a ray meets a shape that is placed at X; `MISSED` if it does not."""
    p, d = X.E @ (origin - X.r), X.E @ direction
    match shape:
        case Plane():
            there = less(d.z, -_TINY)
            t = -p.z * (1.0 / select(there, d.z, 1.0))
            for half, x in ((shape.half_x, p.x + t * d.x), (shape.half_y, p.y + t * d.y)):
                there = there if half == math.inf else there * less_equal(absolute(x), half)
            return _ahead(there, t)
        case Sphere():
            return _first(_ends(p, d, shape.radius * shape.radius))
        case Ellipsoid():
            scale = Vec3(1.0 / shape.x, 1.0 / shape.y, 1.0 / shape.z)
            return _first(_ends(_scaled(p, scale), _scaled(d, scale), 1.0))
        case Capsule():
            h, squared = shape.half_length, shape.radius * shape.radius
            hits = _side(p, d, squared, h)
            for sign in (1.0, -1.0):
                for there, t in _ends(p - Vec3(0.0, 0.0, sign * h), d, squared):
                    hits.append((there * less_equal(h, sign * (p.z + t * d.z)), t))
            return _first(hits)
        case Cylinder():
            h, squared = shape.half_length, shape.radius * shape.radius
            hits = _side(p, d, squared, h)
            for sign in (1.0, -1.0):
                there, t = _crossing(p.z - sign * h, d.z)
                x, y = p.x + t * d.x, p.y + t * d.y
                hits.append((there * less_equal(x * x + y * y, squared), t))
            return _first(hits)
        case Box():
            return _first(_faces(p, d, (shape.x, shape.y, shape.z)))
        case Mesh() | HeightField():
            return _first_triangle(_boxed(shape), p, d)
    raise OptionError(f"rays do not meet shapes of the kind {shape.kind!r}")


def holds(shape: Shape, X: Transform, point: Vec3) -> Scalar:
    """1 where a point is inside a shape that is placed at X, 0 elsewhere."""
    p = X.E @ (point - X.r)
    inside: Scalar
    match shape:
        case Plane():
            inside = less(p.z, 0.0)
        case Sphere():
            inside = less(p.dot(p), shape.radius * shape.radius)
        case Ellipsoid():
            s = _scaled(p, Vec3(1.0 / shape.x, 1.0 / shape.y, 1.0 / shape.z))
            inside = less(s.dot(s), 1.0)
        case Capsule():
            beyond = absolute(p.z) - minimum(absolute(p.z), shape.half_length)
            inside = less(p.x * p.x + p.y * p.y + beyond * beyond, shape.radius * shape.radius)
        case Cylinder():
            inside = less(absolute(p.z), shape.half_length) * less(p.x * p.x + p.y * p.y, shape.radius * shape.radius)
        case Box():
            inside = less(absolute(p.x), shape.x) * less(absolute(p.y), shape.y) * less(absolute(p.z), shape.z)
        case _:
            raise OptionError(f"nothing is inside shapes of the kind {shape.kind!r}")
    return inside


Hits = list[tuple[Scalar, Scalar]]
"""Whether the line meets a surface, and how far along the ray."""


def _ends(p: Vec3, d: Vec3, squared: Scalar) -> Hits:
    """Both ends of the part of a line that is in a ball about the origin."""
    return _roots(d.dot(d), p.dot(d), p.dot(p) - squared)


def _roots(a: Scalar, b: Scalar, c: Scalar) -> Hits:
    """The roots of a t² + 2 b t + c."""
    discriminant = b * b - a * c
    there = less(_TINY, discriminant) * less(_TINY, a)
    root = sqrt(select(there, discriminant, 1.0))
    over = 1.0 / select(there, a, 1.0)
    return [(there, (-b - root) * over), (there, (-b + root) * over)]


def _side(p: Vec3, d: Vec3, squared: Scalar, h: Scalar) -> Hits:
    """The round side of a cylinder."""
    hits = _roots(d.x * d.x + d.y * d.y, p.x * d.x + p.y * d.y, p.x * p.x + p.y * p.y - squared)
    return [(there * less_equal(absolute(p.z + t * d.z), h), t) for there, t in hits]


def _crossing(p: Scalar, d: Scalar) -> tuple[Scalar, Scalar]:
    """Where a line is at zero."""
    there = less(_TINY, absolute(d))
    return there, -p * (1.0 / select(there, d, 1.0))


def _faces(p: Vec3, d: Vec3, sizes: tuple[Scalar, Scalar, Scalar]) -> Hits:
    hits: Hits = []
    ps, ds = p.components(), d.components()
    for k, size in enumerate(sizes):
        for sign in (1.0, -1.0):
            there, t = _crossing(ps[k] - sign * size, ds[k])
            for j in range(3):
                if j != k:
                    there = there * less_equal(absolute(ps[j] + t * ds[j]), sizes[j])
            hits.append((there, t))
    return hits


def _first(hits: Sequence[tuple[Scalar, Scalar]]) -> Scalar:
    nearest: Scalar = MISSED
    for there, t in hits:
        nearest = minimum(nearest, _ahead(there, t))
    return nearest


def _ahead(there: Scalar, t: Scalar) -> Scalar:
    ahead: Scalar = select(there * less_equal(0.0, t), t, MISSED)
    return ahead


def _scaled(v: Vec3, s: Vec3) -> Vec3:
    return Vec3(v.x * s.x, v.y * s.y, v.z * s.z)


_BRANCHES = 16
"""The most boxes, or triangles, in a box."""
_EDGE = 1e-9
"""The part of its size by which a triangle extends beyond its edges, so that no ray slips through between two."""
_ACROSS = 1e-30
"""Components of a direction less than this one count as it, so that they have a reciprocal."""
_BOX, _ROW = 6, 12
_SLACK = 1e-6
"""How far boxes extend beyond their triangles, as a part of the shape's size: more than rounding to 32 bits."""
_ROUNDING = 1e-9
_NOWHERE = 1e20
"""Where boxes are that are there to fill a level."""

Floats = NDArray[np.float64]


class _Boxed(NamedTuple):
    """Triangles in boxes in boxes, with as many in each box of a level."""

    branches: tuple[int, ...]
    """How many boxes are in a box of each level, or triangles in one of the last."""
    levels: list[tuple[float, ...]]
    """The least x, y and z of each box, and the greatest; the first level is one box."""
    rows: tuple[float, ...]
    """For each triangle three times a vector n and a number c: n.x = c is its plane, with n of unit length; n.x - c of
    the others is the weight of its second and of its third corner."""


def _first_triangle(boxed: _Boxed, p: Vec3, d: Vec3) -> Scalar:
    start, along = frozen_vector(p), frozen_vector(d)
    like = next((x for x in (*start.components(), *along.components()) if isinstance(x, Symbol)), 0.0)
    slowness = [1.0 / select(less(absolute(x), _ACROSS), _ACROSS, x) for x in along.components()]

    def passes(box: Sequence[Scalar], nearest: Scalar) -> Scalar:
        enters: Scalar = 0.0
        leaves = nearest
        for low, high, x, s in zip(box[:3], box[3:], start.components(), slowness, strict=True):
            one, other = (low - x) * s, (high - x) * s
            enters, leaves = maximum(enters, minimum(one, other)), minimum(leaves, maximum(one, other))
        has_passed: Scalar = less(leaves, enters)
        return has_passed

    def meet(_: Any, row: tuple[Scalar, ...], best: Sequence[Scalar]) -> Sequence[Scalar]:
        normal, second, third = (Vec3(*row[k : k + 3]) for k in (0, 4, 8))
        slope = normal.dot(along)
        is_crossed = less(_TINY, absolute(slope))
        t = (row[3] - normal.dot(start)) * (1.0 / select(is_crossed, slope, 1.0))
        there = start + along * t
        u, v = second.dot(there) - row[7], third.dot(there) - row[11]
        is_inside = less_equal(-_EDGE, minimum(minimum(u, v), 1.0 - u - v))
        is_first = is_crossed * is_inside * less_equal(0.0, t) * less(t, best[0])
        return [select(is_first, x, y) for x, y in zip((t, *row[:4]), best, strict=True)]

    def search(level: int, part: tuple[Any, int], best: Sequence[Scalar]) -> Sequence[Scalar]:
        if level == len(boxed.levels):
            return over_part(boxed.rows, _ROW, part, best, meet, like)

        def enter(k: Any, box: tuple[Scalar, ...], best: Sequence[Scalar]) -> Sequence[Scalar]:
            idle = passes(box, best[0])

            def inside(before: Sequence[Scalar]) -> Sequence[Scalar]:
                nearer = search(level + 1, (k * boxed.branches[level], boxed.branches[level]), before)
                return [select(idle, x, y) for x, y in zip(before, nearer, strict=True)]

            return unless(idle, best, inside)

        return over_part(boxed.levels[level], _BOX, part, best, enter, like)

    nearest, *plane = search(0, (0, 1), [MISSED, 0.0, 0.0, 0.0, 0.0])
    normal, meets = Vec3(*plane[:3]), less(nearest, MISSED)
    distance = (plane[3] - normal.dot(p)) * (1.0 / select(meets, normal.dot(d), 1.0))
    first: Scalar = select(meets, distance, MISSED)
    return first


@lru_cache(maxsize=64)
def _boxed(shape: Mesh | HeightField) -> _Boxed:
    corners = _ground(shape) if isinstance(shape, HeightField) else np.array(shape.vertices)[np.array(shape.faces)]
    corners = corners[(_normals(corners) != 0.0).any(axis=1)]
    if not len(corners):
        raise ModelError("a mesh without a triangle that has an area meets no ray")
    count, branches = len(corners), []
    for depth in range(max(1, math.ceil(math.log(count, _BRANCHES) - _ROUNDING)), 0, -1):
        branches.append(math.ceil(count ** (1.0 / depth) - _ROUNDING))
        count = -(-count // branches[-1])
    sizes = [math.prod(branches[k:]) for k in range(len(branches))]
    corners = corners[_by_place(corners.mean(axis=1), np.arange(len(corners)), sizes)]
    slack = _SLACK * np.abs(corners).max()
    low, high = corners.min(axis=1) - slack, corners.max(axis=1) + slack
    levels = []
    for k, size in enumerate(sizes):
        starts = np.arange(0, len(corners), size)
        boxes = np.concatenate((np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)), axis=1)
        levels.append(_filled(boxes, math.prod(branches[:k]), _NOWHERE))
    normals, (a, b, c) = _normals(corners), corners.transpose(1, 0, 2)
    squared = (normals * normals).sum(axis=1, keepdims=True)
    gradients = normals / np.sqrt(squared), np.cross(c - a, normals) / squared, np.cross(normals, b - a) / squared
    rows = np.concatenate([x for n in gradients for x in (n, (n * a).sum(axis=1, keepdims=True))], axis=1)
    return _Boxed(tuple(branches), levels, _filled(rows, sizes[0], 0.0))


def _normals(corners: Floats) -> Floats:
    """Products of two edges of each triangle."""
    normals: Floats = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals


def _by_place(centers: Floats, places: NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The places in an order in which those of each box, of as many as the sizes say, are near each other."""
    while sizes and len(places) <= sizes[0]:
        sizes = sizes[1:]
    if not sizes:
        return places
    half = sizes[0] * (-(-len(places) // sizes[0]) // 2)
    axis = np.argmax(np.ptp(centers[places], axis=0))
    places = places[np.argpartition(centers[places, axis], half)]
    return np.concatenate((_by_place(centers, places[:half], sizes), _by_place(centers, places[half:], sizes)))


def _filled(rows: Floats, count: int, value: float) -> tuple[float, ...]:
    """The numbers of the rows, and of more of them up to a count."""
    return tuple(np.pad(rows, ((0, count - len(rows)), (0, 0)), constant_values=value).ravel().tolist())


def _ground(field: HeightField) -> Floats:
    """The triangles of a field's surface, of its sides down to z = 0, and of the box below, which ends there."""
    heights = np.array(field.heights)
    rows, columns = heights.shape
    y, x = np.linspace(-field.half_y, field.half_y, rows), np.linspace(-field.half_x, field.half_x, columns)
    surface = np.stack((*np.meshgrid(x, y), heights), axis=-1)
    triangles = [_halves(surface[:-1, :-1], surface[:-1, 1:], surface[1:, 1:], surface[1:, :-1])]
    for edge in (surface[0], surface[-1], surface[:, 0], surface[:, -1]):
        foot = edge * (1.0, 1.0, 0.0)
        triangles.append(_halves(edge[:-1], edge[1:], foot[1:], foot[:-1]))
    top = surface[[0, 0, -1, -1], [0, -1, -1, 0]] * (1.0, 1.0, 0.0)
    bottom = top - (0.0, 0.0, field.base)
    triangles += [_halves(*top), _halves(*bottom), _halves(top, np.roll(top, 1, 0), np.roll(bottom, 1, 0), bottom)]
    return np.concatenate(triangles)


def _halves(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Two triangles for each quadrilateral, which meet at its diagonal from a to c."""
    return np.stack((a, b, c, a, c, d), axis=-2).reshape(-1, 3, 3)
