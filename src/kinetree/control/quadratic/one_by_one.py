"""Levels that are minimised under the inequalities one by one, where not all can be met.

Between levels there are a point x and an orthonormal basis of the directions in which nothing that is decided changes:
a level's equations keep their values at x, and its active inequalities, those with a multiplier, are equations from
there on, as every solution of the level has them active (Escande, Mansard, Wieber, IJRR 33 (2014), section 3.4). So
each level has fewer unknowns than the one before and finds fewer inequalities left.

A level is the smallest squares of equations that leave freedom. With its rows as (L 0) in an orthonormal basis, the
matrix of the quadratic program is LᵀL along the first vectors of it, and zero along the others. There, proximal steps
½ ε |x − x̂|² from the last x̂ make it strictly convex (R. T. Rockafellar, "Monotone operators and the proximal point
algorithm", SIAM J. Control 14 (1976)); L is never squared, so ε may be so small that the second step ends it. Each step
goes on from the active rows of the one before.
"""

from __future__ import annotations

from math import sqrt

from kinetree.control.quadratic.active_set import INFEASIBLE, SOLVED, multipliers_of, satisfied
from kinetree.control.quadratic.orthogonal import condensed, turned, weighted
from kinetree.control.quadratic.proximal import minimised
from kinetree.control.quadratic.working_set import restored
from kinetree.control.quadratic.workspace import Levels, Workspace

__all__ = ["one_by_one", "squares"]

_NO_BOUND, _NO_NUMBER = float("inf"), float("nan")
_EMPTY = 1e-8
"""The length of a row, relative to before, that has no free direction left."""
_PART = 1e-4
"""The root of ε relative to the largest of L's diagonal."""
_STEPS = 20
_REACHED = 1e-10
"""The last proximal step, relative to x."""
_ADDED = 1e-9
"""The share of the slope that the proximal term still adds."""
_WEAK = 1e-8
"""A multiplier, relative to the slope, that may come from the proximal term."""
_ROUNDING = 1e-12
"""Such a multiplier, relative to the terms that the slope is made of."""


def one_by_one(levels: Levels, w: Workspace) -> None:
    """As `in_order`, for levels that inequalities do not allow to be met.

    Where the solver gives up, x is that of the levels before; its first number is NaN if this is not allowed.
    """
    n, m, last = levels.n, levels.hard + levels.soft, len(levels.starts) - 2
    nf, is_allowed = n, False
    w.outcome[0], w.outcome[1] = 0, SOLVED
    for i in range(n):
        w.solution[i] = 0.0
        for j in range(n):
            w.basis[i, j] = 0.0
        w.basis[i, i] = 1.0
    for i in range(m):
        w.lower[i], w.upper[i], w.lengths[i] = levels.lower[i], levels.upper[i], 1.0
        for j in range(n):
            w.C[j, i] = levels.sides[i, j]
    for level in range(last + 1):
        first, count = int(levels.starts[level]), int(levels.starts[level + 1]) - int(levels.starts[level])
        rank, status, steps, is_last = 0, SOLVED, 0, level == last
        _based(m, nf, levels, is_allowed, w)
        _projected(first, count, nf, levels, w)
        if is_last:
            squares(first, count, nf, levels, w)
        else:
            longest = weighted(levels, first, count, nf, w)
            rank = condensed(count, nf, longest, w)
            turned(rank, nf, n, m, w)
        if level == 0 and not is_last:
            _met(rank, nf, w)
        elif nf > 0:
            for attempt in range(2):
                if attempt == 1:  # without soft inequalities
                    m = levels.hard
                    w.outcome[4] = 1
                if is_last:
                    status, steps = minimised(nf, m, w)
                else:
                    status, steps = least_squares(nf, m, rank, w)
                w.outcome[1], w.outcome[2], w.outcome[3] = status, int(w.outcome[2]) + 1, int(w.outcome[3]) + steps
                if status != INFEASIBLE or is_allowed or m == levels.hard:
                    break
            if status != SOLVED:
                break
            is_allowed = True
        _moved(n, nf, w)
        w.outcome[0] = level + 1
        if is_last:
            break
        strong = _strong(m, nf, w) if level > 0 and nf > 0 else 0
        nf = _without_first(rank, nf, n, m, w)
        if strong > 0 and nf > 0:
            for i in range(strong):
                for k in range(nf):
                    w.rows[i, k] = w.J[i, rank + k]
                w.rows[i, nf] = 0.0
            rank = condensed(strong, nf, 1.0, w)
            turned(rank, nf, n, m, w)
            nf = _without_first(rank, nf, n, m, w)
    if not is_allowed and int(w.outcome[0]) <= last:
        w.solution[0] = _NO_NUMBER


