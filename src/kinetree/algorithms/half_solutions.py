"""fᵀ H⁻¹ g for several forces: with H = Lᵀ D L, each costs half a solution, L⁻ᵀ f.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 6.5 and Table 6.5; H is the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltdl import ltdl, ltdl_half, ltdl_rest
from kinetree.expr import Scalar, dot, sqrt
from kinetree.tree import Tree

__all__ = ["HalfSolutions", "RootedHalves"]


class HalfSolutions:
    """Factors of H at one configuration; the half-solution of a force f is L⁻ᵀ f."""

    def __init__(self, tree: Tree, q: Sequence[Sequence[Scalar]]) -> None:
        self._L: Any = crba(tree, q).sparse()
        ltdl(self._L)
        self._D: list[Scalar] = self._L.diagonal()

    def half(self, row: Sequence[Scalar], factor: Scalar) -> list[Scalar]:
        """Half-solution of a factor times a row of J."""
        x = self._L.column(row, factor)
        self._halve(x)
        half: list[Scalar] = self._L.numbers(x)
        return half

    def half_of(self, forces: Any) -> list[Scalar]:
        """Half-solution of joint forces, which are given by slot."""
        x = self._L.vector(forces)
        self._halve(x)
        half: list[Scalar] = self._L.numbers(x)
        return half

    def dot(self, x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
        """fᵀ H⁻¹ g, from the half-solutions of f and g."""
        total: Scalar = 0.0
        for a, d, b in zip(x, self._D, y, strict=True):
            total = total + a * (1.0 / d) * b
        return total

    def rooted(self, Y: Sequence[Sequence[Scalar]]) -> Sequence[Sequence[Scalar]]:
        """B = Y D^-½ with J H⁻¹ Jᵀ = B Bᵀ, from the half-solutions Y of the rows of J."""
        roots = [sqrt(1.0 / d) for d in self._D]
        return [[a * root for a, root in zip(y, roots, strict=True)] for y in Y]

    def unrooted(self, y: Sequence[Scalar]) -> Sequence[Scalar]:
        """Half-solution D^½ y of the force Jᵀ λ, for y = Bᵀ λ."""
        return [a * (d * sqrt(1.0 / d)) for a, d in zip(y, self._D, strict=True)]

    def gram(self, Y: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """J H⁻¹ Jᵀ, from the half-solutions Y of the rows of J."""
        G: list[list[Scalar]] = [[0.0] * len(Y) for _ in Y]
        for r, y in enumerate(Y):
            scaled = [a * (1.0 / d) for a, d in zip(y, self._D, strict=True)]
            for s in range(r + 1):
                for a, b in zip(scaled, Y[s], strict=True):
                    G[r][s] = G[r][s] + a * b
                G[s][r] = G[r][s]
        return G

    def rest(self, y: Sequence[Scalar]) -> list[Scalar]:
        """H⁻¹ f in the order of v, from the half-solution of f."""
        x = self._L.vector_of(y)
        self._restore(x)
        ltdl_rest(self._L, x)
        accelerations: list[Scalar] = self._L.in_v(x)
        return accelerations

    def nothing(self) -> list[Scalar]:
        """Half-solution of zero force."""
        return [0.0] * len(self._D)

    def _halve(self, x: Any) -> None:
        ltdl_half(self._L, x)

    def _restore(self, x: Any) -> None:
        """Turn the half-solution of f into L⁻ᵀ f, in place."""


class RootedHalves(HalfSolutions):
    """Half-solutions scaled to D^-½ L⁻ᵀ f: fᵀ H⁻¹ g is their dot product, and those of the rows of J are B.

    In loops over bodies, the scaling is a loop too; written out, it would scale more entries than the rows touch.
    """

    def dot(self, x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
        """fᵀ H⁻¹ g, from the half-solutions of f and g."""
        return dot(x, y)

    def rooted(self, Y: Sequence[Sequence[Scalar]]) -> Sequence[Sequence[Scalar]]:
        """B, from the half-solutions of the rows of J."""
        return Y

    def unrooted(self, y: Sequence[Scalar]) -> Sequence[Scalar]:
        """Half-solution of the force Jᵀ λ, for y = Bᵀ λ."""
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
