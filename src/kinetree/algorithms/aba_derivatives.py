"""Derivatives of forward dynamics: of q̈ with respect to q (by displacements), q̇ and τ.

H is the mass matrix and C the bias vector here, as in RBDA. H q̈ + C = τ holds at every q and q̇, so with the
derivatives of inverse dynamics at the acceleration q̈:

    ∂q̈/∂q = -H⁻¹ ∂τ/∂q,    ∂q̈/∂q̇ = -H⁻¹ ∂τ/∂q̇,    ∂q̈/∂τ = H⁻¹.

Source: Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS (2018), eq. 3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kinetree.algorithms.drives import driven, passive_derivatives
from kinetree.algorithms.forward_dynamics import by_mass_matrix
from kinetree.algorithms.mass_matrix_inverse import inverse_of_factors
from kinetree.algorithms.rnea_derivatives import rnea_derivatives
from kinetree.expr import Scalar
from kinetree.spatial import Force
from kinetree.tree import Tree

__all__ = ["aba_derivatives"]

Slots = Sequence[Sequence[Scalar]]


def aba_derivatives(
    tree: Tree,
    q: Slots,
    qd: Slots,
    tau: Slots,
    f_ext: Mapping[int, Force] | None = None,
    passive: Collection[str] = (),
) -> Sequence[Scalar] | None:
    """The three matrices, row by row, concatenated; f_ext are forces on bodies, in the bodies' own coordinates."""
    acting = driven(tree, q, qd, tau, passive, limits=False)
    accelerations, L = by_mass_matrix(tree, q, qd, acting, f_ext)
    qdd: Any = tree.in_slots(accelerations)

    # Joints that share coordinates have no columns of H of their own, so nothing can be kept apart.
    d = rnea_derivatives(tree, q, qd, qdd, f_ext, apart=tree.coordinates is None)
    by_q, by_v = passive_derivatives(tree, q, qd, passive)
    matrices = [(d.by_q - by_q).rows(), (d.by_v - by_v).rows()]
    return _solved(L, matrices, [d.along_q.places(), d.along_v.places()])


def _solved(
    L: Any, matrices: Sequence[list[list[Scalar]]], along: Sequence[Mapping[tuple[int, int], Scalar]]
) -> list[Scalar] | None:
    """-H⁻¹ B - A for each matrix B and its A, then H⁻¹, row by row; None if loops write it into the result."""
    rows = [[[-x for x in row] for row in matrix] for matrix in matrices]
    stored = L.stored()
    if stored is not None:
        stored.write(rows, along)
        return None
    inverse: list[Scalar] = inverse_of_factors(L).flat()
    flat: list[Scalar] = []
    for matrix, places in zip(rows, along, strict=True):
        n, columns = len(matrix), [*zip(*matrix, strict=True)]
        for i in range(n):
            row = inverse[i * n : (i + 1) * n]
            flat += [
                sum((h * x for h, x in zip(row, column, strict=True)), 0.0) - places.get((i, j), 0.0)
                for j, column in enumerate(columns)
            ]
    return flat + inverse
