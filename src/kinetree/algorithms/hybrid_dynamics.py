"""Hybrid dynamics: forces are given for some joints and accelerations for the others; the rest is computed.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 9.2: the articulated-body algorithm (Table 7.1)
in which only joints with given forces are eliminated; and, where joints share coordinates, eq. 9.1 by the mass matrix.
Names here <-> book:  those of aba.py;  H, C <-> the mass matrix and the bias vector.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kinetree.algorithms.crba import crba
from kinetree.algorithms.rnea import rnea
from kinetree.expr import Scalar
from kinetree.spatial import LDLT, ArticulatedInertia, Force, ForceBasis, Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["hybrid_dynamics", "hybrid_system"]

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
    free = [k for k in reversed(range(n)) if k not in prescribed]  # tips first, for less fill-in

    accelerations: list[Scalar] = list(given)
    left = [forces[k] - C[k] - sum((H[k * n + j] * given[j] for j in held), 0.0) for k in free]
    for k, x in zip(free, LDLT([[H[k * n + j] for j in free] for k in free]).solve(left), strict=True):
        accelerations[k] = x
    for k in held:
        forces[k] = C[k] + sum((H[k * n + j] * accelerations[j] for j in range(n)), 0.0)
    return tree.split(accelerations, "nv")[1:], tree.split(forces, "forces")[1:]
