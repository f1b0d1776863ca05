"""Inverse dynamics of a floating base: the accelerations of all other joints are given, and the base's are computed.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 9.5, Table 9.6.
Names here <-> table:  those of rnea.py;  Ic, f <-> Iᶜ, pᶜ,  base <-> joint 1, the floating base's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinetree.expr import Scalar
from kinetree.spatial import LDLT, Force, ForceBasis, Inertia, Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["floating_inverse_dynamics"]

Slots = Sequence[Sequence[Scalar]]


def floating_inverse_dynamics(
    tree: Tree,
    q: Slots,
    qd: Slots,
    qdd: Slots,
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
