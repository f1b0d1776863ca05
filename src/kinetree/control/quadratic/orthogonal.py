"""Equations that contradict each other: those that the smallest weighted squares of their errors satisfy.

Householder's reflections with column pivoting (Golub and Van Loan, Matrix Computations, 4th ed., 5.4.2) turn rows
(A | b) into (R | c) with fewer rows, which do not contradict each other, and a rest of b that nothing changes.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats

__all__ = ["condensed"]

_DEPENDENT = 1e-8
"""The length of what is left of a column, relative to the longest row as it was given, that counts as zero."""


def condensed(rows: Floats, given: Floats, weights: Floats, first: int, count: int, n: int, across: Floats) -> int:
    """Turn `count` rows into fewer, and return how many these are.

    Args:
        rows: (count, n + 1), reduced.
        given: the same rows as they were given, from `first` on.
        weights: of the rows, from `first` on.
        first, count, n: how many there are.
        across: (n + 1,), for what is in between.
    """
    longest = 0.0
    for i in range(count):
        factor = sqrt(weights[first + i])
        for j in range(n + 1):
            rows[i, j] *= factor
        square = 0.0
        for j in range(n):
            square += given[first + i, j] * given[first + i, j]
        longest = max(longest, weights[first + i] * square)
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
