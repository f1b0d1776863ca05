"""The Coriolis matrix C of H q̈ + C q̇ + g = τ (H is the mass matrix, as in RBDA), with Ḣ - 2 C skew-symmetric.

Source: Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body
systems", J. Comput. Nonlinear Dyn. 16 (2021), algorithm 1, in the bodies' own coordinates.
Names here <-> paper:  Ic, Bc <-> Iᶜ, Bᶜ,  Sd <-> Ṡ,  the rate of S as the joint moves (S̊) and is carried along at v,
F_B, F_I, F <-> the forces whose products with S_j and Ṡ_j are a row of C, and with S_j a column.
G is the momentum of geared rotors at unit rates (RBDA section 9.6), fixed in the parent. Its rate Gd = v_p x* G is
split equally between the column of the rotor's joint and the columns of the joints that carry the parent, as B does
with a body's momentum.

C is not unique. With a different B for each body, the same recursion gives the matrix that the Jacobians of links sum
to (euler_lagrange.py), in O(n d) instead of O(n d²) for paths of length d; Gd then belongs to the rotor's column alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.expr import Scalar
from kinetree.joints.derivatives import subspace_rate
from kinetree.spatial import CoriolisInertia, Force, ForceBasis, Inertia, Motion, Subspace, Transform
from kinetree.tree import JointSquare, Tree

__all__ = ["coriolis_matrix", "coriolis_matrix_of_links"]


def coriolis_matrix(tree: Tree, q: Sequence[Sequence[Scalar]], qd: Sequence[Sequence[Scalar]]) -> JointSquare:
    """The blocks C[i, j] and C[j, i] for each j on the path from joint i to the root; the others are zero."""
    return _recursion(tree, q, qd, CoriolisInertia.of, 0.5)


def coriolis_matrix_of_links(tree: Tree, q: Sequence[Sequence[Scalar]], qd: Sequence[Sequence[Scalar]]) -> JointSquare:
    """The blocks of the C of `euler_lagrange_matrices`; inertias must not be regrouped, as it depends on each."""
    return _recursion(tree, q, qd, CoriolisInertia.about_center, 1.0)


def _recursion(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    B: Callable[[Inertia, Motion], CoriolisInertia],
    part: float,
) -> JointSquare:
    """The recursion for a given B, and the part of Gd that goes to the rotor's column; the rest goes to its row."""
    X = tree.slots(Transform)
    S, Sd = tree.slots(Subspace, 2)
    G, by_row, by_column = tree.slots(ForceBasis, 3)
    h = tree.slots(Force)
    v = tree.slots(Motion)
    Ic = tree.slots(Inertia)
    Bc = tree.slots(CoriolisInertia)
    C = tree.square()

    v[0] = Motion.zero()
    S[0] = Sd[0] = Subspace(())
    Ic[0], Bc[0] = tree.I[0], CoriolisInertia.zero()

    for i, p in tree.outward:
        X_J, S[i], v_J, _ = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v_p = X[i] @ v[p]
        v[i] = v_p + v_J
        Sd[i] = subspace_rate(tree.joint[i], q[i], qd[i]) + S[i].crossed_by(v[i])  # S̊ + v x S
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        turned = [v_p.cross(n) for n in G[i].columns]
        by_row[i], by_column[i] = (ForceBasis(tuple(n * x for n in turned)) for x in (1.0 - part, part))
        h[i] = G[i] @ qd[i] * (1.0 - part)
        Ic[i], Bc[i] = tree.I[i], B(tree.I[i], v[i])

    for i, p in tree.inward:
        Ic[p] = Ic[p] + X[i].back(Ic[i])
        Bc[p] = Bc[p] + X[i].back(Bc[i] + CoriolisInertia.spinning(h[i]))
        F_B, F_I, F = tree.slots(ForceBasis, 3)
        IS = S[i].carried_by(Ic[i])
        BS = ForceBasis(tuple(Bc[i].transposed_times(s) for s in S[i].columns))
        forces = S[i].carried_by(Bc[i]) + Sd[i].carried_by(Ic[i])
        C[i, i] = S[i].inertia(forces)
        F_B[i], F_I[i], F[i] = BS + by_row[i], IS + G[i], forces + by_column[i]
        for j, k in tree.toward_root(i):
            F_B[k], F_I[k], F[k] = (f[j].taken_back(X[j]) for f in (F_B, F_I, F))
            C[k, i] = S[k].inertia(F[k])
            C[i, k] = [
                [s.dot(b) + sd.dot(f) for s, sd in zip(S[k].columns, Sd[k].columns, strict=True)]
                for b, f in zip(F_B[k].columns, F_I[k].columns, strict=True)
            ]

    return C
