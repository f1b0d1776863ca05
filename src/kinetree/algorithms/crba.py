"""Composite-rigid-body algorithm: the mass matrix, called H here as in RBDA.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 6.2.
Names here <-> table:  Ic <-> Iᶜ,  j runs up the path from i to the root, k <-> λ(j).
G is the momentum of geared rotors at unit rates (section 9.6); they spin on the parent.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.spatial import ForceBasis, Inertia, Subspace, Transform
from kinetree.tree import JointBlocks, Tree

__all__ = ["crba"]


def crba(tree: Tree, q: Sequence[Sequence[Scalar]]) -> JointBlocks:
    """The blocks H[i, j] for each j on the path from joint i to the root; the others are zero or transposes."""
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G = tree.slots(ForceBasis)
    Ic = tree.slots(Inertia)
    H = tree.blocks()

    S[0], Ic[0] = Subspace(()), tree.I[0]

    for i, _ in tree.outward:
        rest = [0.0] * tree.joint[i].nv
        X_J, S[i], _, _ = tree.joint[i].calc(q[i], rest)
        X[i] = X_J @ tree.X_T[i]
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        Ic[i] = tree.I[i]

    for i, p in tree.inward:
        Ic[p] = Ic[p] + X[i].back(Ic[i])
        F = tree.slots(ForceBasis)
        IS = S[i].carried_by(Ic[i])
        H[i, i] = S[i].inertia(IS, tree.armature[i])
        F[i] = IS + G[i]
        for j, k in tree.toward_root(i):
            F[k] = F[j].taken_back(X[j])
            H[i, k] = [S[k].project(column) for column in F[k].columns]  # Fᵀ S_k; empty at the root

    return H
