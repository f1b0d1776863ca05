"""Forward kinematics: placements, velocities and accelerations of every body.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 5.2 (the outward pass of Table 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.expr import Scalar
from kinetree.spatial import Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["Motions", "accelerations", "motions", "placements", "velocities"]


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
    return motions(tree, q, qd, qdd, Motion.zero()).a


class Motions(NamedTuple):
    """The outward pass of Table 5.1, with the root's slot first; X and S have none for the root."""

    X: list[Transform]
    """ⁱX_λ(i)."""
    S: list[Subspace]
    v: list[Motion]
    a: list[Motion]


def motions(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    qdd: Sequence[Sequence[Scalar]],
    a_0: Motion,
) -> Motions:
    """How every body moves; the root is accelerated by a_0, in dynamics opposite to gravity."""
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    v, a = tree.slots(Motion, 2)
    v[0], a[0] = Motion.zero(), a_0
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        a[i] = X[i] @ a[p] + S[i] @ qdd[i] + c_J + v[i].cross(v_J)
    return Motions(X, S, v, a)
