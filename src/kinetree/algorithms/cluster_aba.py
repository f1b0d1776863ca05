"""Articulated-body algorithm where joints share coordinates: the joints of a cluster are eliminated together.

Sources: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 7.1, joint by joint as in aba.py; for clusters
(tree/clusters.py) Jain, "Multibody graph transformations and analysis, part II", Nonlinear Dynamics 67 (2012), which
is the same elimination with the cluster's mass matrix Gᵀ H G in place of D. H, the mass matrix of its joints, comes
from the composite-rigid-body algorithm (Table 6.2) applied to articulated inertias.
Names here <-> tables:  those of aba.py and crba.py;  z <-> the cluster's coordinates, q̇ = G ż.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.expr import Scalar
from kinetree.spatial import LDLT, ArticulatedInertia, Force, ForceBasis, Motion, Subspace, Transform
from kinetree.tree import Cluster, Tree
from kinetree.tree.coordinate_map import Row

__all__ = ["cluster_aba"]


def cluster_aba(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    tau: Sequence[Sequence[Scalar]],
    f_ext: Mapping[int, Force] | None = None,
) -> list[Sequence[Scalar]]:
    """Accelerations due to joint forces tau and forces f_ext on bodies, in the bodies' own coordinates."""
    f_ext = f_ext or {}
    cluster_of = {i: cluster for cluster in tree.clusters for i in cluster.bodies}
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G, U, UD = tree.slots(ForceBasis, 3)
    v, c, a = tree.slots(Motion, 3)
    IA = tree.slots(ArticulatedInertia)
    pA, g = tree.slots(Force, 2)
    D = tree.slots(LDLT)
    u, qdd = tree.pieces(2)

    v[0], a[0] = Motion.zero(), -tree.gravity
    IA[0], pA[0] = ArticulatedInertia.zero(), Force.zero()

    # Pass 1, outward: velocities, velocity-product accelerations, rigid-body bias.
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        c[i] = c_J + v[i].cross(v_J)
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        g[i] = (v[i] - v_J).cross(G[i] @ qd[i])
        IA[i] = tree.I[i].articulated
        pA[i] = v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            pA[i] = pA[i] - f_ext[i]

    slots = _Slots(X, S, G, c, IA, pA, g)

    # Pass 2, inward: joint by joint; a cluster at its first body, after everything that it carries.
    for i, p in tree.inward:
        if i in cluster_of:
            cluster = cluster_of[i]
            if i == cluster.bodies[0]:
                k = cluster.base
                H, F, u[i], I_k, p_k = _joined(tree, cluster, slots, tau)
                D[i], U[i] = LDLT(H), F
                UD[i] = F.times_inverse(D[i], H)
                IA[k] = IA[k] + I_k - F.outer(UD[i])
                pA[k] = pA[k] + p_k + UD[i] @ u[i]
            continue
        IS = S[i].carried_by(IA[i])
        SU = S[i].inertia(IS, tree.armature[i])
        D[i] = LDLT(SU)
        U[i] = IS + G[i]
        UD[i] = U[i].times_inverse(D[i], SU)
        u[i] = [t - s + r for t, s, r in zip(tau[i], S[i].project(pA[i]), G[i].dot(c[i]), strict=True)]
        Ia = S[i].freed(IA[i] - U[i].outer(UD[i]), tree.armature[i], G[i])
        pa = pA[i] + g[i] + Ia @ c[i] + UD[i] @ u[i]
        IA[p] = IA[p] + X[i].back(Ia)
        pA[p] = pA[p] + X[i].back(pa)

    # Pass 3, outward: accelerations; those of a cluster's coordinates at its first body.
    for i, p in tree.outward:
        a_p = X[i] @ a[p] + c[i]
        if i not in cluster_of:
            qdd[i] = D[i].solve([u_k - s for u_k, s in zip(u[i], U[i].dot(a_p), strict=True)])
        elif i == cluster_of[i].bodies[0]:
            cluster = cluster_of[i]
            zdd = D[i].solve([u_k - s for u_k, s in zip(u[i], U[i].dot(a[cluster.base]), strict=True)])
            for j in cluster.bodies:
                qdd[j] = [sum((zdd[k] * x for k, x in row), 0.0) for row in cluster.rows[j]]
        a[i] = a_p + S[i] @ qdd[i]

    return qdd[1:]


class _Slots(NamedTuple):
    """Arrays of the passes that the elimination of a cluster reads, with the names of Table 7.1."""

    X: list[Transform]
    S: list[Subspace]
    G: list[ForceBasis]
    c: list[Motion]
    IA: list[ArticulatedInertia]
    pA: list[Force]
    g: list[Force]


def _joined(
    tree: Tree, cluster: Cluster, slots: _Slots, tau: Sequence[Sequence[Scalar]]
) -> tuple[list[list[Scalar]], ForceBasis, list[Scalar], ArticulatedInertia, Force]:
    """A cluster in the coordinates of its base: H, the forces F of unit accelerations z̈, the forces u left for z̈, and
    the inertia and bias force of all its bodies with its joints locked."""
    X, S, G, c, IA, pA, g = slots
    n = cluster.size
    H: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    F = [Force.zero()] * n
    u: list[Scalar] = [0.0] * n
    a = tree.slots(Motion)
    f = tree.slots(Force)
    Ic = tree.slots(ArticulatedInertia)
    a[cluster.base], f[cluster.base], Ic[cluster.base] = Motion.zero(), Force.zero(), ArticulatedInertia.zero()

    # Outward: accelerations with those of the base and z̈ zero, and the forces that they require.
    for i in cluster.bodies:
        a[i] = X[i] @ a[cluster.parent[i]] + c[i]
        f[i] = IA[i] @ a[i] + pA[i]
        Ic[i] = IA[i]

    # Inward: composite inertias, H by columns, and the terms passed to the base.
    for i in reversed(cluster.bodies):
        p, rows = cluster.parent[i], cluster.rows[i]
        rotor = G[i].dot(X[i] @ a[p])
        for row, t, s, r in zip(rows, tau[i], S[i].project(f[i]), rotor, strict=True):
            for k, x in row:
                u[k] = u[k] + (t - s - r) * x
        IS = S[i].carried_by(Ic[i])
        _add(H, rows, rows, S[i].inertia(IS, tree.armature[i]))
        Fi, j = IS + G[i], i
        while j != cluster.base:
            Fi, j = Fi.taken_back(X[j]), cluster.parent[j]
            if j != cluster.base:
                block = [S[j].project(column) for column in Fi.columns]  # Fᵀ S_j
                _add(H, rows, cluster.rows[j], block)
                _add(H, cluster.rows[j], rows, [list(column) for column in zip(*block, strict=True)])
        for row, column in zip(rows, Fi.columns, strict=True):
            for k, x in row:
                F[k] = F[k] + column * x
        Ic[p] = Ic[p] + X[i].back(Ic[i])
        f[p] = f[p] + X[i].back(f[i] + g[i])

    symmetric = [[H[max(k, l)][min(k, l)] for l in range(n)] for k in range(n)]
    return symmetric, ForceBasis(tuple(F)), u, Ic[cluster.base], f[cluster.base]


def _add(H: list[list[Scalar]], left: Sequence[Row], right: Sequence[Row], block: Sequence[Sequence[Scalar]]) -> None:
    """Add Gᵀ block G to H, for the block of two joints with these rows of G."""
    for row_a, numbers in zip(left, block, strict=True):
        for row_b, h in zip(right, numbers, strict=True):
            for k, x in row_a:
                for l, y in row_b:
                    H[k][l] = H[k][l] + h * (x * y)
