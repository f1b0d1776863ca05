"""Derivatives of inverse dynamics: of τ with respect to q (by displacements), q̇ and q̈.

Source: Singh, Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector
algebra", IEEE RA-L 7 (2022), in the bodies' own coordinates and for joints whose subspace may depend on q.
Names here <-> paper:  I_C, B_C <-> Iᶜ, 2 Bᶜ,  f_C <-> fᶜ.

A displacement along a degree of freedom changes the velocity of every body behind its joint by the same motion dv (the
paper's Ψ̇), and the force on it by I da + 2 B dv, where da (Ψ̈) is also the same for all: the change of its
acceleration, except for the terms that turn with the body. The same holds for a rate, with dv = S. So composite
inertias give the forces on everything behind a joint at once. Geared rotors (RBDA section 9.6): G is their momentum at
unit rates, fixed in the parent. H is the mass matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.expr import Scalar, is_zero
from kinetree.joints.derivatives import bias_derivatives, subspace_derivatives
from kinetree.spatial import CoriolisInertia, Force, ForceBasis, Inertia, Motion, Subspace, Transform
from kinetree.tree import JointDiagonal, JointSquare, Tree

__all__ = ["RneaDerivatives", "rnea_derivatives"]


class RneaDerivatives(NamedTuple):
    """Derivatives of τ: block (i, j) is that of joint i by joint j."""

    by_q: JointSquare
    by_v: JointSquare
    H: JointSquare
    """The derivative by q̈: the mass matrix."""
    along_q: JointDiagonal
    along_v: JointDiagonal
    """The parts kept apart from the first two, if requested, which then lack H times these."""


def rnea_derivatives(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    qdd: Sequence[Sequence[Scalar]],
    f_ext: Mapping[int, Force] | None = None,
    *,
    apart: bool = False,
) -> RneaDerivatives:
    """Derivatives of the joint forces that give qdd, with forces f_ext on bodies, in the bodies' own coordinates.

    The part of da along the joint's own axes acts as q̈ does, through the joint's columns of H. Keeping it `apart`
    saves operations: for a free body's displacement, nothing else is left.
    """
    f_ext = f_ext or {}
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    dS = tree.slots(list[Subspace])
    G = tree.slots(ForceBasis)
    v_p, v, a = tree.slots(Motion, 3)
    f_C = tree.slots(Force)
    I_C = tree.slots(Inertia)
    B_C = tree.slots(CoriolisInertia)
    by_q, by_v = tree.slots(Changes, 2)
    d_q, d_v, H = tree.square(), tree.square(), tree.square()
    along_q, along_v = tree.diagonal(), tree.diagonal()

    v[0], a[0], f_C[0], I_C[0], B_C[0] = Motion.zero(), -tree.gravity, Force.zero(), tree.I[0], CoriolisInertia.zero()
    S[0] = Subspace(())
    by_q[0] = by_v[0] = Changes(S[0], S[0])

    # Pass 1, outward: the motion, the forces it requires, and how displacements and rates of each joint change it.
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v_p[i], a_p = X[i] @ v[p], X[i] @ a[p]
        v[i] = v_p[i] + v_J
        a[i] = a_p + S[i] @ qdd[i] + c_J + v[i].cross(v_J)
        I_C[i], B_C[i] = tree.I[i], CoriolisInertia.of(tree.I[i] + tree.I[i], v[i])
        f_C[i] = tree.I[i] @ a[i] + v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            f_C[i] = f_C[i] - f_ext[i]
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        dS[i] = subspace_derivatives(tree.joint[i], q[i])
        dc_q, dc_v = bias_derivatives(tree.joint[i], q[i], qd[i])
        by_q[i] = _displaced(S[i], dS[i], dc_q, v_p[i], v[i], a_p, qd[i], qdd[i])
        by_v[i] = Changes(S[i], S[i].crossed_by(v_p[i]) + S[i].crossed_by(v[i]) + Subspace(tuple(dc_v)))
        if apart and all(map(is_zero, (*tree.armature[i], *G[i].numbers()))):  # rotors feel q̈, not da
            along_q[i], rest_q = S[i].parted(by_q[i].da)
            along_v[i], rest_v = S[i].parted(by_v[i].da)
            by_q[i], by_v[i] = Changes(by_q[i].dv, rest_q), Changes(by_v[i].dv, rest_v)

    # Pass 2, inward: the effect of a change in each joint on itself and on those that carry it, and theirs on it.
    for i, p in tree.inward:
        f_q = by_q[i].da.carried_by(I_C[i]) + by_q[i].dv.carried_by(B_C[i])
        f_v = by_v[i].da.carried_by(I_C[i]) + by_v[i].dv.carried_by(B_C[i])
        IS, BS = S[i].carried_by(I_C[i]), ForceBasis(tuple(B_C[i].transposed_times(s) for s in S[i].columns))
        d_q[i, i] = _sum(S[i].inertia(f_q), _transposed([ds.project(f_C[i]) for ds in dS[i]]))
        d_v[i, i] = S[i].inertia(f_v)
        H[i, i] = S[i].inertia(IS, tree.armature[i])

        # Seen from the parent: everything behind the joint turns with it, and rotors stay.
        f_q = f_q + ForceBasis(tuple(s.cross(f_C[i]) for s in S[i].columns))
        turned = ForceBasis(tuple(v_p[i].cross(n) for n in G[i].columns))
        f_v, IS, BS = f_v + turned, IS + G[i], BS + turned
        for j, k in tree.toward_root(i):
            f_q, f_v, IS, BS = (F.taken_back(X[j]) for F in (f_q, f_v, IS, BS))
            d_q[k, i], d_v[k, i], H[k, i] = S[k].inertia(f_q), S[k].inertia(f_v), S[k].inertia(IS)
            d_q[i, k] = _sum(_paired(BS, by_q[k].dv), _paired(IS, by_q[k].da))
            d_v[i, k] = _sum(_paired(BS, by_v[k].dv), _paired(IS, by_v[k].da))
            H[i, k] = _transposed(S[k].inertia(IS))

        h = G[i] @ qd[i]
        I_C[p] = I_C[p] + X[i].back(I_C[i])
        B_C[p] = B_C[p] + X[i].back(B_C[i] + CoriolisInertia.spinning(h))
        f_C[p] = f_C[p] + X[i].back(f_C[i] + G[i] @ qdd[i] + v_p[i].cross(h))

    return RneaDerivatives(d_q, d_v, H, along_q, along_v)


class Changes(NamedTuple):
    """Effects of a change along each degree of freedom on the motion of all bodies behind the joint."""

    dv: Subspace
    da: Subspace


def _displaced(
    S: Subspace,
    dS: Sequence[Subspace],
    dc: Sequence[Motion],
    v_p: Motion,
    v: Motion,
    a_p: Motion,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> Changes:
    """Changes by displacements: the parent's motion is seen from axes that turn, and S may depend on q."""
    dv = S.crossed_by(v_p) + Subspace(tuple(ds @ qd for ds in dS))
    own = Subspace(tuple(ds @ qdd + c + v.cross(ds @ qd) for ds, c in zip(dS, dc, strict=True)))
    return Changes(dv, S.crossed_by(a_p) + dv.crossed_by(v_p) + own)


def _paired(forces: ForceBasis, motions: Subspace) -> list[list[Scalar]]:
    """Products of forces and motions: one row per force, one column per motion."""
    return [[m.dot(f) for m in motions.columns] for f in forces.columns]


def _transposed(rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _sum(a: Sequence[Sequence[Scalar]], b: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]
