"""Hybrid dynamics: forces are given for some joints and accelerations for the others; the rest is computed.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008): section 9.2, the articulated-body algorithm (Table 7.1)
in which only joints with given forces are eliminated; and section 9.5, Table 9.6, for a floating base with prescribed
accelerations of all other joints.
Names here <-> book:  those of aba.py and rnea.py;  Ic, f <-> Iᶜ, pᶜ,  base <-> joint 1 of a floating base.
H is the mass matrix and C the bias vector here, as in RBDA.
H is the mass matrix and C the bias vector here, as in RBDA.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kinetree.algorithms.crba import crba
from kinetree.algorithms.rnea import rnea
from kinetree.expr import Scalar
from kinetree.spatial import LDLT, ArticulatedInertia, Force, ForceBasis, Inertia, Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["floating_inverse_dynamics", "hybrid_dynamics", "hybrid_system"]

Pieces = Sequence[Sequence[Scalar]]


def hybrid_dynamics(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    qdd: Pieces,
    prescribed: Collection[int],
    f_ext: Mapping[int, Force] | None = None,
) -> tuple[list[Sequence[Scalar]], list[Sequence[Scalar]]]:
    """Accelerations and joint forces of all joints, given qdd for those in `prescribed` and tau for the others."""
    f_ext, prescribed = f_ext or {}, tree.some(prescribed)
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G, U, UD = tree.slots(ForceBasis, 3)
    v, c, a = tree.slots(Motion, 3)
    IA = tree.slots(ArticulatedInertia)
    pA, g = tree.slots(Force, 2)
    D = tree.slots(LDLT)
    u, qdd_all, tau_all = tree.pieces(3)

    v[0], a[0] = Motion.zero(), -tree.gravity
    IA[0], pA[0] = ArticulatedInertia.zero(), Force.zero()

    # Pass 1, outward: as in Table 7.1; a prescribed joint's acceleration is added to c, its rotors' force to g.
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        c[i] = c_J + v[i].cross(v_J)
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        g[i] = (v[i] - v_J).cross(G[i] @ qd[i])
        if i in prescribed:
            c[i] = c[i] + S[i] @ qdd[i]
            g[i] = g[i] + G[i] @ qdd[i]
        IA[i] = tree.I[i].articulated
        pA[i] = v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            pA[i] = pA[i] - f_ext[i]

    # Pass 2, inward: a prescribed joint passes on all of its body's inertia (eq. 9.4), any other joint Iᵃ.
    for i, p in tree.inward:
        Ia, pa = IA[i], pA[i] + g[i]
        if i not in prescribed:
            IS = S[i].carried_by(IA[i])
            SU = S[i].inertia(IS, tree.armature[i])
            D[i] = LDLT(SU)
            U[i] = IS + G[i]
            UD[i] = U[i].times_inverse(D[i], SU)
            u[i] = [t - s + r for t, s, r in zip(tau[i], S[i].project(pA[i]), G[i].dot(c[i]), strict=True)]
            Ia = S[i].freed(IA[i] - U[i].outer(UD[i]), tree.armature[i], G[i])
            pa = pa + UD[i] @ u[i]
        pa = pa + Ia @ c[i]
        IA[p] = IA[p] + X[i].back(Ia)
        pA[p] = pA[p] + X[i].back(pa)

    # Pass 3, outward: accelerations, and the forces of prescribed joints.
    for i, p in tree.outward:
        a_p = X[i] @ a[p]
        a[i] = a_p + c[i]
        if i in prescribed:
            rotor = [A * x + r for A, x, r in zip(tree.armature[i], qdd[i], G[i].dot(a_p), strict=True)]
            f = IA[i] @ a[i] + pA[i]
            qdd_all[i] = qdd[i]
            tau_all[i] = [s + r for s, r in zip(S[i].project(f), rotor, strict=True)]
        else:
            qdd_all[i] = D[i].solve([u_k - s for u_k, s in zip(u[i], U[i].dot(a[i]), strict=True)])
            tau_all[i] = tau[i]
            a[i] = a[i] + S[i] @ qdd_all[i]

    return qdd_all[1:], tau_all[1:]


def hybrid_system(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    qdd: Pieces,
    prescribed: Collection[int],
    f_ext: Mapping[int, Force] | None = None,
) -> tuple[Sequence[Sequence[Scalar]], Sequence[Sequence[Scalar]]]:
    """Hybrid dynamics as one system, for joints that share coordinates; `prescribed` lists degrees of freedom.

    H q̈ + C = τ is partitioned into prescribed and free rows and columns (section 9.2, eq. 9.1).
    """
    H, C = crba(tree, q).flat(), tree.joined(rnea(tree, q, qd, tree.at_rest(), f_ext), "forces")
    forces, given = list(tree.joined(tau[1:], "forces")), tree.joined(qdd[1:], "nv")
    n = len(C)
    held = sorted(prescribed)
    free = [k for k in reversed(range(n)) if k not in prescribed]  # tips first, as in `JointBlocks.solve`

    found: list[Scalar] = list(given)
    left = [forces[k] - C[k] - sum((H[k * n + j] * given[j] for j in held), 0.0) for k in free]
    for k, x in zip(free, LDLT([[H[k * n + j] for j in free] for k in free]).solve(left), strict=True):
        found[k] = x
    for k in held:
        forces[k] = C[k] + sum((H[k * n + j] * found[j] for j in range(n)), 0.0)
    return tree.split(found, "nv")[1:], tree.split(forces, "forces")[1:]


def floating_inverse_dynamics(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    qdd: Pieces,
    base: int,
    tau_base: Sequence[Scalar],
    f_ext: Mapping[int, Force] | None = None,
) -> tuple[list[Sequence[Scalar]], list[Sequence[Scalar]]]:
    """Accelerations and joint forces of all joints, given tau_base for joint `base` and qdd for the others."""
    f_ext, floating = f_ext or {}, tree.some({base})
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G = tree.slots(ForceBasis)
    v, a = tree.slots(Motion, 2)
    f, g = tree.slots(Force, 2)
    Ic = tree.slots(Inertia)
    rotor = tree.pieces()
    da = tree.slots(Motion)
    qdd_all, tau_all = tree.pieces(2)
    no_motion: Any = [0.0] * tree.joint[base].nv

    v[0], a[0], f[0], Ic[0] = Motion.zero(), -tree.gravity, Force.zero(), tree.I[0]

    # Pass 1, outward: as in inverse dynamics (Table 5.1), with zero acceleration of the base's own coordinates.
    for i, p in tree.outward:
        x = no_motion if i in floating else qdd[i]
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        a_p = X[i] @ a[p]
        a[i] = a_p + S[i] @ x + c_J + v[i].cross(v_J)
        Ic[i] = tree.I[i]
        f[i] = tree.I[i] @ a[i] + v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            f[i] = f[i] - f_ext[i]
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        g[i] = G[i] @ x + (v[i] - v_J).cross(G[i] @ qd[i])
        rotor[i] = [A * x_k + r for A, x_k, r in zip(tree.armature[i], x, G[i].dot(a_p), strict=True)]

    # Pass 2, inward: total inertia and force of each body and everything it carries.
    for i, p in tree.inward:
        Ic[p] = Ic[p] + X[i].back(Ic[i])
        f[p] = f[p] + X[i].back(f[i] + g[i])

    # The base: (Sᵀ Iᶜ S) q̈ = τ - Sᵀ pᶜ (eq. 9.13).
    D = LDLT(S[base].inertia(S[base].carried_by(Ic[base]), tree.armature[base]))
    own = zip(tau_base, S[base].project(f[base]), rotor[base], strict=True)
    qdd_all[base] = D.solve([t - s - r for t, s, r in own])
    tau_all[base], da[base] = tau_base, S[base] @ qdd_all[base]

    # Pass 3, outward: all bodies move along with the base.
    for i, p in tree.outward:
        if i in floating:
            continue
        da[i] = X[i] @ da[p]
        own = zip(S[i].project(f[i] + Ic[i] @ da[i]), rotor[i], G[i].dot(da[i]), strict=True)
        qdd_all[i], tau_all[i] = qdd[i], [s + r + d for s, r, d in own]

    return qdd_all[1:], tau_all[1:]
