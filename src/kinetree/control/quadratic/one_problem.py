"""One quadratic program after the other, in machine code: equalities are used up, and what is left is minimised."""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.control.quadratic.active_set import INFEASIBLE
from kinetree.control.quadratic.elimination import completed, eliminated, reduced
from kinetree.control.quadratic.proximal import minimised

__all__ = ["solved"]

_NO_BOUND = float("inf")
_EMPTY = 1e-9
"""The length of a row, relative to before, that has no free unknown left."""
_MET = 1e-8


@compiled
def solved(
    n: int, m: int, equal: int, is_bounded: bool,
    P: Floats, q: Floats, A: Floats, b: Floats, C: Floats, lower: Floats, upper: Floats,
    x_lower: Floats, x_upper: Floats, x: Floats,
    row_multipliers: Floats, bound_multipliers: Floats, status: Indices, steps: Indices,
    tableau: Floats, rows: Floats, equalities: Floats, H: Floats, g: Floats, columns: Floats, low: Floats, high: Floats,
    base: Floats, lengths: Floats, y: Floats, multipliers: Floats, last: Floats, factor: Floats, pulled: Floats,
    slack: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats, u: Floats,
    active: Indices, side: Indices, is_pivot: Indices, pivots: Indices, free: Indices,
) -> None:  # fmt: skip
    """Minimise ½ xᵀ P x + qᵀ x where A x = b, lower ≤ C x ≤ upper and, if it is bounded, x_lower ≤ x ≤ x_upper.

    Args:
        n, m, equal: how many unknowns, rows of C and rows of A there are; the arrays have one row at least.
        P, q, A, b, C, lower, upper, x_lower, x_upper: with the problems as first axis; one problem counts for all.
        x, row_multipliers, bound_multipliers, status, steps: results, with the problems as first axis.
        base: zeros.
        others: for what is in between.
    """
    bounds = n if is_bounded else 0
    for k in range(len(x)):
        status[k], steps[k] = INFEASIBLE, 0
        for i in range(n):
            is_pivot[i] = 0
        this = k if len(A) > 1 else 0
        that = k if len(b) > 1 else 0
        for i in range(equal):
            for j in range(n):
                equalities[i, j] = A[this, i, j]
            equalities[i, n] = b[that, i]
        if not eliminated(equalities, equal, n, tableau, is_pivot, pivots):
            continue
        nf = listed(n, is_pivot, free)
        this = k if len(P) > 1 else 0
        that = k if len(q) > 1 else 0
        for i in range(n):
            for j in range(n):
                rows[i, j] = P[this, i, j]
            rows[i, n] = -q[that, i]
        reduced(rows, 0, n, n, tableau, is_pivot)
        projected(n, nf, rows, tableau, is_pivot, free, H, g)
        this = k if len(C) > 1 else 0
        for i in range(m):
            for j in range(n):
                rows[i, j] = C[this, i, j]
            rows[i, n] = 0.0
        for i in range(bounds):
            for j in range(n + 1):
                rows[m + i, j] = 0.0
            rows[m + i, i] = 1.0
        this = k if len(lower) > 1 else 0
        that = k if len(upper) > 1 else 0
        for i in range(m):
            low[i], high[i] = lower[this, i], upper[that, i]
        this = k if len(x_lower) > 1 else 0
        that = k if len(x_upper) > 1 else 0
        for i in range(bounds):
            low[m + i], high[m + i] = x_lower[this, i], x_upper[that, i]
        if not bounded(m + bounds, n, nf, rows, tableau, is_pivot, free, low, high, lengths, columns):
            continue
        ended, count = minimised(
            nf, m + bounds, H, g, columns, low, high, base,
            y, multipliers, last, factor, pulled, slack, J, R, d, z, r, u, active, side,
        )  # fmt: skip
        status[k], steps[k] = ended, count
        completed(y, free, nf, n, tableau, is_pivot, pulled)
        for i in range(n):
            x[k, i] = pulled[i]
        for i in range(m):
            row_multipliers[k, i] = multipliers[i] * lengths[i]
        for i in range(bounds):
            bound_multipliers[k, i] = multipliers[m + i] * lengths[m + i]


def listed(n: int, is_pivot: Indices, free: Indices) -> int:
    """The unknowns that are free, and how many they are."""
    nf = 0
    for i in range(n):
        if int(is_pivot[i]) == 0:
            free[nf] = i
            nf += 1
    return nf


def projected(
    n: int, nf: int, rows: Floats, tableau: Floats, is_pivot: Indices, free: Indices, H: Floats, g: Floats
) -> None:
    """Nᵀ times the reduced rows (P | −q): the free unknowns' own quadratic program."""
    for p in range(n):
        if int(is_pivot[p]) == 1:
            for k in range(nf):
                factor = tableau[p, int(free[k])]
                if factor != 0.0:
                    for j in range(n + 1):
                        rows[int(free[k]), j] -= factor * rows[p, j]
    for k in range(nf):
        for j in range(nf):
            H[k, j] = rows[int(free[k]), int(free[j])]
        g[k] = -rows[int(free[k]), n]


def bounded(
    m: int, n: int, nf: int, rows: Floats, tableau: Floats, is_pivot: Indices, free: Indices, low: Floats,
    high: Floats, lengths: Floats, columns: Floats,
) -> bool:  # fmt: skip
    """Rows and their bounds for the free unknowns, of length 1; False if a row without any contradicts its bounds.

    `lengths` becomes what a row was multiplied by.
    """
    for i in range(m):
        square = 0.0
        for j in range(n):
            square += rows[i, j] * rows[i, j]
        lengths[i] = square
    reduced(rows, 0, m, n, tableau, is_pivot)
    for i in range(m):
        square = 0.0
        for k in range(nf):
            square += rows[i, int(free[k])] * rows[i, int(free[k])]
        low[i] += rows[i, n]
        high[i] += rows[i, n]
        if low[i] > high[i]:
            return False
        if square <= _EMPTY * _EMPTY * lengths[i] or square == 0.0:
            size = 1.0 + abs(rows[i, n])
            if low[i] > _MET * size or high[i] < -_MET * size:
                return False
            scale, low[i], high[i] = 0.0, -_NO_BOUND, _NO_BOUND
        else:
            scale = 1.0 / sqrt(square)
            low[i] *= scale
            high[i] *= scale
        lengths[i] = scale
        for k in range(nf):
            columns[k, i] = rows[i, int(free[k])] * scale
    return True
