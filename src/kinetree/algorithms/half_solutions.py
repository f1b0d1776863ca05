"""M = L D Lᵀ of the robot's degrees of freedom, by which fᵀ M⁻¹ g costs half a solution for each of f and g.

Tips come first, so that what is zero in M is zero in L: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section
6.5, where the same factors are called Lᵀ L.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.crba import crba
from kinetree.expr import Scalar
from kinetree.model import Tree

__all__ = ["HalfSolutions"]


class HalfSolutions:
    """L and D at one configuration."""

    def __init__(self, tree: Tree, q: Sequence[Sequence[Scalar]]) -> None:
        flat = crba(tree, q).flat()
        n = self.size = round(len(flat) ** 0.5)
        self._order = _tips_first(tree, n)
        rest = [[flat[a * n + b] for b in self._order] for a in self._order]
        self._L: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        self._d_inverse: list[Scalar] = []
        for k in range(n):
            self._d_inverse.append(1.0 / rest[k][k])
            for i in range(k + 1, n):
                self._L[i][k] = rest[i][k] * self._d_inverse[k]
                for j in range(k + 1, i + 1):
                    rest[i][j] = rest[i][j] - self._L[i][k] * rest[j][k]

    def half(self, force: Sequence[Scalar]) -> list[Scalar]:
        """L⁻¹ f, tips first."""
        y = [force[k] for k in self._order]
        for i in range(self.size):
            for j in range(i):
                y[i] = y[i] - self._L[i][j] * y[j]
        return y

    def dot(self, x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
        """fᵀ M⁻¹ g, for the halves of f and g."""
        total: Scalar = 0.0
        for a, d, b in zip(x, self._d_inverse, y, strict=True):
            total = total + a * d * b
        return total

    def gram(self, Y: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """J M⁻¹ Jᵀ, for the halves of the rows of J."""
        found: list[list[Scalar]] = [[0.0] * len(Y) for _ in Y]
        for r, y in enumerate(Y):
            scaled = [a * d for a, d in zip(y, self._d_inverse, strict=True)]
            for s in range(r + 1):
                for a, b in zip(scaled, Y[s], strict=True):
                    found[r][s] = found[r][s] + a * b
                found[s][r] = found[r][s]
        return found

    def rest(self, y: Sequence[Scalar]) -> list[Scalar]:
        """M⁻¹ f for the half of f."""
        x = [a * d for a, d in zip(y, self._d_inverse, strict=True)]
        for i in reversed(range(self.size)):
            for j in range(i + 1, self.size):
                x[i] = x[i] - self._L[j][i] * x[j]
        found: list[Scalar] = [0.0] * self.size
        for k, value in zip(self._order, x, strict=True):
            found[k] = value
        return found


def _tips_first(tree: Tree, n: int) -> list[int]:
    """The degrees of freedom of each joint before those of the joint that carries it."""
    if tree.coordinates is not None:
        return list(reversed(range(n)))
    starts = tree.v_starts
    return [k for i, _ in tree.inward for k in reversed(range(starts[i], starts[i + 1]))]
