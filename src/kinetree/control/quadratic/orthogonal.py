"""Householder's reflections: rows made fewer, and a basis turned so that rows depend on its first vectors only.

Column pivoting (Golub and Van Loan, Matrix Computations, 4th ed., 5.4.2) turns rows (A | b) into (R | c) with fewer
rows, which do not contradict each other, and a rest of b that nothing changes: the smallest weighted squares of the
errors are those of the former. Reflections from the other side turn R into (L 0) (5.4.7).
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats

__all__ = ["condensed", "turned", "weighted"]

_DEPENDENT = 1e-8
"""The length of what is left of a column, relative to the longest row as it was given, that counts as zero."""


def weighted(rows: Floats, given: Floats, weights: Floats, first: int, count: int, n: int, free: int) -> float:
    """Multiply rows (count, free + 1) by the roots of their weights; returns the square of the longest as given.

    Args:
        rows: (count, free + 1), what the rows `given` are in fewer unknowns.
        given: the same rows as they were given, (…, n + 1), from `first` on.
        weights: of the rows, from `first` on.
        first, count, n, free: how many there are.
    """
    longest = 0.0
    for i in range(count):
        factor = sqrt(weights[first + i])
        for j in range(free + 1):
            rows[i, j] *= factor
        square = 0.0
        for j in range(n):
            square += given[first + i, j] * given[first + i, j]
        longest = max(longest, weights[first + i] * square)
    return longest


def condensed(rows: Floats, count: int, n: int, longest: float, across: Floats) -> int:
    """Turn `count` rows (count, n + 1) into fewer, and return how many these are.

    Args:
        rows: (count, n + 1).
        count, n: how many rows and unknowns there are.
        longest: the square of a row's length, relative to which something counts as zero.
        across: (n + 1,), for what is in between.
    """
    for k in range(count):
        for j in range(n):
            across[j] = 0.0
        for i in range(k, count):
            for j in range(n):
                across[j] += rows[i, j] * rows[i, j]
        largest, column = 0.0, 0
        for j in range(n):
            if across[j] > largest:
                largest, column = across[j], j
        if largest <= _DEPENDENT * _DEPENDENT * longest:
            return k
        end = -sqrt(largest) if rows[k, column] > 0.0 else sqrt(largest)
        head = rows[k, column] - end
        scale = 1.0 / (-end * head)  # 2 over the square of the column less its end
        for j in range(n + 1):
            across[j] = head * rows[k, j]
        for i in range(k + 1, count):
            factor = rows[i, column]
            for j in range(n + 1):
                across[j] += factor * rows[i, j]
        for i in range(k + 1, count):
            factor = scale * rows[i, column]
            for j in range(n + 1):
                rows[i, j] -= factor * across[j]
            rows[i, column] = 0.0
        for j in range(n + 1):
            rows[k, j] -= scale * head * across[j]
        rows[k, column] = end
    return count


def turned(
    rows: Floats, count: int, n: int, basis: Floats, width: int, columns: Floats, m: int, v: Floats, across: Floats
) -> None:
    """Turn the basis so that row i has no part along its vectors after the i-th.

    Args:
        rows: (count, n), coordinates along the vectors; they become (L 0) with a triangle L.
        count, n: how many rows and vectors there are.
        basis: (n, width), a vector per row.
        width: their length.
        columns: (n, m), coordinates of other rows, which follow.
        m: how many those are.
        v, across: (n,) and as long as width and m, for what is in between.
    """
    for i in range(count):
        square, tail = 0.0, 0.0
        for k in range(i, n):
            square += rows[i, k] * rows[i, k]
            if k > i:
                tail += abs(rows[i, k])
            v[k] = rows[i, k]
        if tail == 0.0:
            continue
        end = -sqrt(square) if rows[i, i] > 0.0 else sqrt(square)
        v[i] -= end
        scale = 1.0 / (-end * v[i])  # 2 over the square of v
        rows[i, i] = end
        for k in range(i + 1, n):
            rows[i, k] = 0.0
        for other in range(i + 1, count):
            total = 0.0
            for k in range(i, n):
                total += v[k] * rows[other, k]
            total *= scale
            for k in range(i, n):
                rows[other, k] -= total * v[k]
        _reflected(basis, i, n, width, scale, v, across)
        _reflected(columns, i, n, m, scale, v, across)


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
