"""Articulated-body algorithm: forward dynamics in O(n).

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 7.1.
Names here <-> table:  p <-> λ(i),  X[i] <-> ⁱX_λ(i),  IA, pA <-> Iᴬ, pᴬ,  Ia, pa <-> Iᵃ, pᵃ,  UD <-> U D⁻¹.
Geared rotors (section 9.6) spin on the parent: G is their momentum at unit rates, g the force that turning it takes. G
is added to U, as their joint feels the parent's acceleration and the parent feels their reaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kinetree.expr import Scalar
from kinetree.spatial import LDLT, ArticulatedInertia, Force, ForceBasis, Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["ArticulatedBodies", "aba", "articulated_bodies"]

Pieces = Sequence[Sequence[Scalar]]
_NO_FORCE = Force.zero()


class ArticulatedBodies(NamedTuple):
    """The quantities of Table 7.1 after its second pass, indexed by slot. Gravity is not among the forces."""

    X: list[Transform]
    S: list[Subspace]
    c: list[Motion]
    U: list[ForceBasis]
    D: list[LDLT]
    u: list[Sequence[Scalar]]
    IA: list[ArticulatedInertia]
    pA: list[Force]


def articulated_bodies(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    f_ext: Mapping[int, Force] | None = None,
    held: Collection[int] = (),
    f_root: Force = _NO_FORCE,
) -> ArticulatedBodies:
    """The first two passes. The joints of the bodies `held` are not eliminated: these bodies pass nothing on.

    The force on the root is given separately, since only who asks for the root's own bias force needs it.
    """
    f_ext, held = f_ext or {}, tree.some(held) if held else held
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G, U, UD = tree.slots(ForceBasis, 3)
    v, c = tree.slots(Motion, 2)
    IA = tree.slots(ArticulatedInertia)
    pA, g = tree.slots(Force, 2)
    D = tree.slots(LDLT)
    u = tree.pieces()

    v[0] = Motion.zero()
    IA[0], pA[0] = tree.I[0].articulated, -f_root

    # Pass 1, outward: velocities, velocity-product accelerations, rigid-body bias.
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        c[i] = c_J + v[i].cross(v_J)
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        g[i] = (v[i] - v_J).cross(G[i] @ qd[i])
        IA[i] = tree.I[i].articulated
        pA[i] = v[i].cross(tree.I[i] @ v[i])  # v x* I v
        if i in f_ext:
            pA[i] = pA[i] - f_ext[i]

    # Pass 2, inward: articulated-body inertias and bias forces.
    for i, p in tree.inward:
        if i in held:
            continue
        IS = S[i].carried_by(IA[i])
        SU = S[i].inertia(IS, tree.armature[i])
        D[i] = LDLT(SU)  # D = Sᵀ U
        U[i] = IS + G[i]
        UD[i] = U[i].times_inverse(D[i], SU)
        u[i] = [t - s + r for t, s, r in zip(tau[i], S[i].project(pA[i]), G[i].dot(c[i]), strict=True)]
        Ia = S[i].freed(IA[i] - U[i].outer(UD[i]), tree.armature[i], G[i])  # Iᵃ S = 0
        pa = pA[i] + g[i] + Ia @ c[i] + UD[i] @ u[i]
        IA[p] = IA[p] + X[i].back(Ia)  # λX*_i Iᵃ ⁱX_λ
        pA[p] = pA[p] + X[i].back(pa)

    return ArticulatedBodies(X, S, c, U, D, u, IA, pA)


def aba(
    tree: Tree, q: Pieces, qd: Pieces, tau: Pieces, f_ext: Mapping[int, Force] | None = None
) -> list[Sequence[Scalar]]:
    """Accelerations due to joint forces tau and forces f_ext on bodies, in the bodies' own coordinates."""
    X, S, c, U, D, u, _, _ = articulated_bodies(tree, q, qd, tau, f_ext)  # passes 1 and 2
    a = tree.slots(Motion)
    qdd = tree.pieces()
    a[0] = -tree.gravity

    # Pass 3, outward: accelerations.
    for i, p in tree.outward:
        a_p = X[i] @ a[p] + c[i]  # a'
        qdd[i] = D[i].solve([u_k - s for u_k, s in zip(u[i], U[i].dot(a_p), strict=True)])
        a[i] = a_p + S[i] @ qdd[i]

    return qdd[1:]
