"""One quadratic program after the other, in machine code: equalities are eliminated, the rest is minimised."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np

from kinetree.codegen.loops.compiled import compiled, prepared
from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.control.quadratic.active_set import INFEASIBLE
from kinetree.control.quadratic.elimination import completed, eliminated, reduced
from kinetree.control.quadratic.proximal import minimised
from kinetree.control.quadratic.workspace import Workspace

__all__ = ["Problems", "Size", "Solutions", "bounded", "listed", "room_for", "solved"]

_NO_BOUND = float("inf")
_EMPTY = 1e-9
"""The length of a row, relative to before, that has no free unknown left."""
_MET = 1e-8
_KEPT = 16
_mine = threading.local()


class Size(NamedTuple):
    n: int
    """The number of unknowns."""
    m: int
    """The number of rows of C."""
    equal: int
    """The number of rows of A."""
    is_bounded: bool
    """Whether the unknowns are."""

    def workspace(self) -> Workspace:
        return Workspace.of(self.n, max(self.m, 1) + (self.n if self.is_bounded else 0), self.equal)


class Problems(NamedTuple):
    """Arrays with the problems as first axis; one counts for all. They have one row at least."""

    P: Floats
    q: Floats
    A: Floats
    b: Floats
    C: Floats
    lower: Floats
    upper: Floats
    x_lower: Floats
    x_upper: Floats


class Solutions(NamedTuple):
    """Results, with the problems as first axis."""

    x: Floats
    row_multipliers: Floats
    bound_multipliers: Floats
    status: Indices
    steps: Indices

    @classmethod
    def of(cls, count: int, size: Size) -> Solutions:
        floats = (np.zeros((count, k)) for k in (size.n, max(size.m, 1), size.n))
        return cls._make([*floats, np.zeros(count, np.int32), np.zeros(count, np.int32)])


class Room:
    """A place for one problem, and the call that solves it; they are kept, as making the arrays takes long."""

    def __init__(self, size: Size) -> None:
        n, m, equal = size.n, max(size.m, 1), max(size.equal, 1)
        shapes = (n, n), (n,), (equal, n), (equal,), (m, n), (m,), (m,), (n,), (n,)
        self.given: Problems = Problems(*(np.zeros((1, *shape)) for shape in shapes))
        self.results: Solutions = Solutions.of(1, size)
        self.solve: Callable[[], None] = prepared(solved, size, self.given, self.results, size.workspace())


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


@compiled
def solved(size: Size, problems: Problems, solutions: Solutions, w: Workspace) -> None:
    """Minimise ½ xᵀ P x + qᵀ x where A x = b, lower ≤ C x ≤ upper and, if it is bounded, x_lower ≤ x ≤ x_upper.

    `w.base` is zero.
    """
    n, m, bounds = size.n, size.m, size.n if size.is_bounded else 0
    for k in range(len(solutions.x)):
        solutions.status[k], solutions.steps[k] = INFEASIBLE, 0
        for i in range(n):
            w.is_pivot[i] = 0
        this, that = _place(k, len(problems.A)), _place(k, len(problems.b))
        for i in range(size.equal):
            for j in range(n):
                w.rows[i, j] = problems.A[this, i, j]
            w.rows[i, n] = problems.b[that, i]
        if not eliminated(size.equal, n, w):
            continue
        nf = listed(n, w)
        this, that = _place(k, len(problems.P)), _place(k, len(problems.q))
        for i in range(n):
            for j in range(n):
                w.rows[i, j] = problems.P[this, i, j]
            w.rows[i, n] = -problems.q[that, i]
        reduced(n, n, w)
        projected(n, nf, w)
        this = _place(k, len(problems.C))
        for i in range(m):
            for j in range(n):
                w.rows[i, j] = problems.C[this, i, j]
            w.rows[i, n] = 0.0
        for i in range(bounds):
            for j in range(n + 1):
                w.rows[m + i, j] = 0.0
            w.rows[m + i, i] = 1.0
        this, that = _place(k, len(problems.lower)), _place(k, len(problems.upper))
        for i in range(m):
            w.lower[i], w.upper[i] = problems.lower[this, i], problems.upper[that, i]
        this, that = _place(k, len(problems.x_lower)), _place(k, len(problems.x_upper))
        for i in range(bounds):
            w.lower[m + i], w.upper[m + i] = problems.x_lower[this, i], problems.x_upper[that, i]
        if not bounded(m + bounds, n, nf, w):
            continue
        ended, count = minimised(nf, m + bounds, w)
        solutions.status[k], solutions.steps[k] = ended, count
        completed(nf, n, w)
        for i in range(n):
            solutions.x[k, i] = w.solution[i]
        for i in range(m):
            solutions.row_multipliers[k, i] = w.multipliers[i] * w.lengths[i]
        for i in range(bounds):
            solutions.bound_multipliers[k, i] = w.multipliers[m + i] * w.lengths[m + i]


def _place(k: int, count: int) -> int:
    """Where problem k is among so many."""
    return k if count > 1 else 0


def listed(n: int, w: Workspace) -> int:
    """The unknowns that are free, and how many they are."""
    nf = 0
    for i in range(n):
        if int(w.is_pivot[i]) == 0:
            w.free[nf] = i
            nf += 1
    return nf


def projected(n: int, nf: int, w: Workspace) -> None:
    """Nᵀ times the reduced rows (P | −q): the free unknowns' own quadratic program."""
    for p in range(n):
        if int(w.is_pivot[p]) == 1:
            for k in range(nf):
                factor = w.tableau[p, int(w.free[k])]
                if factor != 0.0:
                    for j in range(n + 1):
                        w.rows[int(w.free[k]), j] -= factor * w.rows[p, j]
    for k in range(nf):
        for j in range(nf):
            w.H[k, j] = w.rows[int(w.free[k]), int(w.free[j])]
        w.g[k] = -w.rows[int(w.free[k]), n]


def bounded(m: int, n: int, nf: int, w: Workspace) -> bool:
    """Rows and their bounds for the free unknowns, of length 1; False if a row without any contradicts its bounds.

    `lengths` receives the factors of the rows.
    """
    for i in range(m):
        square = 0.0
        for j in range(n):
            square += w.rows[i, j] * w.rows[i, j]
        w.lengths[i] = square
    reduced(m, n, w)
    for i in range(m):
        square = 0.0
        for k in range(nf):
            square += w.rows[i, int(w.free[k])] * w.rows[i, int(w.free[k])]
        w.lower[i] += w.rows[i, n]
        w.upper[i] += w.rows[i, n]
        if w.lower[i] > w.upper[i]:
            return False
        if square <= _EMPTY * _EMPTY * w.lengths[i] or square == 0.0:
            size = 1.0 + abs(w.rows[i, n])
            if w.lower[i] > _MET * size or w.upper[i] < -_MET * size:
                return False
            scale, w.lower[i], w.upper[i] = 0.0, -_NO_BOUND, _NO_BOUND
        else:
            scale = 1.0 / sqrt(square)
            w.lower[i] *= scale
            w.upper[i] *= scale
        w.lengths[i] = scale
        for k in range(nf):
            w.C[k, i] = w.rows[i, int(w.free[k])] * scale
    return True
