"""Dense linear algebra on small symmetric matrices, as loops: n³ operations in a few lines of code.

Each runs on memory of a trace, whose `rounds` are loops of the program, and on a `Numbers` list, where they just run.
A matrix of n rows stands row by row from `first` on; only its lower triangle is read and written.

Source: Golub and Van Loan, *Matrix Computations*, section 4.1 (L D Lᵀ without pivots, for positive definite matrices).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["Numbers", "factor", "solve"]


class Numbers(list[float]):
    """Memory of plain floats."""

    def rounds(self, start: int, stop: int, step: int = 1) -> Iterator[int]:
        return iter(range(start, stop, step))


def factor(A: Any, n: int, first: Any = 0) -> None:
    """A = L D Lᵀ in place: D on the diagonal, L below it."""
    for k in A.rounds(0, n):
        row_k = first + k * n
        inverse = 1.0 / A[row_k + k]
        for i in A.rounds(k + 1, n):
            row_i = first + i * n
            l = A[row_i + k] * inverse
            for j in A.rounds(k + 1, i + 1):
                A[row_i + j] = A[row_i + j] - l * A[first + j * n + k]
        for i in A.rounds(k + 1, n):
            A[first + i * n + k] = A[first + i * n + k] * inverse


def solve(A: Any, n: int, x: Any, first: Any = 0, x_first: Any = 0) -> None:
    """x = A⁻¹ x in place, for a factored A; x stands from `x_first` on."""
    for k in A.rounds(0, n):
        for i in A.rounds(k + 1, n):
            x[x_first + i] = x[x_first + i] - A[first + i * n + k] * x[x_first + k]
    for k in A.rounds(0, n):
        x[x_first + k] = x[x_first + k] / A[first + k * n + k]
    for k in A.rounds(n - 1, -1, -1):
        for i in A.rounds(0, k):
            x[x_first + i] = x[x_first + i] - A[first + k * n + i] * x[x_first + k]
