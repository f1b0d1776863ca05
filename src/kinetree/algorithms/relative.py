"""Motion of one body as seen from another, from only the joints between the two.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.1.4: a joint that supports both bodies is in
both κ(i) and κ(j) and moves both; one that supports only one of them moves that body or, as seen from it, the other
body the opposite way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.jacobian import joints_between, undone
from kinetree.expr import Scalar
from kinetree.spatial import Motion, Subspace, Transform
from kinetree.tree import Tree

__all__ = ["RelativeMotion", "relative_jacobian", "relative_motion", "relative_velocity", "seen_across"]

Slots = Sequence[Sequence[Scalar]]


def seen_across(tree: Tree, q: Slots, body: int, frame: Transform, other: int) -> list[Transform]:
    """Transforms from the coordinates of a frame on `body` to those of the bodies between it and `other`."""
    X = tree.slots(Transform)
    meeting = tree.meeting(body, other)
    X[body] = frame.inverse
    for i, p in tree.toward_root(body, meeting):
        X[p] = undone(_joint(tree, q, i), X[i])
    for i, p in tree.toward_tip(meeting, other):
        X[i] = _joint(tree, q, i) @ X[p]
    return X


def relative_jacobian(
    tree: Tree, q: Slots, body: int, other: int, seen: Sequence[Transform]
) -> list[tuple[Motion, ...]]:
    """Columns of `body` minus those of `other`, indexed by slot; only the joints between the two have any."""
    columns = tree.slots(tuple[Motion, ...])
    meeting = tree.meeting(body, other)
    for j, _ in tree.toward_root(body, meeting):
        columns[j] = tuple(seen[j].back(s) for s in _subspace(tree, q, j))
    for j, _ in tree.toward_root(other, meeting):
        columns[j] = tuple(-seen[j].back(s) for s in _subspace(tree, q, j))
    return columns


def relative_velocity(tree: Tree, q: Slots, qd: Slots, body: int, other: int, seen: Sequence[Transform]) -> Motion:
    """The twist of `body` minus that of `other`."""
    columns = relative_jacobian(tree, q, body, other, seen)
    v = tree.slots(Motion)
    v[0] = Motion.zero()
    for j, _ in joints_between(tree, body, other):
        v[0] = v[0] + Subspace(columns[j]) @ qd[j]
    return v[0]


class RelativeMotion(NamedTuple):
    """How a body moves as seen from another, in its own coordinates."""

    v: Motion
    a: Motion


def relative_motion(tree: Tree, q: Slots, qd: Slots, qdd: Slots, body: int, other: int) -> RelativeMotion:
    """The recursion of RBDA eqs. 5.7 and 5.8 with `other` at rest: backward to where the paths meet, then outward."""
    v, a = tree.slots(Motion, 2)
    meeting = tree.meeting(body, other)
    v[other], a[other] = Motion.zero(), Motion.zero()
    for i, p in tree.toward_root(other, meeting):
        X_J, S, v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X = X_J @ tree.X_T[i]
        v[p] = X.back(v[i] - v_J)
        a[p] = X.back(a[i] - (S @ qdd[i] + c_J + v[i].cross(v_J)))
    for i, p in tree.toward_tip(meeting, body):
        X_J, S, v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X = X_J @ tree.X_T[i]
        v[i] = X @ v[p] + v_J
        a[i] = X @ a[p] + S @ qdd[i] + c_J + v[i].cross(v_J)
    return RelativeMotion(v[body], a[body])


def _joint(tree: Tree, q: Slots, i: int) -> Transform:
    """ⁱX_λ(i)."""
    return tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv).X_J @ tree.X_T[i]


def _subspace(tree: Tree, q: Slots, i: int) -> tuple[Motion, ...]:
    return tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv).S.columns
