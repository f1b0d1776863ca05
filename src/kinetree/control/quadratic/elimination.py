"""Equalities, used up: each gives one unknown by those that remain free.

Gauss–Jordan elimination with complete pivoting (Golub and Van Loan, Matrix Computations, 4th ed., 3.4). A row is
(coefficients | right side), n + 1 numbers. The tableau has a row per unknown; that of a pivot p reads
x_p + Σ_j t_pj x_j = t_pn over the free unknowns j.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats, Indices

__all__ = ["completed", "eliminated", "reduced"]

_DEPENDENT = 1e-9
"""What may be left of a row of length 1 that depends on others."""
_CONSISTENT = 1e-9
"""By how much the right side of such a row may differ from theirs, relative to the right sides."""


def reduced(rows: Floats, first: int, stop: int, n: int, tableau: Floats, is_pivot: Indices) -> None:
    """Rows without the unknowns that are given by others."""
    for i in range(first, stop):
        for p in range(n):
            if int(is_pivot[p]) == 1:
                factor = rows[i, p]
                if factor != 0.0:
                    for j in range(n + 1):
                        rows[i, j] -= factor * tableau[p, j]
                    rows[i, p] = 0.0


def eliminated(rows: Floats, count: int, n: int, tableau: Floats, is_pivot: Indices, pivots: Indices) -> bool:
    """Put equations into the tableau; False, and nothing is changed there, if they contradict it or each other.

    Args:
        rows: at least (count, n + 1), overwritten.
        count: how many equations there are.
        n: the number of unknowns.
        tableau: at least (n, n + 1).
        is_pivot: (n,), 1 for unknowns that are given by others.
        pivots: at least (count,), for what is in between.
    """
    size = 0.0  # of right sides, of rows of length 1
    for i in range(count):
        square = 0.0
        for j in range(n):
            square += rows[i, j] * rows[i, j]
        if square > 0.0:
            scale = 1.0 / sqrt(square)
            for j in range(n + 1):
                rows[i, j] *= scale
        size = max(size, abs(rows[i, n]))
    reduced(rows, 0, count, n, tableau, is_pivot)
    rank = 0
    while rank < count:
        largest, at_row, at_column = _DEPENDENT, -1, -1
        for i in range(rank, count):
            for j in range(n):
                if abs(rows[i, j]) > largest:
                    largest, at_row, at_column = abs(rows[i, j]), i, j
        if at_row < 0:
            break
        scale = 1.0 / rows[at_row, at_column]
        for j in range(n + 1):
            pivot_row = rows[at_row, j] * scale
            rows[at_row, j] = rows[rank, j]
            rows[rank, j] = pivot_row
        rows[rank, at_column] = 1.0
        pivots[rank] = at_column
        for i in range(count):
            factor = rows[i, at_column]
            if i != rank and factor != 0.0:
                for j in range(n + 1):
                    rows[i, j] -= factor * rows[rank, j]
                rows[i, at_column] = 0.0
        rank += 1
    for i in range(rank, count):
        if not abs(rows[i, n]) <= _CONSISTENT * (1.0 + size):
            return False
    for k in range(rank):
        column = int(pivots[k])
        for p in range(n):
            factor = tableau[p, column]
            if int(is_pivot[p]) == 1 and factor != 0.0:
                for j in range(n + 1):
                    tableau[p, j] -= factor * rows[k, j]
                tableau[p, column] = 0.0
        for j in range(n + 1):
            tableau[column, j] = rows[k, j]
        is_pivot[column] = 1
    return True


def completed(x: Floats, free: Indices, nf: int, n: int, tableau: Floats, is_pivot: Indices, full: Floats) -> None:
    """All unknowns, from the values `x` of the free ones."""
    for p in range(n):
        full[p] = 0.0
    for k in range(nf):
        full[int(free[k])] = x[k]
    for p in range(n):
        if int(is_pivot[p]) == 1:
            total = tableau[p, n]
            for k in range(nf):
                total -= tableau[p, int(free[k])] * x[k]
            full[p] = total
