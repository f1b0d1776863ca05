"""Least squares in order of priority under linear inequalities, for machine code.

Levels of equations A_k x = b_k: each is met as well as those before allow, in the sense of its weighted squares, and
the last one decides what is left (Escande, Mansard, Wieber, "Hierarchical quadratic programming: fast online
humanoid-robot motion generation", IJRR 33 (2014)). First every level is taken as if there were no inequalities, and is
used up by elimination; one quadratic program for the last level then tells whether the inequalities allow that. Where
they do not, the levels are minimised under them one by one.
"""

from __future__ import annotations

from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.control.quadratic.active_set import INFEASIBLE, SOLVED
from kinetree.control.quadratic.elimination import completed, eliminated, reduced
from kinetree.control.quadratic.one_by_one import one_by_one, squares
from kinetree.control.quadratic.one_problem import bounded, listed
from kinetree.control.quadratic.orthogonal import condensed, weighted
from kinetree.control.quadratic.proximal import minimised

__all__ = ["in_order"]


def in_order(
    n: int, hard: int, soft: int, levels: int, rows: Floats, weights: Floats, starts: Indices, sides: Floats,
    lower: Floats, upper: Floats, x: Floats, told: Indices,
    tableau: Floats, copies: Floats, basis: Floats, H: Floats, g: Floats, columns: Floats, low: Floats, high: Floats,
    base: Floats, lengths: Floats, y: Floats, multipliers: Floats, last: Floats, factor: Floats, pulled: Floats,
    slack: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats, u: Floats, across: Floats,
    active: Indices, side: Indices, is_pivot: Indices, pivots: Indices, free: Indices,
) -> None:  # fmt: skip
    """Levels of rows (A_k | b_k), under lower ≤ C x ≤ upper.

    Args:
        n, hard, soft, levels: how many unknowns, inequalities and levels there are. Soft inequalities, which are the
            last ones, are left out where even the first levels, which are taken one by one, have no solution with them.
        rows: (…, n + 1), all levels' rows, one level after the other.
        weights: one per row: factors of the squares.
        starts: (levels + 1,), where each level starts.
        sides: (hard + soft, n + 1), the rows C, and a column of zeros.
        lower, upper: (hard + soft,).
        x: (n,), result.
        told: (5,), results: how many levels are solved, the status of the last program, how many programs were solved,
            how many steps they took, and 1 where soft inequalities were left out.
        others: for what is in between.
    """
    for i in range(5):
        told[i] = 0
    status, steps = _all_at_once(
        n, hard + soft, levels, rows, weights, starts, sides, lower, upper, x,
        tableau, copies, H, g, columns, low, high, base, lengths, y, multipliers, last, factor, pulled,
        slack, J, R, d, z, r, u, across, active, side, is_pivot, pivots, free,
    )  # fmt: skip
    told[1], told[2], told[3] = status, 1, steps
    if status == SOLVED:
        told[0] = levels
        return
    one_by_one(
        n, hard, soft, levels, rows, weights, starts, sides, lower, upper, x, told,
        copies, basis, H, g, columns, low, high, base, lengths, y, multipliers, last, factor, pulled,
        slack, J, R, d, z, r, u, across, active, side,
    )  # fmt: skip


def _all_at_once(
    n: int, m: int, levels: int, rows: Floats, weights: Floats, starts: Indices, sides: Floats,
    lower: Floats, upper: Floats, x: Floats,
    tableau: Floats, copies: Floats, H: Floats, g: Floats, columns: Floats, low: Floats, high: Floats,
    base: Floats, lengths: Floats, y: Floats, multipliers: Floats, last: Floats, factor: Floats, pulled: Floats,
    slack: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats, u: Floats, across: Floats,
    active: Indices, side: Indices, is_pivot: Indices, pivots: Indices, free: Indices,
) -> tuple[int, int]:  # fmt: skip
    """As if inequalities allowed all levels but the last to be met; what it ended with, and the number of steps."""
    for i in range(n):
        is_pivot[i] = 0
    for level in range(levels - 1):
        first, count = int(starts[level]), int(starts[level + 1]) - int(starts[level])
        copied(first, count, n, rows, copies)
        if not eliminated(copies, count, n, tableau, is_pivot, pivots):
            copied(first, count, n, rows, copies)
            reduced(copies, 0, count, n, tableau, is_pivot)
            longest = weighted(copies, rows, weights, first, count, n, n)
            rank = condensed(copies, count, n, longest, across)
            if not eliminated(copies, rank, n, tableau, is_pivot, pivots):
                return INFEASIBLE, 0
    nf = listed(n, is_pivot, free)
    first, count = int(starts[levels - 1]), int(starts[levels]) - int(starts[levels - 1])
    copied(first, count, n, rows, copies)
    reduced(copies, 0, count, n, tableau, is_pivot)
    for i in range(count):
        for k in range(nf):  # the free unknowns next to each other; none is left of where it was
            copies[i, k] = copies[i, int(free[k])]
        copies[i, nf] = copies[i, n]
    squares(first, count, nf, copies, weights, H, g)
    copied(0, m, n, sides, copies)
    for i in range(m):
        low[i], high[i], base[i] = lower[i], upper[i], 0.0
    if not bounded(m, n, nf, copies, tableau, is_pivot, free, low, high, lengths, columns):
        return INFEASIBLE, 0
    status, steps = minimised(
        nf, m, H, g, columns, low, high, base,
        y, multipliers, last, factor, pulled, slack, J, R, d, z, r, u, active, side,
    )  # fmt: skip
    if status == SOLVED:
        completed(y, free, nf, n, tableau, is_pivot, x)
    return status, steps


def copied(first: int, count: int, n: int, rows: Floats, copies: Floats) -> None:
    """Some rows, to be changed."""
    for i in range(count):
        for j in range(n + 1):
            copies[i, j] = rows[first + i, j]
