"""Levels that are minimised under the inequalities one by one, where not all can be met.

Between levels there are a point x and an orthonormal basis of the directions in which nothing that is decided changes:
a level's equations keep their values at x, and its active inequalities, those with a multiplier, are equations from
there on, as every solution of the level has them active (Escande, Mansard, Wieber, IJRR 33 (2014), section 3.4). So
each level has fewer unknowns than the one before and finds fewer inequalities left.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.control.quadratic.active_set import INFEASIBLE, SOLVED
from kinetree.control.quadratic.level import least_squares
from kinetree.control.quadratic.orthogonal import condensed, turned, weighted
from kinetree.control.quadratic.proximal import minimised

__all__ = ["one_by_one", "squares"]

_NO_BOUND, _NO_NUMBER = float("inf"), float("nan")
_EMPTY = 1e-8
"""The length of a row, relative to before, that has no free direction left."""


def one_by_one(
    n: int, hard: int, soft: int, levels: int, rows: Floats, weights: Floats, starts: Indices, sides: Floats,
    lower: Floats, upper: Floats, x: Floats, told: Indices,
    copies: Floats, basis: Floats, H: Floats, g: Floats, columns: Floats, low: Floats, high: Floats,
    base: Floats, lengths: Floats, y: Floats, multipliers: Floats, last: Floats, factor: Floats, pulled: Floats,
    slack: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats, u: Floats, across: Floats,
    active: Indices, side: Indices,
) -> None:  # fmt: skip
    """As `in_order`, for levels that inequalities do not allow to be met.

    Where the solver gives up, x is that of the levels before; its first number is NaN if this is not allowed.
    """
    m, nf, is_allowed = hard + soft, n, False
    told[0], told[1] = 0, SOLVED
    for i in range(n):
        x[i] = 0.0
        for j in range(n):
            basis[i, j] = 0.0
        basis[i, i] = 1.0
    for i in range(m):
        low[i], high[i], lengths[i] = lower[i], upper[i], 1.0
        for j in range(n):
            columns[j, i] = sides[i, j]
    for level in range(levels):
        first, count = int(starts[level]), int(starts[level + 1]) - int(starts[level])
        rank, status, steps, is_last = 0, SOLVED, 0, level == levels - 1
        _based(m, n, nf, sides, x, columns, low, high, base, lengths, is_allowed)
        _projected(first, count, n, nf, rows, basis, x, copies)
        if is_last:
            squares(first, count, nf, copies, weights, H, g)
        else:
            longest = weighted(copies, rows, weights, first, count, n, nf)
            rank = condensed(copies, count, nf, longest, across)
            turned(copies, rank, nf, basis, n, columns, m, pulled, across)
        if level == 0 and not is_last:
            _met(rank, nf, copies, y)
        elif nf > 0:
            for attempt in range(2):
                if attempt == 1:  # without soft inequalities
                    m = hard
                    told[4] = 1
                if is_last:
                    status, steps = minimised(
                        nf, m, H, g, columns, low, high, base,
                        y, multipliers, last, factor, pulled, slack, J, R, d, z, r, u, active, side,
                    )  # fmt: skip
                else:
                    status, steps = least_squares(
                        nf, m, rank, copies, columns, low, high, base,
                        y, multipliers, g, last, slack, J, R, d, z, r, u, active, side,
                    )  # fmt: skip
                told[1], told[2], told[3] = status, int(told[2]) + 1, int(told[3]) + steps
                if status != INFEASIBLE or is_allowed or m == hard:
                    break
            if status != SOLVED:
                break
            is_allowed = True
        _moved(n, nf, basis, y, x)
        told[0] = level + 1
        if is_last:
            break
        strong = _strong(m, nf, multipliers, columns, J) if level > 0 and nf > 0 else 0
        nf = _kept(rank, nf, n, m, basis, columns)
        if strong > 0 and nf > 0:
            for i in range(strong):
                for k in range(nf):
                    copies[i, k] = J[i, rank + k]
                copies[i, nf] = 0.0
            rank = condensed(copies, strong, nf, 1.0, across)
            turned(copies, rank, nf, basis, n, columns, m, pulled, across)
            nf = _kept(rank, nf, n, m, basis, columns)
    if not is_allowed and int(told[0]) < levels:
        x[0] = _NO_NUMBER


def _projected(first: int, count: int, n: int, nf: int, rows: Floats, basis: Floats, x: Floats, copies: Floats) -> None:
    """Rows (A | b) as (A Z | b − A x), with the directions Z."""
    for i in range(count):
        for k in range(nf):
            total = 0.0
            for j in range(n):
                total += rows[first + i, j] * basis[k, j]
            copies[i, k] = total
        total = rows[first + i, n]
        for j in range(n):
            total -= rows[first + i, j] * x[j]
        copies[i, nf] = total


def _based(
    m: int, n: int, nf: int, sides: Floats, x: Floats, columns: Floats, low: Floats, high: Floats, base: Floats,
    lengths: Floats, is_allowed: bool,
) -> None:  # fmt: skip
    """The values of all inequalities at x; what is left of their rows gets the length 1.

    Where x is known to be allowed, bounds yield to it by rounding; rows without any direction left have no bounds.
    """
    for i in range(m):
        square, whole, value = 0.0, 0.0, 0.0
        for k in range(nf):
            square += columns[k, i] * columns[k, i]
        for j in range(n):
            whole += sides[i, j] * sides[i, j]
            value += sides[i, j] * x[j]
        if square <= _EMPTY * _EMPTY * lengths[i] * lengths[i] * whole:
            for k in range(nf):
                columns[k, i] = 0.0
            low[i], high[i], base[i] = -_NO_BOUND, _NO_BOUND, 0.0
            continue
        scale = 1.0 / sqrt(square)
        for k in range(nf):
            columns[k, i] *= scale
        lengths[i] *= scale
        low[i] *= scale
        high[i] *= scale
        base[i] = lengths[i] * value
        if is_allowed:
            low[i], high[i] = min(low[i], base[i]), max(high[i], base[i])


def _met(rank: int, nf: int, rows: Floats, y: Floats) -> None:
    """L y₁ = c, and y is zero beyond."""
    for i in range(nf):
        y[i] = 0.0
    for i in range(rank):
        total = rows[i, nf]
        for k in range(i):
            total -= rows[i, k] * y[k]
        y[i] = total / rows[i, i]


def _moved(n: int, nf: int, basis: Floats, y: Floats, x: Floats) -> None:
    for k in range(nf):
        for j in range(n):
            x[j] += y[k] * basis[k, j]


def _strong(m: int, nf: int, multipliers: Floats, columns: Floats, found: Floats) -> int:
    """The inequalities with a multiplier, as rows of `found`, and how many they are."""
    count = 0
    for i in range(m):
        if multipliers[i] != 0.0:
            for k in range(nf):
                found[count, k] = columns[k, i]
            count += 1
    return count


def _kept(rank: int, nf: int, n: int, m: int, basis: Floats, columns: Floats) -> int:
    """The directions after the first ones, and how many they are."""
    for k in range(nf - rank):
        for j in range(n):
            basis[k, j] = basis[k + rank, j]
        for i in range(m):
            columns[k, i] = columns[k + rank, i]
    return nf - rank


def squares(first: int, count: int, nf: int, copies: Floats, weights: Floats, H: Floats, g: Floats) -> None:
    """H = Aᵀ W A and g = −Aᵀ W b of rows (A | b)."""
    for k in range(nf):
        g[k] = 0.0
        for j in range(nf):
            H[k, j] = 0.0
    for i in range(count):
        weight = weights[first + i]
        if weight > 0.0:
            for k in range(nf):
                factor = weight * copies[i, k]
                if factor != 0.0:
                    g[k] -= factor * copies[i, nf]
                    for j in range(nf):
                        H[k, j] += factor * copies[i, j]
