"""Least squares in order of priority under linear inequalities, for machine code.

Levels of equations A_k x = b_k: each is met as well as those before allow, in the sense of its weighted squares, and
the last one decides the remaining freedom (Escande, Mansard, Wieber, "Hierarchical quadratic programming: fast online
humanoid-robot motion generation", IJRR 33 (2014)). First every level is taken as if there were no inequalities, and is
eliminated; one quadratic program for the last level then shows whether the inequalities allow that. Where they do not,
the levels are minimised under them one by one.
"""

from __future__ import annotations

from kinetree.codegen.loops.kinds import Floats
from kinetree.control.quadratic.active_set import INFEASIBLE, SOLVED
from kinetree.control.quadratic.elimination import completed, eliminated, reduced
from kinetree.control.quadratic.one_by_one import one_by_one, squares
from kinetree.control.quadratic.one_problem import bounded, listed
from kinetree.control.quadratic.orthogonal import condensed, weighted
from kinetree.control.quadratic.proximal import minimised
from kinetree.control.quadratic.workspace import Levels, Workspace

__all__ = ["in_order"]


def in_order(levels: Levels, w: Workspace) -> None:
    """Solve a problem of levels; the outcome is in `w.outcome`, and x in `w.solution`."""
    for i in range(5):
        w.outcome[i] = 0
    status, steps = _all_at_once(levels, w)
    w.outcome[1], w.outcome[2], w.outcome[3] = status, 1, steps
    if status == SOLVED:
        w.outcome[0] = len(levels.starts) - 1
    else:
        one_by_one(levels, w)


def _all_at_once(levels: Levels, w: Workspace) -> tuple[int, int]:
    """As if inequalities allowed all levels but the last to be met; the outcome and the number of steps."""
    n, m, last = levels.n, levels.hard + levels.soft, len(levels.starts) - 2
    for i in range(n):
        w.is_pivot[i] = 0
    for level in range(last):
        first, count = int(levels.starts[level]), int(levels.starts[level + 1]) - int(levels.starts[level])
        copied(count, n, first, levels.rows, w)
        if not eliminated(count, n, w):
            copied(count, n, first, levels.rows, w)
            reduced(count, n, w)
            longest = weighted(levels, first, count, n, w)
            rank = condensed(count, n, longest, w)
            if not eliminated(rank, n, w):
                return INFEASIBLE, 0
    nf = listed(n, w)
    first, count = int(levels.starts[last]), int(levels.starts[last + 1]) - int(levels.starts[last])
    copied(count, n, first, levels.rows, w)
    reduced(count, n, w)
    for i in range(count):
        for k in range(nf):  # the free unknowns next to each other; none is left of where it was
            w.rows[i, k] = w.rows[i, int(w.free[k])]
        w.rows[i, nf] = w.rows[i, n]
    squares(first, count, nf, levels, w)
    copied(m, n, 0, levels.sides, w)
    for i in range(m):
        w.lower[i], w.upper[i], w.base[i] = levels.lower[i], levels.upper[i], 0.0
    if not bounded(m, n, nf, w):
        return INFEASIBLE, 0
    status, steps = minimised(nf, m, w)
    if status == SOLVED:
        completed(nf, n, w)
    return status, steps


def copied(count: int, n: int, first: int, rows: Floats, w: Workspace) -> None:
    """Some rows, to be changed."""
    for i in range(count):
        for j in range(n + 1):
            w.rows[i, j] = rows[first + i, j]
