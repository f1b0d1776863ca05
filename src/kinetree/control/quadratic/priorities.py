"""Least squares in order of priority under linear inequalities, in machine code.

Levels of equations A_k x = b_k: each is met as well as those before allow, in the sense of its weighted squares, and
the last one decides what is left (Escande, Mansard, Wieber, "Hierarchical quadratic programming: fast online
humanoid-robot motion generation", IJRR 33 (2014)). First every level is taken as if there were no inequalities, and is
used up by elimination; one quadratic program for the last level then tells whether the inequalities allow that. Where
they do not, the levels are minimised under them one by one.
"""

from __future__ import annotations

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.control.quadratic.active_set import SOLVED
from kinetree.control.quadratic.elimination import completed, eliminated, reduced
from kinetree.control.quadratic.one_problem import bounded, listed
from kinetree.control.quadratic.orthogonal import condensed
from kinetree.control.quadratic.proximal import SLOW, UNBOUNDED, minimised

__all__ = ["in_order"]

_USED_UP = 1e-8
"""The length of a row, relative to before, that has no free unknown left."""
_ROUNDING = 1e-10
_BELOW = 1e-4
"""The proximal term of levels that leave freedom, relative to the largest of the diagonal: small enough for few steps,
and so large that the inequalities are still met to rounding."""


@compiled
def in_order(
    n: int, hard: int, soft: int, levels: int, rows: Floats, weights: Floats, starts: Indices, sides: Floats,
    lower: Floats, upper: Floats, x: Floats, told: Indices,
    tableau: Floats, copies: Floats, H: Floats, g: Floats, columns: Floats, low: Floats, high: Floats,
    lengths: Floats, y: Floats, multipliers: Floats, last: Floats, factor: Floats, pulled: Floats, slack: Floats,
    J: Floats, R: Floats, d: Floats, z: Floats, r: Floats, u: Floats, across: Floats,
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
    told[2], told[3] = 0, 0
    for attempt in range(3 if soft > 0 else 2):
        m = hard + soft if attempt < 2 else hard
        told[4] = 1 if attempt == 2 else 0
        for i in range(n):
            is_pivot[i] = 0
        told[0], told[1] = 0, SOLVED
        is_known = False
        for level in range(levels):
            first, count = int(starts[level]), int(starts[level + 1]) - int(starts[level])
            is_last = level == levels - 1
            if not is_last and (attempt == 0 or level == 0):
                copied(first, count, n, rows, copies)
                if not eliminated(copies, count, n, tableau, is_pivot, pivots):
                    copied(first, count, n, rows, copies)
                    reduced(copies, 0, count, n, tableau, is_pivot)
                    rank = condensed(copies, rows, weights, first, count, n, across)
                    if not eliminated(copies, rank, n, tableau, is_pivot, pivots):
                        break
                told[0] = level + 1
                continue
            nf = listed(n, is_pivot, free)
            copied(first, count, n, rows, copies)
            reduced(copies, 0, count, n, tableau, is_pivot)
            if not is_last:
                without_rounding(first, count, n, rows, copies)
            squares(first, count, n, nf, copies, weights, free, H, g)
            copied(0, m, n, sides, copies)
            for i in range(m):
                low[i], high[i] = lower[i], upper[i]
            if is_known:
                widened(m, n, sides, x, low, high)
            if not bounded(m, n, nf, copies, tableau, is_pivot, free, low, high, lengths, columns):
                break
            status, steps = minimised(
                nf, m, 0.0 if is_last else _BELOW, H, g, columns, low, high,
                y, multipliers, last, factor, pulled, slack, J, R, d, z, r, u, active, side,
            )  # fmt: skip
            told[1], told[2], told[3] = status, int(told[2]) + 1, int(told[3]) + steps
            if status != SOLVED and (is_last or (status != SLOW and status != UNBOUNDED)):  # those are allowed, too
                break
            completed(y, free, nf, n, tableau, is_pivot, x)
            is_known = True
            told[0] = level + 1
            if not is_last:
                copied(first, count, n, rows, copies)
                for i in range(count):
                    total = 0.0
                    for j in range(n):
                        total += copies[i, j] * x[j]
                    copies[i, n] = total
                if not eliminated(copies, count, n, tableau, is_pivot, pivots):
                    break
        if int(told[0]) == levels:
            break


def copied(first: int, count: int, n: int, rows: Floats, copies: Floats) -> None:
    """Some rows, to be changed."""
    for i in range(count):
        for j in range(n + 1):
            copies[i, j] = rows[first + i, j]


def without_rounding(first: int, count: int, n: int, rows: Floats, copies: Floats) -> None:
    """Reduced rows of which only rounding is left become zero."""
    for i in range(count):
        before, after = 0.0, 0.0
        for j in range(n):
            before += rows[first + i, j] * rows[first + i, j]
            after += copies[i, j] * copies[i, j]
        if after <= _USED_UP * _USED_UP * before:
            for j in range(n + 1):
                copies[i, j] = 0.0


def widened(m: int, n: int, sides: Floats, x: Floats, low: Floats, high: Floats) -> None:
    """Bounds that x, which the level before has found, satisfies in spite of rounding."""
    for i in range(m):
        value = 0.0
        for j in range(n):
            value += sides[i, j] * x[j]
        rounding = _ROUNDING * (1.0 + abs(value))
        low[i] = min(low[i], value - rounding)
        high[i] = max(high[i], value + rounding)


def squares(
    first: int, count: int, n: int, nf: int, copies: Floats, weights: Floats, free: Indices, H: Floats, g: Floats
) -> None:
    """H = Aᵀ W A and g = −Aᵀ W b of reduced rows, in the free unknowns."""
    for k in range(nf):
        g[k] = 0.0
        for j in range(nf):
            H[k, j] = 0.0
    for i in range(count):
        weight = weights[first + i]
        if weight > 0.0:
            for k in range(nf):  # the free unknowns next to each other; none is left of where it was
                copies[i, k] = copies[i, int(free[k])]
            for k in range(nf):
                factor = weight * copies[i, k]
                if factor != 0.0:
                    g[k] -= factor * copies[i, n]
                    for j in range(nf):
                        H[k, j] += factor * copies[i, j]
