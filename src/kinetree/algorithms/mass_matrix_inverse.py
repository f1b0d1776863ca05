"""The inverse of the mass matrix, through its sparse factors: H⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 6.5: L⁻¹ has the sparsity of L, so an entry of
H⁻¹ is a sum over the degrees of freedom that both of its own hang on.
For most robots this is shorter than what Carpentier, "Analytical inverse of the joint space inertia matrix" (2018),
finds by articulated bodies: docs/algorithms/mass_matrix.md counts both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltdl import ltdl
from kinetree.expr import Scalar
from kinetree.model import Tree

__all__ = ["inverse_of_factors", "mass_matrix_inverse"]


def mass_matrix_inverse(tree: Tree, q: Sequence[Sequence[Scalar]]) -> Any:
    """The entries of H⁻¹; `flat()` has the whole matrix."""
    L: Any = crba(tree, q).sparse()
    ltdl(L)
    return inverse_of_factors(L)


def inverse_of_factors(L: Any) -> Any:
    """H⁻¹ from the factors of H, of which nothing is left."""
    # Y = L⁻¹, in place of L: row k by the rows above it, which are still those of L.
    Y = L
    for k in Y.inward:
        for i in Y.above(k):
            Y[k, i] = -Y[k, i]
            for j in Y.above(i):
                Y[k, j] = Y[k, j] + Y[k, i] * Y[i, j]

    # H⁻¹ = Y D⁻¹ Yᵀ, row by row; w is a row of Y D⁻¹.
    Z = Y.result()
    for k in Y.outward:
        w = Y.zeros()
        w[k] = 1.0 / Y[k, k]
        for i in Y.above(k):
            w[i] = Y[k, i] * (1.0 / Y[i, i])
        for j in Y.before(k):
            Z[k, j] = w[j]
            for i in Y.above(j):
                Z[k, j] = Z[k, j] + Y[j, i] * w[i]

    return Z
