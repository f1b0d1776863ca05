"""Jacobians of a frame: its motion for each joint rate, in any coordinates, and how they change as the robot moves.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.1.4 and eq. 3.22: column j is S_j in the
coordinates asked for, for each joint j that supports the body. Its rate is that of a motion that moves with body j,
section 2.10, with S̊ as its apparent derivative.

Coordinates C are given by `seen`: seen[j] leads from C to body j's, so a column is `seen[j].back(s)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.kinematics import placements
from kinetree.expr import Scalar
from kinetree.model import Tree
from kinetree.model.joints.derivatives import subspace_rate
from kinetree.spatial import Motion, Subspace, Transform, Vec3

__all__ = [
    "bodies_seen",
    "body_jacobian",
    "jacobian",
    "jacobian_rate",
    "joints_between",
    "seen_about",
    "seen_from",
    "undone",
]


def body_jacobian(tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform) -> list[tuple[Motion, ...]]:
    """The columns of the joints that support `body`, a place a slot, in the coordinates of a frame on it."""
    return jacobian(tree, q, body, seen_from(tree, q, body, frame))


def jacobian(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, seen: Sequence[Transform]
) -> list[tuple[Motion, ...]]:
    """The columns of the joints that support `body`, a place a slot, in the coordinates that `seen` leads from."""
    (columns,) = tree.slots(1)
    for j, _ in tree.toward_root(body):
        S = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).S
        columns[j] = tuple(seen[j].back(s) for s in S.columns)
    found: list[tuple[Motion, ...]] = columns
    return found


def jacobian_rate(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    body: int,
    seen: Sequence[Transform],
    expressed_in: str,
) -> list[tuple[Motion, ...]]:
    """The derivative of the columns by time, as they are in coordinates that may move along.

    With V_C the velocity of the coordinates themselves: (V_j - V_C) x column + S̊_j.
    """
    v, rates = tree.slots(2)  # v[j]: of body j as seen from C
    columns = jacobian(tree, q, body, seen)
    v[body] = _from_coordinates(tree, body, columns, qd, expressed_in)
    for j, p in tree.toward_root(body):
        S_ring = subspace_rate(tree.joint[j], q[j], qd[j])
        rates[j] = tuple(
            v[j].cross(column) + seen[j].back(s) for column, s in zip(columns[j], S_ring.columns, strict=True)
        )
        v[p] = v[j] - Subspace(columns[j]) @ qd[j]
    found: list[tuple[Motion, ...]] = rates
    return found


def _from_coordinates(
    tree: Tree, body: int, columns: Sequence[tuple[Motion, ...]], qd: Sequence[Sequence[Scalar]], expressed_in: str
) -> Motion:
    """The velocity of the body as seen from the coordinates: they go with it, or with its origin only, or not."""
    if expressed_in == "local":
        return Motion.zero()
    (v,) = tree.slots(1)
    v[0] = Motion.zero()
    for j, _ in tree.toward_root(body):
        v[0] = v[0] + Subspace(columns[j]) @ qd[j]
    velocity: Motion = v[0]
    return velocity if expressed_in == "world" else Motion(velocity.angular, Vec3.zero())


def bodies_seen(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform, expressed_in: str
) -> Sequence[Transform]:
    """From the frame's own coordinates ("local"), the "world"'s, or such at the frame's origin, to those of the bodies
    between it and the root."""
    if expressed_in == "local":
        return seen_from(tree, q, body, frame)
    X_0 = placements(tree, q)
    return X_0 if expressed_in == "world" else seen_about(tree, body, X_0, (frame @ X_0[body]).r)


def seen_from(tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform) -> list[Transform]:
    """From the coordinates of a frame on `body` to those of the bodies between it and the root."""
    (X,) = tree.slots(1)
    X[body] = frame.inverse
    for j, p in tree.toward_root(body):
        X[p] = undone(tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).X_J @ tree.X_T[j], X[j])
    found: list[Transform] = X
    return found


def seen_about(tree: Tree, body: int, seen: Sequence[Transform], origin: Vec3, other: int = 0) -> list[Transform]:
    """The same axes at another origin, for the bodies between `body` and `other`, the root if it is not given."""
    (X,) = tree.slots(1)
    for j, _ in joints_between(tree, body, other):
        X[j] = Transform(seen[j].E, seen[j].r - origin)
    found: list[Transform] = X
    return found


def joints_between(tree: Tree, i: int, j: int) -> Iterator[tuple[int, int]]:
    """(k, λ(k)) for each joint k that moves one of the bodies i and j and not the other: those of i, then those of j;
    of each the root's side first."""
    meeting = tree.meeting(i, j)
    yield from tree.toward_tip(meeting, i)
    yield from tree.toward_tip(meeting, j)


def undone(X: Transform, Y: Transform) -> Transform:
    """X⁻¹ Y."""
    E = X.E.T.times(Y.E)
    return Transform(E, Y.r - E.T @ X.r)
