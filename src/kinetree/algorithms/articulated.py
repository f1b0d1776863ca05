"""Articulated-body inertias alone: the part of the articulated-body algorithm that depends only on q.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 7.1, passes 1 and 2 without their bias terms.
Names here <-> table: those of aba.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.expr import Scalar
from kinetree.spatial import LDLT, ArticulatedInertia, ForceBasis, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["Articulated", "articulated"]


class Articulated(NamedTuple):
    """Transforms, subspaces, U D⁻¹, the factors of D and articulated-body inertias, indexed by slot."""

    X: list[Any]
    S: list[Any]
    UD: list[Any]
    D: list[Any]
    IA: list[Any]


def articulated(tree: Tree, q: Sequence[Sequence[Scalar]]) -> Articulated:
    """Articulated bodies at one configuration; joints must not share coordinates."""
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G, U, UD = tree.slots(ForceBasis, 3)
    IA = tree.slots(ArticulatedInertia)
    D = tree.slots(LDLT)
    IA[0] = tree.I[0].articulated

    for i, _ in tree.outward:
        X_J, S[i], _, _ = tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv)
        X[i] = X_J @ tree.X_T[i]
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        IA[i] = tree.I[i].articulated

    for i, p in tree.inward:
        IS = S[i].carried_by(IA[i])
        SU = S[i].inertia(IS, tree.armature[i])
        D[i] = LDLT(SU)
        U[i] = IS + G[i]
        UD[i] = U[i].times_inverse(D[i], SU)
        Ia = S[i].freed(IA[i] - U[i].outer(UD[i]), tree.armature[i], G[i])
        IA[p] = IA[p] + X[i].back(Ia)

    return Articulated(X, S, UD, D, IA)
