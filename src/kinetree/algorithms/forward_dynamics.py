"""Forward dynamics of any tree: by articulated bodies, in clusters where joints share coordinates, or as one system.

The system, with the coordinates z that joints share, q = G z + b, is (Gᵀ H G) z̈ = Gᵀ (τ - C): dense, but its factors
keep the tree's zeros (Featherstone, *Rigid Body Dynamics Algorithms* (2008), sections 6.1, 6.5 and 8.5).
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
from kinetree.model import Tree
from kinetree.spatial import Force

__all__ = ["by_mass_matrix", "forward_dynamics", "unbalanced"]

Slots = Sequence[Sequence[Scalar]]


def forward_dynamics(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    tau: Sequence[Sequence[Scalar]],
    f_ext: Mapping[int, Force] | None = None,
) -> Sequence[Sequence[Scalar]]:
    """The accelerations that joint forces tau give; f_ext are the forces on bodies, in their own coordinates."""
    if tree.coordinates is None:
        return aba(tree, q, qd, tau, f_ext)
    if tree.clusters:
        return cluster_aba(tree, q, qd, tau, f_ext)
    return by_mass_matrix(tree, q, qd, tau, f_ext)[0]


def by_mass_matrix(
    tree: Tree, q: Slots, qd: Slots, tau: Slots, f_ext: Mapping[int, Force] | None = None
) -> tuple[Slots, Any]:
    """The accelerations, and the factors of the mass matrix that they were solved with."""
    L: Any = crba(tree, q).sparse()
    x = L.vector(unbalanced(tree, q, qd, tau, f_ext))
    ltdl(L)
    ltdl_solve(L, x)
    return L.pieces(x), L


def unbalanced(tree: Tree, q: Slots, qd: Slots, tau: Slots, f_ext: Mapping[int, Force] | None = None) -> Any:
    """τ - C, what is left of the joint forces to accelerate; with slot 0."""
    C: Any = tree.in_slots(rnea(tree, q, qd, tree.at_rest(), f_ext))
    (u,) = tree.slots(1)
    for i, _ in tree.outward:
        u[i] = [t - c for t, c in zip(tau[i], C[i], strict=True)]
    return u
