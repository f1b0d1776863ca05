"""Recursive Newton-Euler algorithm: inverse dynamics in O(n).

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 5.1.
Names here <-> table:  p <-> λ(i),  X[i] <-> ⁱX_λ(i).
Geared rotors (section 9.6) spin on the parent: G is their momentum at unit rates, g the force they require.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.expr import Scalar
from kinetree.spatial import Force, ForceBasis, Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["rnea"]


def rnea(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    qdd: Sequence[Sequence[Scalar]],
    f_ext: Mapping[int, Force] | None = None,
) -> list[Sequence[Scalar]]:
    """Joint forces τ that give accelerations qdd, with forces f_ext on bodies, in the bodies' own coordinates."""
    f_ext = f_ext or {}
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G = tree.slots(ForceBasis)
    v, a = tree.slots(Motion, 2)
    f, g = tree.slots(Force, 2)
    rotor, tau = tree.pieces(2)

    v[0], a[0], f[0] = Motion.zero(), -tree.gravity, Force.zero()

    # Pass 1, outward: velocities, accelerations, and the forces that they require.
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        a_p = X[i] @ a[p]
        a[i] = a_p + S[i] @ qdd[i] + c_J + v[i].cross(v_J)
        f[i] = tree.I[i] @ a[i] + v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            f[i] = f[i] - f_ext[i]
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        g[i] = G[i] @ qdd[i] + (v[i] - v_J).cross(G[i] @ qd[i])
        rotor[i] = [A * x + r for A, x, r in zip(tree.armature[i], qdd[i], G[i].dot(a_p), strict=True)]

    # Pass 2, inward: joint forces, and what each body passes to its parent.
    for i, p in tree.inward:
        tau[i] = [s + r for s, r in zip(S[i].project(f[i]), rotor[i], strict=True)]
        f[p] = f[p] + X[i].back(f[i] + g[i])

    return tau[1:]
