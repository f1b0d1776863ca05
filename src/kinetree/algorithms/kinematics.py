"""Forward kinematics: placements, velocities and accelerations of every body.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 5.2 (the outward pass of Table 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.spatial import Motion, Transform
from kinetree.tree import Tree

__all__ = ["accelerations", "placements", "velocities"]


def placements(tree: Tree, q: Sequence[Sequence[Scalar]]) -> list[Transform]:
    """ⁱX_0: from the world's coordinates to those of each body, the root's slot first."""
    X_0 = tree.slots(Transform)
    X_0[0] = Transform.identity()
    for i, p in tree.outward:
        X_J = tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv).X_J
        X_0[i] = X_J @ tree.X_T[i] @ X_0[p]
    return X_0


def velocities(tree: Tree, q: Sequence[Sequence[Scalar]], qd: Sequence[Sequence[Scalar]]) -> list[Motion]:
    """The spatial velocity of each body, in its own coordinates, the root's slot first."""
    v = tree.slots(Motion)
    v[0] = Motion.zero()
    for i, p in tree.outward:
        X_J, _, v_J, _ = tree.joint[i].calc(q[i], qd[i])
        v[i] = X_J @ tree.X_T[i] @ v[p] + v_J
    return v


def accelerations(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    qdd: Sequence[Sequence[Scalar]],
) -> list[Motion]:
    """The spatial acceleration of each body, in its own coordinates, gravity left out; the root's slot first."""
    v, a = tree.slots(Motion, 2)
    v[0] = a[0] = Motion.zero()
    for i, p in tree.outward:
        X_J, S, v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X = X_J @ tree.X_T[i]
        v[i] = X @ v[p] + v_J
        a[i] = X @ a[p] + S @ qdd[i] + c_J + v[i].cross(v_J)
    return a
