"""Small symmetric systems, unrolled: L D Lᵀ without square roots or pivoting (positive definite by physics)."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar, Symbol, sqrt

__all__ = ["LDLT"]


class LDLT:
    """The factors of a symmetric positive definite matrix."""

    __slots__ = ("_L", "_d", "_d_inverse")

    def __init__(self, A: Sequence[Sequence[Scalar]]) -> None:
        n = len(A)
        rest = [list(row) for row in A]  # the Schur complement still to be factored, lower triangle
        L: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        self._L = L
        self._d: list[Scalar] = []
        self._d_inverse: list[Scalar] = []
        for j in range(n):
            self._d.append(rest[j][j])
            self._d_inverse.append(1.0 / rest[j][j])
            for i in range(j + 1, n):
                L[i][j] = self._over(rest[i][j], j)
                for k in range(j + 1, i + 1):
                    rest[i][k] = rest[i][k] - L[i][j] * rest[k][j]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """A⁻¹ b."""
        x = list(b)
        n = len(x)
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - self._L[i][j] * x[j]
        for i in range(n):
            x[i] = self._over(x[i], i)
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - self._L[j][i] * x[j]
        return x

    def rooted(self, b: Sequence[Scalar]) -> list[Scalar]:
        """C⁻¹ b, where A = C Cᵀ with C = L d^½."""
        x = list(b)
        for i in range(len(x)):
            for j in range(i):
                x[i] = x[i] - self._L[i][j] * x[j]
        return [a * sqrt(d) for a, d in zip(x, self._d_inverse, strict=True)]

    def unrooted(self, y: Sequence[Scalar]) -> list[Scalar]:
        """C y."""
        x = [a * (d * sqrt(e)) for a, d, e in zip(y, self._d, self._d_inverse, strict=True)]
        return [sum((self._L[i][j] * x[j] for j in range(i)), start=x[i]) for i in range(len(x))]

    def _over(self, x: Scalar, k: int) -> Scalar:
        """x / d_k. Numbers are divided, so that d / d is exactly one; symbols share one reciprocal."""
        d = self._d[k]
        return x * self._d_inverse[k] if isinstance(x, Symbol) or isinstance(d, Symbol) else x / d
