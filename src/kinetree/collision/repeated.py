"""Loops with a fixed number of iterations: of the program in a trace that has loops, of Python elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinetree.expr import Index, Range, Recorder, Scalar, Symbol, less, maximum, select
from kinetree.spatial import Vec3

__all__ = [
    "Corners",
    "edges_of",
    "farthest",
    "farthest_apart",
    "farthest_each",
    "highest_each",
    "normals_of",
    "over_part",
    "over_table",
    "reach_of",
    "repeated",
]


Point = tuple[float, float, float]


class Corners(NamedTuple):
    """The corners of the hull that a pair in a loop over pairs has: some rows of a table of those of all hulls."""

    table: Sequence[tuple[float, ...]]
    begin: Index
    end: Index
    reach: Scalar
    """The distance of the farthest one from the origin."""
    recorder: Recorder
    edges: Corners | None = None
    """The rows of its edges, likewise."""
    normals: Corners | None = None
    """The rows of its faces' normals, likewise."""


def reach_of(points: Corners | Sequence[Point]) -> Scalar:
    """The distance of the farthest of the points from the origin."""
    return points.reach if isinstance(points, Corners) else max(math.hypot(*p) for p in points)


MOST_CORNERS = 128
"""The most corners of a hull whose edges are known."""
_SAME_PLACE = 1e-9
"""The distance, as a fraction of the hull, and the angle below which corners and directions are the same."""


def edges_of(points: Corners | Sequence[Point]) -> Corners | tuple[tuple[float, ...], ...] | None:
    """A row of 12 numbers for each edge of a hull: two normals, its direction, and an end.

    Normals along which the edge is farthest are an arc from the normal of one face to that of the other, around the
    edge's direction. Arcs of more than 120°, as a flat hull has them, are several rows. None for large hulls.
    """
    if isinstance(points, Corners):
        return points.edges
    return _edges_of(tuple(points)) if len(points) <= MOST_CORNERS else None


def normals_of(points: Corners | Sequence[Point]) -> Corners | Sequence[Point]:
    """The normals of the faces of a hull whose edges are known."""
    if isinstance(points, Corners):
        return points.normals or ()
    rows: Any = edges_of(points) or ()
    ends = [(row[k], row[k + 1], row[k + 2]) for row in rows for k in (0, 3)]
    return tuple({tuple(round(x, 9) for x in n): n for n in ends}.values())


@lru_cache(maxsize=512)
def _edges_of(points: tuple[Point, ...]) -> tuple[tuple[float, ...], ...]:
    corners = np.array(points)
    tiny = _SAME_PLACE * float(np.ptp(corners, axis=0).max())
    i, j = np.triu_indices(len(corners), 1)
    lengths = np.linalg.norm(corners[j] - corners[i], axis=1)
    i, j, lengths = (rows[lengths > tiny] for rows in (i, j, lengths))
    if not len(i):
        return ()
    along = (corners[j] - corners[i]) / lengths[:, None]
    # All corners as seen along each line of two, turned so that the one farthest aside is at the angle 0.
    s = np.cross(along, np.eye(3)[abs(along).argmin(axis=1)])
    s /= np.linalg.norm(s, axis=1)[:, None]
    t, every = np.cross(along, s), np.arange(len(i))
    x, y = (axes @ corners.T - (axes * corners[i]).sum(axis=1)[:, None] for axes in (s, t))
    squared = x * x + y * y
    most = every, squared.argmax(axis=1)
    is_line, is_aside = squared[most] <= tiny * tiny, squared > tiny * tiny
    a, b = np.where(is_line, 1.0, x[most])[:, None], np.where(is_line, 0.0, y[most])[:, None]
    x, y = np.where(is_aside, a * x + b * y, 1.0), np.where(is_aside, a * y - b * x, 0.0)
    slope = y / (abs(x) + abs(y))
    order = np.where(x < 0.0, np.where(y < 0.0, -2.0, 2.0) - slope, slope)  # as that of the angles
    low, high = (np.arctan2(y[every, k] + 0.0, x[every, k]) for k in (order.argmin(axis=1), order.argmax(axis=1)))
    start, extent = np.arctan2(b, a)[:, 0] + high + 0.5 * np.pi, np.where(is_line, 2.0 * np.pi, np.pi - (high - low))
    rows: list[tuple[float, ...]] = []
    for k in np.flatnonzero(extent > _SAME_PLACE).tolist():
        parts = max(1, math.ceil(extent[k] / (2.0 * np.pi / 3.0) - _SAME_PLACE))
        turns = [start[k] + extent[k] * part / parts for part in range(parts + 1)]
        normals = [(s[k] * math.cos(turn) + t[k] * math.sin(turn)).tolist() for turn in turns]
        rows += [(*n, *m, *along[k].tolist(), *points[i[k]]) for n, m in pairwise(normals)]
    return tuple(rows)


def repeated(count: int, state: Sequence[Scalar], step: Callable[[list[Scalar]], Sequence[Scalar]]) -> list[Scalar]:
    """The state after `count` steps."""
    recorder = next((x.graph.recorder for x in state if isinstance(x, Symbol)), None)
    if recorder is not None:
        ends: list[Scalar] = recorder.fold(Range(Index(0), Index(count)), state, lambda _, x: step(list(x)))
        return ends
    numbers = list(state)
    for _ in range(count):
        numbers = list(step(numbers))
    return numbers


