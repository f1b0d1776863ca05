"""One of several levels: the smallest squares of equations that leave freedom, under inequalities.

With the rows as (L 0) in an orthonormal basis, the matrix of the quadratic program is LᵀL along the first vectors of
it, and zero along the others. There, proximal steps ½ ε |x − x̂|² from the last x̂ make it strictly convex
(R. T. Rockafellar, "Monotone operators and the proximal point algorithm", SIAM J. Control 14 (1976)); L is never
squared, so ε may be so small that the second step ends it. Each step goes on from the active rows of the one before.
"""

from __future__ import annotations

from kinetree.control.quadratic.active_set import SOLVED, multipliers_of, satisfied
from kinetree.control.quadratic.working_set import restored
from kinetree.control.quadratic.workspace import Workspace

__all__ = ["least_squares"]

_PART = 1e-4
"""The root of ε relative to the largest of L's diagonal."""
_STEPS = 20
_REACHED = 1e-10
"""The last proximal step, relative to x."""
_ADDED = 1e-9
"""What the proximal term still adds to the slope, relative to the slope."""
_WEAK = 1e-8
"""A multiplier, relative to the slope, that may come from the proximal term."""
_ROUNDING = 1e-12
"""The same, relative to the terms that the slope is made of."""


def least_squares(n: int, m: int, rank: int, w: Workspace) -> tuple[int, int]:
    """Minimise |L x₁ − c|² where lower ≤ base + Cᵀ x ≤ upper; returns what it ended with, and the number of steps.

    Args:
        n, m, rank: how many unknowns, inequalities and equations there are.
        w: its rows (rank, n + 1) are (L 0 | c); bounds and x are as for `active_set`, and so are multipliers, of half
            the squares; zero where they cannot be told from zero.
    """
    largest, longest = 0.0, 0.0
    for i in range(rank):
        largest = max(largest, abs(w.rows[i, i]))
        for k in range(i + 1):
            longest = max(longest, abs(w.rows[i, k]))
    root = _PART * largest if largest > 0.0 else 1.0
    _inverted(n, rank, root, w)
    for k in range(n):
        w.g[k], w.last[k] = 0.0, 0.0
    for i in range(rank):
        for k in range(i + 1):
            w.g[k] -= w.rows[i, k] * w.rows[i, n]
    for i in range(m):
        w.side[i] = 0
    ended, steps, total, count, slope, terms = SOLVED, 0, 0, 0, 0.0, 0.0
    for _ in range(_STEPS):
        count = restored(n, m, count, w.g, w)
        ended, steps, count = satisfied(n, m, count, w)
        total += steps
        if ended != SOLVED:
            break
        moved, size = 0.0, 0.0
        for k in range(n):
            size = max(size, abs(w.x[k]))
        for k in range(rank, n):
            moved = max(moved, abs(w.x[k] - w.last[k]))
            w.last[k] = w.x[k]
            w.g[k] = -root * root * w.x[k]
        slope, terms = _errors(n, rank, w)
        slope, terms = longest * slope, longest * terms + root * root * size
        if moved <= _REACHED * (1.0 + size) or root * root * moved <= _ADDED * slope:
            break
    for k in range(count):
        if w.u[k] <= _WEAK * slope + _ROUNDING * terms:
            w.u[k] = 0.0
    multipliers_of(m, count, w)
    return ended, total


def _errors(n: int, rank: int, w: Workspace) -> tuple[float, float]:
    """The largest error L x − c, and the largest sum of the terms of one."""
    error, terms = 0.0, 0.0
    for i in range(rank):
        total, size = -w.rows[i, n], abs(w.rows[i, n])
        for k in range(i + 1):
            total += w.rows[i, k] * w.x[k]
            size += abs(w.rows[i, k] * w.x[k])
        error, terms = max(error, abs(total)), max(terms, size)
    return error, terms


def _inverted(n: int, rank: int, root: float, w: Workspace) -> None:
    """J: the inverse of L, with a column per row, and 1 / root along vectors that the rows do not see."""
    for i in range(n):
        for j in range(n):
            w.J[i, j] = 0.0
        if i >= rank:
            w.J[i, i] = 1.0 / root
            continue
        w.J[i, i] = 1.0 / w.rows[i, i]
        for j in range(i + 1, rank):
            total = 0.0
            for k in range(i, j):
                total -= w.rows[j, k] * w.J[i, k]
            w.J[i, j] = total / w.rows[j, j]
