"""Forward dynamics of any tree: by articulated bodies, in clusters where joints share coordinates, or as one system.

With the coordinates z that joints share, q = G z + b, the system is (Gᵀ H G) z̈ = Gᵀ (τ - C): dense, but its factors
keep the tree's zeros (Featherstone, *Rigid Body Dynamics Algorithms* (2008), sections 6.1, 6.5 and 8.5). H is the mass
matrix and C the bias vector here, as in RBDA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinetree.algorithms.aba import aba
from kinetree.algorithms.cluster_aba import cluster_aba
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltdl import ltdl, ltdl_solve
from kinetree.algorithms.rnea import rnea
from kinetree.expr import Scalar
from kinetree.spatial import Force
from kinetree.tree import Tree

__all__ = ["by_mass_matrix", "forward_dynamics", "unbalanced"]

Slots = Sequence[Sequence[Scalar]]


def forward_dynamics(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    tau: Sequence[Sequence[Scalar]],
    f_ext: Mapping[int, Force] | None = None,
) -> Sequence[Sequence[Scalar]]:
    """Accelerations due to joint forces tau and forces f_ext on bodies, in the bodies' own coordinates."""
    if tree.coordinates is None:
        return aba(tree, q, qd, tau, f_ext)
    if tree.clusters:
        return cluster_aba(tree, q, qd, tau, f_ext)
    return by_mass_matrix(tree, q, qd, tau, f_ext)[0]


def by_mass_matrix(
    tree: Tree, q: Slots, qd: Slots, tau: Slots, f_ext: Mapping[int, Force] | None = None
) -> tuple[Slots, Any]:
    """The accelerations, and the factors of the mass matrix used to find them."""
    L: Any = crba(tree, q).sparse()
    x = L.vector(unbalanced(tree, q, qd, tau, f_ext))
    ltdl(L)
    ltdl_solve(L, x)
    return L.pieces(x), L


def unbalanced(tree: Tree, q: Slots, qd: Slots, tau: Slots, f_ext: Mapping[int, Force] | None = None) -> Any:
    """τ - C, the joint forces left for acceleration; includes slot 0."""
    C: Any = tree.in_slots(rnea(tree, q, qd, tree.at_rest(), f_ext))
    u = tree.pieces()
    for i, _ in tree.outward:
        u[i] = [t - c for t, c in zip(tau[i], C[i], strict=True)]
    return u
