"""Householder's reflections: rows made fewer, and a basis turned so that rows depend on its first vectors only.

Column pivoting (Golub and Van Loan, Matrix Computations, 4th ed., 5.4.2) turns rows (A | b) into (R | c) with fewer
rows, which do not contradict each other, and a rest of b that nothing changes: the smallest weighted squares of the
errors are those of the former. Reflections from the other side turn R into (L 0) (5.4.7).
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats
from kinetree.control.quadratic.workspace import Levels, Workspace

__all__ = ["condensed", "turned", "weighted"]

_DEPENDENT = 1e-8
"""The length of a column's remainder, relative to the longest given row, that counts as zero."""


def weighted(levels: Levels, first: int, count: int, free: int, w: Workspace) -> float:
    """Multiply `w.rows` (count, free + 1) by the roots of their weights; returns the square of the longest as given.

    They are the rows of the levels from `first` on in fewer unknowns.
    """
    longest = 0.0
    for i in range(count):
        factor = sqrt(levels.weights[first + i])
        for j in range(free + 1):
            w.rows[i, j] *= factor
        square = 0.0
        for j in range(levels.n):
            square += levels.rows[first + i, j] * levels.rows[first + i, j]
        longest = max(longest, levels.weights[first + i] * square)
    return longest


def condensed(count: int, n: int, longest: float, w: Workspace) -> int:
    """Turn `w.rows` (count, n + 1) into fewer, and return how many these are.

    Args:
        count, n: how many rows and unknowns there are.
        longest: the square of a row's length, relative to which something counts as zero.
        w: with the rows.
    """
    for k in range(count):
        for j in range(n):
            w.across[j] = 0.0
        for i in range(k, count):
            for j in range(n):
                w.across[j] += w.rows[i, j] * w.rows[i, j]
        largest, column = 0.0, 0
        for j in range(n):
            if w.across[j] > largest:
                largest, column = w.across[j], j
        if largest <= _DEPENDENT * _DEPENDENT * longest:
            return k
        end = -sqrt(largest) if w.rows[k, column] > 0.0 else sqrt(largest)
        head = w.rows[k, column] - end
        scale = 1.0 / (-end * head)  # 2 over the square of the column less its end
        for j in range(n + 1):
            w.across[j] = head * w.rows[k, j]
        for i in range(k + 1, count):
            factor = w.rows[i, column]
            for j in range(n + 1):
                w.across[j] += factor * w.rows[i, j]
        for i in range(k + 1, count):
            factor = scale * w.rows[i, column]
            for j in range(n + 1):
                w.rows[i, j] -= factor * w.across[j]
            w.rows[i, column] = 0.0
        for j in range(n + 1):
            w.rows[k, j] -= scale * head * w.across[j]
        w.rows[k, column] = end
    return count


def turned(count: int, free: int, n: int, m: int, w: Workspace) -> None:
    """Turn the basis so that row i has no part along its vectors after the i-th.

    Args:
        count, free: how many rows and vectors there are.
        n: the length of the vectors.
        m: how many other rows there are.
        w: its rows (count, free) are coordinates along the vectors, which become (L 0) with a triangle L; `basis` has a
            vector per row, and C (free, m), which follows, the coordinates of the other rows.
    """
    for i in range(count):
        square, tail = 0.0, 0.0
        for k in range(i, free):
            square += w.rows[i, k] * w.rows[i, k]
            if k > i:
                tail += abs(w.rows[i, k])
            w.pulled[k] = w.rows[i, k]
        if tail == 0.0:
            continue
        end = -sqrt(square) if w.rows[i, i] > 0.0 else sqrt(square)
        w.pulled[i] -= end
        scale = 1.0 / (-end * w.pulled[i])  # 2 over the square of v
        w.rows[i, i] = end
        for k in range(i + 1, free):
            w.rows[i, k] = 0.0
        for other in range(i + 1, count):
            total = 0.0
            for k in range(i, free):
                total += w.pulled[k] * w.rows[other, k]
            total *= scale
            for k in range(i, free):
                w.rows[other, k] -= total * w.pulled[k]
        _reflected(w.basis, i, free, n, scale, w.pulled, w.across)
        _reflected(w.C, i, free, m, scale, w.pulled, w.across)


def _reflected(x: Floats, first: int, n: int, width: int, scale: float, v: Floats, across: Floats) -> None:
    """x − scale v vᵀ x, in rows from `first` on."""
    for j in range(width):
        across[j] = 0.0
    for k in range(first, n):
        factor = scale * v[k]
        if factor != 0.0:
            for j in range(width):
                across[j] += factor * x[k, j]
    for k in range(first, n):
        factor = v[k]
        if factor != 0.0:
            for j in range(width):
                x[k, j] -= factor * across[j]
