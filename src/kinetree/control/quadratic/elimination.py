"""Equalities, used up: each gives one unknown by those that remain free.

Gauss–Jordan elimination with complete pivoting (Golub and Van Loan, Matrix Computations, 4th ed., 3.4). A row is
(coefficients | right side), n + 1 numbers. The tableau has a row per unknown; that of a pivot p reads
x_p + Σ_j t_pj x_j = t_pn over the free unknowns j.
"""

from __future__ import annotations

from math import sqrt

from kinetree.control.quadratic.workspace import Workspace

__all__ = ["completed", "eliminated", "reduced"]

_DEPENDENT = 1e-9
"""The largest remainder of a row of length 1 that depends on others."""
_CONSISTENT = 1e-9
"""By how much the right side of such a row may differ from theirs, relative to the right sides."""


def reduced(count: int, n: int, w: Workspace) -> None:
    """`w.rows` without the unknowns that are given by others."""
    for i in range(count):
        for p in range(n):
            if int(w.is_pivot[p]) == 1:
                factor = w.rows[i, p]
                if factor != 0.0:
                    for j in range(n + 1):
                        w.rows[i, j] -= factor * w.tableau[p, j]
                    w.rows[i, p] = 0.0


def eliminated(count: int, n: int, w: Workspace) -> bool:
    """Put equations into the tableau; False, and nothing is changed there, if they contradict it or each other.

    Args:
        count: how many equations there are.
        n: the number of unknowns.
        w: its rows are the equations, and overwritten.
    """
    size = 0.0  # of right sides, of rows of length 1
    for i in range(count):
        square = 0.0
        for j in range(n):
            square += w.rows[i, j] * w.rows[i, j]
        if square > 0.0:
            scale = 1.0 / sqrt(square)
            for j in range(n + 1):
                w.rows[i, j] *= scale
        size = max(size, abs(w.rows[i, n]))
    reduced(count, n, w)
    rank = 0
    while rank < count:
        largest, at_row, at_column = _DEPENDENT, -1, -1
        for i in range(rank, count):
            for j in range(n):
                if abs(w.rows[i, j]) > largest:
                    largest, at_row, at_column = abs(w.rows[i, j]), i, j
        if at_row < 0:
            break
        scale = 1.0 / w.rows[at_row, at_column]
        for j in range(n + 1):
            pivot_row = w.rows[at_row, j] * scale
            w.rows[at_row, j] = w.rows[rank, j]
            w.rows[rank, j] = pivot_row
        w.rows[rank, at_column] = 1.0
        w.pivots[rank] = at_column
        for i in range(count):
            factor = w.rows[i, at_column]
            if i != rank and factor != 0.0:
                for j in range(n + 1):
                    w.rows[i, j] -= factor * w.rows[rank, j]
                w.rows[i, at_column] = 0.0
        rank += 1
    for i in range(rank, count):
        if not abs(w.rows[i, n]) <= _CONSISTENT * (1.0 + size):
            return False
    for k in range(rank):
        column = int(w.pivots[k])
        for p in range(n):
            factor = w.tableau[p, column]
            if int(w.is_pivot[p]) == 1 and factor != 0.0:
                for j in range(n + 1):
                    w.tableau[p, j] -= factor * w.rows[k, j]
                w.tableau[p, column] = 0.0
        for j in range(n + 1):
            w.tableau[column, j] = w.rows[k, j]
        w.is_pivot[column] = 1
    return True


def completed(nf: int, n: int, w: Workspace) -> None:
    """All unknowns, in `w.solution`, from the values `w.x` of the free ones."""
    for p in range(n):
        w.solution[p] = 0.0
    for k in range(nf):
        w.solution[int(w.free[k])] = w.x[k]
    for p in range(n):
        if int(w.is_pivot[p]) == 1:
            total = w.tableau[p, n]
            for k in range(nf):
                total -= w.tableau[p, int(w.free[k])] * w.x[k]
            w.solution[p] = total
