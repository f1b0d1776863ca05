"""Recursive Newton-Euler algorithm: inverse dynamics in O(n).

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 5.1.
Names here <-> table:  p <-> λ(i),  X[i] <-> ⁱX_λ(i).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.expr import Scalar
from kinetree.model import Tree
from kinetree.spatial import Force, Motion

__all__ = ["rnea"]


def rnea(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    qdd: Sequence[Sequence[Scalar]],
    f_ext: Mapping[int, Force] | None = None,
) -> list[Sequence[Scalar]]:
    """The joint forces τ that give accelerations qdd; f_ext are the forces on bodies, in their own coordinates."""
    f_ext = f_ext or {}
    X, S, v, a, f, tau = tree.slots(6)

    v[0], a[0], f[0] = Motion.zero(), -tree.gravity, Force.zero()

    # Pass 1, outward: velocities, accelerations, and the forces that they take.
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        a[i] = X[i] @ a[p] + S[i] @ qdd[i] + c_J + v[i].cross(v_J)
        f[i] = tree.I[i] @ a[i] + v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            f[i] = f[i] - f_ext[i]

    # Pass 2, inward: joint forces, and what each body hands to its parent.
    for i, p in tree.inward:
        rotor = [armature * qdd_k for armature, qdd_k in zip(tree.armature[i], qdd[i], strict=True)]
        tau[i] = [s + r for s, r in zip(S[i].project(f[i]), rotor, strict=True)]
        f[p] = f[p] + X[i].back(f[i])

    return tau[1:]