def _projected(first: int, count: int, nf: int, levels: Levels, w: Workspace) -> None:
    """Rows (A | b) as (A Z | b − A x), with the directions Z."""
    for i in range(count):
        for k in range(nf):
            total = 0.0
            for j in range(levels.n):
                total += levels.rows[first + i, j] * w.basis[k, j]
            w.rows[i, k] = total
        total = levels.rows[first + i, levels.n]
        for j in range(levels.n):
            total -= levels.rows[first + i, j] * w.solution[j]
        w.rows[i, nf] = total


def _based(m: int, nf: int, levels: Levels, is_allowed: bool, w: Workspace) -> None:
    """The values of all inequalities at x; the remaining rows get the length 1.

    Where x is known to be allowed, bounds yield to it by rounding; rows without any direction left have no bounds.
    """
    for i in range(m):
        square, squared, value = 0.0, 0.0, 0.0
        for k in range(nf):
            square += w.C[k, i] * w.C[k, i]
        for j in range(levels.n):
            squared += levels.sides[i, j] * levels.sides[i, j]
            value += levels.sides[i, j] * w.solution[j]
        if square <= _EMPTY * _EMPTY * w.lengths[i] * w.lengths[i] * squared:
            for k in range(nf):
                w.C[k, i] = 0.0
            w.lower[i], w.upper[i], w.base[i] = -_NO_BOUND, _NO_BOUND, 0.0
            continue
        scale = 1.0 / sqrt(square)
        for k in range(nf):
            w.C[k, i] *= scale
        w.lengths[i] *= scale
        w.lower[i] *= scale
        w.upper[i] *= scale
        w.base[i] = w.lengths[i] * value
        if is_allowed:
            w.lower[i], w.upper[i] = min(w.lower[i], w.base[i]), max(w.upper[i], w.base[i])


def _met(rank: int, nf: int, w: Workspace) -> None:
    """L y₁ = c, and y is zero beyond."""
    for i in range(nf):
        w.x[i] = 0.0
    for i in range(rank):
        total = w.rows[i, nf]
        for k in range(i):
            total -= w.rows[i, k] * w.x[k]
        w.x[i] = total / w.rows[i, i]


def _moved(n: int, nf: int, w: Workspace) -> None:
    for k in range(nf):
        for j in range(n):
            w.solution[j] += w.x[k] * w.basis[k, j]


def _strong(m: int, nf: int, w: Workspace) -> int:
    """The inequalities with a multiplier, as rows of `w.J`, and how many they are."""
    count = 0
    for i in range(m):
        if w.multipliers[i] != 0.0:
            for k in range(nf):
                w.J[count, k] = w.C[k, i]
            count += 1
    return count


def _without_first(rank: int, nf: int, n: int, m: int, w: Workspace) -> int:
    """The directions after the first ones, and how many they are."""
    for k in range(nf - rank):
        for j in range(n):
            w.basis[k, j] = w.basis[k + rank, j]
        for i in range(m):
            w.C[k, i] = w.C[k + rank, i]
    return nf - rank


def squares(first: int, count: int, nf: int, levels: Levels, w: Workspace) -> None:
    """H = Aᵀ W A and g = −Aᵀ W b of rows (A | b)."""
    for k in range(nf):
        w.g[k] = 0.0
        for j in range(nf):
            w.H[k, j] = 0.0
    for i in range(count):
        weight = levels.weights[first + i]
        if weight > 0.0:
            for k in range(nf):
                factor = weight * w.rows[i, k]
                if factor != 0.0:
                    w.g[k] -= factor * w.rows[i, nf]
                    for j in range(nf):
                        w.H[k, j] += factor * w.rows[i, j]


def least_squares(n: int, m: int, rank: int, w: Workspace) -> tuple[int, int]:
    """Minimise |L x₁ − c|² where lower ≤ base + Cᵀ x ≤ upper; returns the outcome and the number of steps.

    Args:
        n, m, rank: how many unknowns, inequalities and equations there are.
        w: its rows (rank, n + 1) are (L 0 | c); bounds and x are as for `active_set`, and so are multipliers, of half
            the squares; zero where they are zero up to rounding.
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
