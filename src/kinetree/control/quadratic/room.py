"""Arrays in which quadratic programs of one size are solved; they are kept, as making them takes long."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.codegen.loops.compiled import prepared
from kinetree.control.quadratic.one_problem import solved

__all__ = ["Room", "Size", "results", "room_for", "work", "work_of_levels"]

Array = NDArray[Any]
Size = tuple[int, int, int, bool]
"""Unknowns, rows of C, rows of A, and whether the unknowns are bounded."""

_KEPT = 16
_mine = threading.local()


class Room:
    """A place for one problem, and the call that solves it."""

    def __init__(self, size: Size) -> None:
        n, m, equal, _ = size
        self.given = {
            "P": np.zeros((1, n, n)), "q": np.zeros((1, n)), "A": np.zeros((1, max(equal, 1), n)),
            "b": np.zeros((1, max(equal, 1))), "C": np.zeros((1, max(m, 1), n)), "lower": np.zeros((1, max(m, 1))),
            "upper": np.zeros((1, max(m, 1))), "x_lower": np.zeros((1, n)), "x_upper": np.zeros((1, n)),
        }  # fmt: skip
        self.results = results(1, size)
        arguments = (*size, *self.given.values(), *self.results, *work(size))
        self.solve: Callable[[], None] = prepared(solved, *arguments)


def results(count: int, size: Size) -> tuple[Array, ...]:
    """Arrays for x, the multipliers of rows and bounds, status and steps."""
    n, m, _, _ = size
    return (
        np.zeros((count, n)), np.zeros((count, max(m, 1))), np.zeros((count, n)),
        np.zeros(count, np.int32), np.zeros(count, np.int32),
    )  # fmt: skip


def work(size: Size) -> list[Array]:
    """Arrays for what is in between, in the order of `solved`."""
    n, m, equal, is_bounded = size
    equal, inside = max(equal, 1), max(m, 1) + (n if is_bounded else 0)
    shapes = [
        (n, n + 1), (max(n, inside), n + 1), (equal, n + 1), (n, n), (n,), (n, inside), (inside,), (inside,), (inside,),
        (inside,), (n,), (inside,), (n,), (n, n), (n,), (inside,), (n, n), (n, n), (n,), (n,), (n,), (n,),
    ]  # fmt: skip
    return [*map(np.zeros, shapes), *(np.zeros(k, np.int32) for k in (n, inside, n, equal, n))]


def work_of_levels(n: int, m: int, rows: int) -> list[Array]:
    """Arrays for what is in between, in the order of `in_order`."""
    most = max(rows, m)
    shapes = [
        (n, n + 1), (most, n + 1), (n, n), (n, n), (n,), (n, m), (m,), (m,), (m,), (m,), (n,), (m,), (n,), (n, n),
        (n,), (m,), (n, n), (n, n), (n,), (n,), (n,), (n,), (max(n, m) + 1,),
    ]  # fmt: skip
    return [*map(np.zeros, shapes), *(np.zeros(k, np.int32) for k in (n, m, n, most, n))]


def room_for(size: Size) -> Room:
    """The room of this thread for this size."""
    rooms: OrderedDict[Size, Room] = _mine.__dict__.setdefault("rooms", OrderedDict())
    if size not in rooms:
        rooms[size] = Room(size)
        if len(rooms) > _KEPT:
            rooms.popitem(last=False)
    else:
        rooms.move_to_end(size)
    return rooms[size]
