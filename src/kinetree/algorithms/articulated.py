"""Articulated-body inertias alone: the part of the articulated-body algorithm that depends only on q.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 7.1, passes 1 and 2 without their bias terms.
Names here <-> table: those of aba.py.

Articulated-body bias forces with gravity among the forces: f = Iᴬ a + pᴬ for accelerations as they are.

Table 7.1 of Featherstone, *Rigid Body Dynamics Algorithms* (2008), leaves gravity out of pᴬ and lets the root
accelerate upward instead: its accelerations are a - ⁱX_0 a_g. So Iᴬ (a - ⁱX_0 a_g) + pᴬ is Iᴬ a + (pᴬ - Iᴬ ⁱX_0 a_g).
Names here <-> table:  those of aba.py;  falling <-> a_g in each body's coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.aba import ArticulatedBodies, articulated_bodies
from kinetree.expr import Scalar
from kinetree.spatial import LDLT, ArticulatedInertia, Force, ForceBasis, Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["Articulated", "articulated", "articulated_bias"]


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


Pieces = Sequence[Sequence[Scalar]]


def articulated_bias(
    tree: Tree, q: Pieces, qd: Pieces, tau: Pieces, f_ext: Mapping[int, Force] | None = None
) -> ArticulatedBodies:
    """The quantities of Table 7.1 after its second pass, gravity included: pA, and u = τ - Sᵀ pA + Gᵀ c."""
    f_root = (f_ext or {}).get(0, Force.zero())
    bodies = articulated_bodies(tree, q, qd, tau, f_ext, f_root=f_root)
    falling = tree.slots(Motion)
    pA = tree.slots(Force)
    u = tree.pieces()
    falling[0] = tree.gravity
    pA[0] = bodies.pA[0] - bodies.IA[0] @ tree.gravity
    for i, p in tree.outward:
        falling[i] = bodies.X[i] @ falling[p]
        pA[i] = bodies.pA[i] - bodies.IA[i] @ falling[i]
        u[i] = [u_k + x for u_k, x in zip(bodies.u[i], bodies.U[i].dot(falling[i]), strict=True)]
    return bodies._replace(pA=pA, u=u)