def farthest(points: Corners | Sequence[Point], direction: Vec3) -> Vec3:
    """The first of the points that are farthest along a direction."""
    x, y, z = direction.components()
    if isinstance(x, float) and isinstance(y, float) and isinstance(z, float) and not isinstance(points, Corners):
        return Vec3(*max(points, key=lambda p: x * p[0] + y * p[1] + z * p[2]))
    return farthest_apart(points, direction, (), 0.0)[1]


def farthest_each(points: Corners | Sequence[Point], directions: Sequence[Vec3]) -> list[Vec3]:
    """For each direction the first of the points that are farthest along it."""

    def further(point: tuple[Scalar, ...], best: list[Scalar]) -> list[Scalar]:
        v = Vec3(*point)
        now: list[Scalar] = []
        for k, direction in enumerate(directions):
            old, along = best[4 * k : 4 * k + 4], direction.dot(v)
            is_further = less(old[0], along)
            now += [select(is_further, x, y) for x, y in zip((along, *point), old, strict=True)]
        return now

    best = over_table(points, [_NOWHERE, *_first(points)] * len(directions), further, like=directions[0].x)
    return [Vec3(*best[4 * k + 1 : 4 * k + 4]) for k in range(len(directions))]


def highest_each(points: Corners | Sequence[Point], directions: Sequence[Vec3]) -> list[Scalar]:
    """How far the points reach along each direction."""

    def higher(point: tuple[Scalar, ...], highest: list[Scalar]) -> list[Scalar]:
        v = Vec3(*point)
        return [maximum(old, direction.dot(v)) for old, direction in zip(highest, directions, strict=True)]

    like = next((x for d in directions for x in d.components() if isinstance(x, Symbol)), 0.0)
    return over_table(points, [_NOWHERE] * len(directions), higher, like)


def farthest_apart(
    points: Corners | Sequence[Point], direction: Vec3, others: Sequence[Vec3], apart: Scalar
) -> tuple[Scalar, Vec3]:
    """How far along a direction the farthest points are that keep a distance from others, and the first of them.

    Where no point keeps the distance, the first number is -1e10.
    """

    def further(point: tuple[Scalar, ...], best: list[Scalar]) -> list[Scalar]:
        v = Vec3(*point)
        along = direction.dot(v)
        for other in others:
            gap = v - other
            along = select(less(gap.dot(gap), apart * apart), _NOWHERE, along)
        is_further = less(best[0], along)
        return [select(is_further, x, y) for x, y in zip((along, *point), best, strict=True)]

    best = over_table(points, [_NOWHERE, *_first(points)], further, like=direction.x)
    return best[0], Vec3(*best[1:])


def over_table(
    rows: Corners | Sequence[tuple[float, ...]],
    state: Sequence[Scalar],
    step: Callable[[tuple[Any, ...], list[Scalar]], Sequence[Scalar]],
    like: Scalar,
) -> list[Scalar]:
    """The state after a step for each row of constants; `like` is a number of the trace, if there is one."""
    table = rows.table if isinstance(rows, Corners) else rows
    recorder = rows.recorder if isinstance(rows, Corners) else like.graph.recorder if isinstance(like, Symbol) else None
    if recorder is not None:
        columns = [recorder.constants(column) for column in zip(*table, strict=True)]
        within = Range(rows.begin, rows.end) if isinstance(rows, Corners) else Range(Index(0), Index(len(rows)))

        def one(k: Index, now: list[Symbol]) -> Sequence[Scalar]:
            return step(tuple(column[k] for column in columns), list(now))

        ends: Any = recorder.fold(within, state, one)
        return [*ends]
    numbers = list(state)
    for row in table:
        numbers = list(step(row, numbers))
    return numbers


def over_part(
    table: Sequence[float],
    width: int,
    part: tuple[Any, int],
    state: Sequence[Scalar],
    step: Callable[[Any, tuple[Scalar, ...], Sequence[Scalar]], Sequence[Scalar]],
    like: Scalar,
) -> Sequence[Scalar]:
    """The state after `step(k, row, state)` for rows of `width` constants; `part` is the first k, which may depend on
    the counter of a loop around this one, and how many there are."""
    first, count = part
    recorder = like.graph.recorder if isinstance(like, Symbol) else None
    if recorder is None:
        for k in range(first, first + count):
            state = step(k, tuple(table[k * width : (k + 1) * width]), state)
        return state
    rows = recorder.constants(table)

    def one(counter: Index, now: list[Symbol]) -> Sequence[Scalar]:
        k = counter + first
        return step(k, tuple(rows[k * width + column] for column in range(width)), now)

    ends: list[Scalar] = recorder.fold(Range(Index(0), Index(count)), state, one)
    return ends


def _first(points: Corners | Sequence[Point]) -> Point:
    return (0.0, 0.0, 0.0) if isinstance(points, Corners) else points[0]


_NOWHERE = -1e10
