"""One of several levels: the smallest squares of equations that leave freedom, under inequalities.

With the rows as (L 0) in an orthonormal basis, the matrix of the quadratic program is LᵀL along the first vectors of
it, and zero along the others. There, proximal steps ½ ε |z − ẑ|² from the last ẑ make it strictly convex
(R. T. Rockafellar, "Monotone operators and the proximal point algorithm", SIAM J. Control 14 (1976)); L is never
squared, so ε may be so small that the second step ends it. Each step goes on from the active rows of the one before.
"""

from __future__ import annotations

from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.control.quadratic.active_set import SOLVED, multipliers_of, satisfied
from kinetree.control.quadratic.working_set import restored

__all__ = ["least_squares"]

_PART = 1e-4
"""The root of ε relative to the largest of L's diagonal."""
_STEPS = 20
_REACHED = 1e-10
"""The last proximal step, relative to z."""
_ADDED = 1e-9
"""What the proximal term still adds to the slope, relative to the slope."""
_WEAK = 1e-8
"""A multiplier, relative to the slope, that may come from the proximal term."""
_ROUNDING = 1e-12
"""The same, relative to the terms that the slope is made of."""


def least_squares(
    n: int, m: int, rank: int, rows: Floats, C: Floats, lower: Floats, upper: Floats, base: Floats,
    z: Floats, multipliers: Floats, g: Floats, last: Floats, slack: Floats, J: Floats, R: Floats, d: Floats,
    p: Floats, r: Floats, u: Floats, active: Indices, side: Indices,
) -> tuple[int, int]:  # fmt: skip
    """Minimise |L z₁ − c|² where lower ≤ base + Cᵀ z ≤ upper; returns what it ended with, and the number of steps.

    Args:
        n, m, rank: how many unknowns, inequalities and equations there are.
        rows: (rank, n + 1), (L 0 | c).
        C, lower, upper, base: as in `active_set`.
        z: (n,), result.
        multipliers: (m,), result, of half the squares; zero where they cannot be told from zero.
        g, last, slack, J, R, d, p, r, u, active, side: for what is in between.
    """
    largest, longest = 0.0, 0.0
    for i in range(rank):
        largest = max(largest, abs(rows[i, i]))
        for k in range(i + 1):
            longest = max(longest, abs(rows[i, k]))
    root = _PART * largest if largest > 0.0 else 1.0
    _inverted(n, rank, rows, root, J)
    for k in range(n):
        g[k], last[k] = 0.0, 0.0
    for i in range(rank):
        for k in range(i + 1):
            g[k] -= rows[i, k] * rows[i, n]
    for i in range(m):
        side[i] = 0
    ended, steps, total, count, slope, terms = SOLVED, 0, 0, 0, 0.0, 0.0
    for _ in range(_STEPS):
        count = restored(n, m, count, g, C, lower, upper, base, z, slack, J, R, d, p, u, active, side)
        ended, steps, count = satisfied(n, m, count, C, lower, upper, z, slack, J, R, d, p, r, u, active, side)
        total += steps
        if ended != SOLVED:
            break
        moved, size = 0.0, 0.0
        for k in range(n):
            size = max(size, abs(z[k]))
        for k in range(rank, n):
            moved = max(moved, abs(z[k] - last[k]))
            last[k] = z[k]
            g[k] = -root * root * z[k]
        slope, terms = _errors(n, rank, rows, z)
        slope, terms = longest * slope, longest * terms + root * root * size
        if moved <= _REACHED * (1.0 + size) or root * root * moved <= _ADDED * slope:
            break
    for k in range(count):
        if u[k] <= _WEAK * slope + _ROUNDING * terms:
            u[k] = 0.0
    multipliers_of(m, count, u, active, side, multipliers)
    return ended, total


def _errors(n: int, rank: int, rows: Floats, z: Floats) -> tuple[float, float]:
    """The largest error L z − c, and the largest sum of the terms of one."""
    error, terms = 0.0, 0.0
    for i in range(rank):
        total, size = -rows[i, n], abs(rows[i, n])
        for k in range(i + 1):
            total += rows[i, k] * z[k]
            size += abs(rows[i, k] * z[k])
        error, terms = max(error, abs(total)), max(terms, size)
    return error, terms


def _inverted(n: int, rank: int, rows: Floats, root: float, J: Floats) -> None:
    """J: the inverse of L, with a column per row, and 1 / root along vectors that the rows do not see."""
    for i in range(n):
        for j in range(n):
            J[i, j] = 0.0
        if i >= rank:
            J[i, i] = 1.0 / root
            continue
        J[i, i] = 1.0 / rows[i, i]
        for j in range(i + 1, rank):
            total = 0.0
            for k in range(i, j):
                total -= rows[j, k] * J[i, k]
            J[i, j] = total / rows[j, j]
