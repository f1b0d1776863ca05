"""Loops with a fixed number of iterations: of the program in a trace that has loops, of Python elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.expr import Index, Range, Scalar, Symbol, less, select
from kinetree.spatial import Vec3

__all__ = ["farthest", "farthest_apart", "repeated"]


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


def farthest(points: Sequence[tuple[float, float, float]], direction: Vec3) -> Vec3:
    """The first of the points that are farthest along a direction."""
    return farthest_apart(points, direction, (), 0.0)[1]


def farthest_apart(
    points: Sequence[tuple[float, float, float]], direction: Vec3, others: Sequence[Vec3], apart: Scalar
) -> tuple[Scalar, Vec3]:
    """How far along a direction the farthest points are that keep a distance from others, and the first of them.

    Where no point keeps the distance, the first number is -1e10.
    """

    def further(point: tuple[Scalar, Scalar, Scalar], best: Sequence[Scalar]) -> list[Scalar]:
        v = Vec3(*point)
        along = direction.dot(v)
        for other in others:
            gap = v - other
            along = select(less(gap.dot(gap), apart * apart), _NOWHERE, along)
        is_further = less(best[0], along)
        return [select(is_further, x, y) for x, y in zip((along, *point), best, strict=True)]

    best: list[Scalar] = [_NOWHERE, *points[0]]
    recorder = direction.x.graph.recorder if isinstance(direction.x, Symbol) else None
    if recorder is not None:
        tables = [recorder.constants(column) for column in zip(*points, strict=True)]

        def step(k: Index, state: list[Symbol]) -> list[Scalar]:
            return further((tables[0][k], tables[1][k], tables[2][k]), state)

        best = recorder.fold(Range(Index(0), Index(len(points))), best, step)
    else:
        for point in points:
            best = further(point, best)
    return best[0], Vec3(*best[1:])


_NOWHERE = -1e10
