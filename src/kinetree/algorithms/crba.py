"""Composite-rigid-body algorithm: the joint-space inertia matrix H.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 6.2.
Names here <-> table:  Ic <-> Iᶜ,  j runs up the path from i to the root.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.model import Tree

__all__ = ["crba"]


def crba(tree: Tree, q: Sequence[Sequence[Scalar]]) -> dict[tuple[int, int], list[list[Scalar]]]:
    """The blocks H[i, j] for each j on the path from joint i to the root; the others are zero or transposes."""
    X, S = tree.slots(2)
    Ic = list(tree.I)
    H: dict[tuple[int, int], list[list[Scalar]]] = {}

    for i, _ in tree.outward:
        rest = [0.0] * tree.joint[i].nv
        X_J, S[i], _, _ = tree.joint[i].calc(q[i], rest)
        X[i] = X_J @ tree.X_T[i]

    for i, p in tree.inward:
        Ic[p] = Ic[p] + X[i].back(Ic[i])
        F = S[i].carried_by(Ic[i])
        H[i, i] = S[i].inertia(F, tree.armature[i])
        j = i
        while tree.parent[j] != 0:
            F = F.taken_back(X[j])
            j = tree.parent[j]
            H[i, j] = [S[j].project(column) for column in F.columns]  # Fᵀ S_j

    return H
