"""Loops with a fixed number of iterations: of the program in a trace that has loops, of Python elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinetree.expr import Index, Range, Recorder, Scalar, Symbol, less, maximum, select
from kinetree.spatial import Vec3

__all__ = [
    "Corners",
    "farthest",
    "farthest_apart",
    "farthest_each",
    "highest_each",
    "over_part",
    "over_table",
    "reach_of",
    "repeated",
]


Point = tuple[float, float, float]


class Corners(NamedTuple):
    """The corners of the hull that a pair in a loop over pairs has: some rows of a table of those of all hulls."""

    table: Sequence[Point]
    begin: Index
    end: Index
    reach: Scalar
    """The distance of the farthest one from the origin."""
    recorder: Recorder


def reach_of(points: Corners | Sequence[Point]) -> Scalar:
    """The distance of the farthest of the points from the origin."""
    return points.reach if isinstance(points, Corners) else max(math.hypot(*p) for p in points)


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
