"""Symmetric systems that may be singular: A x = b with A = J M⁻¹ Jᵀ, unrolled, without branches.

A = L D Lᵀ without exchanges. Where a pivot is no more than `tolerance` of its diagonal entry, row k of A is, up to
that, a combination of the rows K that were kept before: A = P A_KK Pᵀ, where P has the rows of the identity for K, and
rows z = L_k L_KK⁻¹ for the others. So the pseudo-inverse is

    A⁺ = P (PᵀP)⁻¹ A_KK⁻¹ (PᵀP)⁻¹ Pᵀ,    PᵀP = 1 + Σ z zᵀ,

exactly A⁻¹ where nothing was left out. x = A⁺ b is the shortest of all x that come nearest to A x = b.

Without exchanges a small pivot may come before a large one, and costs digits; one step of refinement by the residual
b - A x gives them back.

Source: Golub and Van Loan, *Matrix Computations*, sections 4.1, 4.2.8 (semidefinite matrices) and 5.5.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar, less, select
from kinetree.spatial import LDLT

__all__ = ["SemidefiniteLDLT"]


class SemidefiniteLDLT:
    """The factors of a symmetric positive semidefinite matrix; only its lower triangle is read."""

    __slots__ = ("_A", "_L", "_d_inverse", "_gram", "_z")

    def __init__(self, A: Sequence[Sequence[Scalar]], tolerance: float) -> None:
        n = len(A)
        self._A = A
        rest = [list(row) for row in A]
        L: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        self._L = L
        self._d_inverse: list[Scalar] = []
        kept: list[Scalar] = []
        for k in range(n):
            pivot = rest[k][k]
            kept.append(less(tolerance * A[k][k], pivot))
            self._d_inverse.append(select(kept[k], 1.0 / select(kept[k], pivot, 1.0), 0.0))
            for i in range(k + 1, n):
                L[i][k] = rest[i][k] * self._d_inverse[k]
                for j in range(k + 1, i + 1):
                    rest[i][j] = rest[i][j] - L[i][k] * rest[j][k]
        self._z = [self._combination(k, kept[k]) for k in range(n)]
        gram: list[list[Scalar]] = [[float(i == j) for j in range(n)] for i in range(n)]
        for k, z in enumerate(self._z):
            for i in range(k):
                for j in range(i + 1):
                    gram[i][j] = gram[i][j] + z[i] * z[j]
        self._gram = LDLT(gram)

    def refined(self, b: Sequence[Scalar]) -> list[Scalar]:
        """A⁺ b, with one step of refinement."""
        x = self.solve(b)
        residual = list(b)
        for i in range(len(b)):
            for j, x_j in enumerate(x):
                residual[i] = residual[i] - self._A[max(i, j)][min(i, j)] * x_j
        return [x_i + y for x_i, y in zip(x, self.solve(residual), strict=True)]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """A⁺ b."""
        n = len(b)
        x = list(b)
        for k in range(n):
            for i in range(k):
                x[i] = x[i] + self._z[k][i] * b[k]
        x = self._gram.solve(x)
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - self._L[i][j] * x[j]
        x = [x_i * d for x_i, d in zip(x, self._d_inverse, strict=True)]  # zero where a row was left out
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - self._L[j][i] * x[j]
        y = self._gram.solve(x)
        total = list(y)
        for k in range(n):
            for i in range(k):
                total[k] = total[k] + self._z[k][i] * y[i]
        return total

    def _combination(self, k: int, kept: Scalar) -> list[Scalar]:
        """z of a row that is left out; zeros for one that is kept."""
        z = self._L[k][:k]
        for j in reversed(range(k)):
            for i in range(j):
                z[i] = z[i] - z[j] * self._L[j][i]
        return [select(kept, 0.0, x) for x in z]
