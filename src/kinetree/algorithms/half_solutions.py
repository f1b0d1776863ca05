"""fᵀ H⁻¹ g for several forces: with H = Lᵀ D L it costs half a solution for each, L⁻ᵀ f.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 6.5 and Table 6.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltdl import ltdl, ltdl_half, ltdl_rest
from kinetree.expr import Scalar, sqrt
from kinetree.model import Tree

__all__ = ["HalfSolutions", "RootedHalves"]


class HalfSolutions:
    """The factors at one configuration; halves are L⁻ᵀ f."""

    def __init__(self, tree: Tree, q: Sequence[Sequence[Scalar]]) -> None:
        self._L: Any = crba(tree, q).sparse()
        ltdl(self._L)
        self._D: list[Scalar] = self._L.diagonal()

    def half(self, row: Sequence[Scalar], factor: Scalar) -> list[Scalar]:
        """The half of a factor times a row of J."""
        x = self._L.column(row, factor)
        self._halve(x)
        half: list[Scalar] = self._L.numbers(x)
        return half

    def half_of(self, forces: Any) -> list[Scalar]:
        """The half of joint forces, which come a piece a slot."""
        x = self._L.vector(forces)
        self._halve(x)
        half: list[Scalar] = self._L.numbers(x)
        return half

    def dot(self, x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
        """fᵀ H⁻¹ g, for the halves of f and g."""
        total: Scalar = 0.0
        for a, d, b in zip(x, self._D, y, strict=True):
            total = total + a * (1.0 / d) * b
        return total

    def rooted(self, Y: Sequence[Sequence[Scalar]]) -> Sequence[Sequence[Scalar]]:
        """B = Y D^-½ with J H⁻¹ Jᵀ = B Bᵀ, for the halves of the rows of J."""
        roots = [sqrt(1.0 / d) for d in self._D]
        return [[a * root for a, root in zip(y, roots, strict=True)] for y in Y]

    def unrooted(self, y: Sequence[Scalar]) -> Sequence[Scalar]:
        """The half D^½ y of the force Jᵀ λ, for y = Bᵀ λ."""
        return [a * (d * sqrt(1.0 / d)) for a, d in zip(y, self._D, strict=True)]

    def gram(self, Y: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """J H⁻¹ Jᵀ, for the halves of the rows of J."""
        found: list[list[Scalar]] = [[0.0] * len(Y) for _ in Y]
        for r, y in enumerate(Y):
            scaled = [a * (1.0 / d) for a, d in zip(y, self._D, strict=True)]
            for s in range(r + 1):
                for a, b in zip(scaled, Y[s], strict=True):
                    found[r][s] = found[r][s] + a * b
                found[s][r] = found[r][s]
        return found

    def rest(self, y: Sequence[Scalar]) -> list[Scalar]:
        """H⁻¹ f, as it stands in v, for the half of f."""
        x = self._L.vector_of(y)
        self._restore(x)
        ltdl_rest(self._L, x)
        accelerations: list[Scalar] = self._L.as_in_v(self._L.numbers(x))
        return accelerations

    def nothing(self) -> list[Scalar]:
        """The half of no force."""
        return [0.0] * len(self._D)

    def _halve(self, x: Any) -> None:
        ltdl_half(self._L, x)

    def _restore(self, x: Any) -> None:
        """Make L⁻ᵀ f of the half of f."""


class RootedHalves(HalfSolutions):
    """The same with the halves D^-½ L⁻ᵀ f: fᵀ H⁻¹ g is their product, and those of the rows of J are B.

    Where bodies are looped over, this scales them in a loop; written out it would scale more than what rows touch.
    """

    def dot(self, x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
        """fᵀ H⁻¹ g, for the halves of f and g."""
        total: Scalar = 0.0
        for a, b in zip(x, y, strict=True):
            total = total + a * b
        return total

    def rooted(self, Y: Sequence[Sequence[Scalar]]) -> Sequence[Sequence[Scalar]]:
        """B, for the halves of the rows of J."""
        return Y

    def unrooted(self, y: Sequence[Scalar]) -> Sequence[Scalar]:
        """The half of the force Jᵀ λ, for y = Bᵀ λ."""
        return y

    def _halve(self, x: Any) -> None:
        L = self._L
        ltdl_half(L, x)
        for k in L.outward:
            x[k] = x[k] * sqrt(1.0 / L[k, k])

    def _restore(self, x: Any) -> None:
        L = self._L
        for k in L.outward:
            x[k] = x[k] * (L[k, k] * sqrt(1.0 / L[k, k]))
