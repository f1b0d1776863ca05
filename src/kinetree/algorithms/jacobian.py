"""Jacobians of a frame: its motion per unit joint rate, in any coordinates, and their time derivatives.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.1.4 and eq. 3.22: column j is S_j in the
requested coordinates, for each joint j that supports the body. Its rate is that of a motion vector that moves with body
j (section 2.10), with S̊ as its apparent derivative.

Coordinates C are given by `seen`: seen[j] leads from C to those of body j, so a column is `seen[j].back(s)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.algorithms.kinematics import placements
from kinetree.expr import Scalar
from kinetree.joints.derivatives import subspace_rate
from kinetree.spatial import Motion, Subspace, Transform, Vec3
from kinetree.tree import Tree

__all__ = [
    "aligned_columns",
    "bodies_seen",
    "body_jacobian",
    "jacobian",
    "jacobian_rate",
    "joints_between",
    "moved_column",
    "seen_about",
    "seen_from",
    "undone",
]


def body_jacobian(tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform) -> list[tuple[Motion, ...]]:
    """Columns of the joints that support `body`, indexed by slot, in the coordinates of a frame on it."""
    return jacobian(tree, q, body, seen_from(tree, q, body, frame))


def jacobian(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, seen: Sequence[Transform]
) -> list[tuple[Motion, ...]]:
    """Columns of the joints that support `body`, indexed by slot, in the coordinates that `seen` leads from."""
    columns = tree.slots(tuple[Motion, ...])
    for j, _ in tree.toward_root(body):
        S = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).S
        columns[j] = tuple(seen[j].back(s) for s in S.columns)
    return columns


def jacobian_rate(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    body: int,
    seen: Sequence[Transform],
    expressed_in: str,
) -> list[tuple[Motion, ...]]:
    """Time derivative of the columns, in coordinates that may themselves move.

    It is (V_j - V_C) x column + S̊_j, with V_C the velocity of the coordinates.
    """
    v = tree.slots(Motion)  # v[j]: of body j as seen from C
    rates = tree.slots(tuple[Motion, ...])
    columns = jacobian(tree, q, body, seen)
    v[body] = _from_coordinates(tree, body, columns, qd, expressed_in)
    for j, p in tree.toward_root(body):
        S_ring = subspace_rate(tree.joint[j], q[j], qd[j])
        rates[j] = tuple(
            v[j].cross(column) + seen[j].back(s) for column, s in zip(columns[j], S_ring.columns, strict=True)
        )
        v[p] = v[j] - Subspace(columns[j]) @ qd[j]
    return rates


def _from_coordinates(
    tree: Tree, body: int, columns: Sequence[tuple[Motion, ...]], qd: Sequence[Sequence[Scalar]], expressed_in: str
) -> Motion:
    """Velocity of the body as seen from the coordinates, which move with it, with its origin only, or not at all."""
    if expressed_in == "local":
        return Motion.zero()
    v = tree.slots(Motion)
    v[0] = Motion.zero()
    for j, _ in tree.toward_root(body):
        v[0] = v[0] + Subspace(columns[j]) @ qd[j]
    return v[0] if expressed_in == "world" else Motion(v[0].angular, Vec3.zero())


def bodies_seen(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform, expressed_in: str
) -> Sequence[Transform]:
    """Transforms from the coordinates of `expressed_in` to those of the bodies between the frame and the root."""
    if expressed_in == "local":
        return seen_from(tree, q, body, frame)
    X_0 = placements(tree, q)
    return X_0 if expressed_in == "world" else seen_about(tree, body, X_0, (frame @ X_0[body]).r)


def seen_from(tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform) -> list[Transform]:
    """Transforms from the coordinates of a frame on `body` to those of the bodies between it and the root."""
    X = tree.slots(Transform)
    X[body] = frame.inverse
    for j, p in tree.toward_root(body):
        X[p] = undone(tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).X_J @ tree.X_T[j], X[j])
    return X


def seen_about(tree: Tree, body: int, seen: Sequence[Transform], origin: Vec3, other: int = 0) -> list[Transform]:
    """Transforms from the same axes at another origin, for the bodies between `body` and `other` (default: root)."""
    X = tree.slots(Transform)
    for j, _ in joints_between(tree, body, other):
        X[j] = Transform(seen[j].E, seen[j].r - origin)
    return X


def aligned_columns(tree: Tree, q: Sequence[Sequence[Scalar]], X_0: Sequence[Transform]) -> list[tuple[Motion, ...]]:
    """Columns of all joints in the world's axes, each about the origin of the body that the joint moves."""
    columns = tree.slots(tuple[Motion, ...])
    for j, _ in tree.outward:
        S, R = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).S, X_0[j].E.T
        columns[j] = tuple(Motion(R @ s.angular, R @ s.linear) for s in S.columns)
    return columns


def moved_column(column: Motion, lever: Vec3) -> Motion:
    """A column in the same axes about another origin; the lever leads from there to where it was."""
    return Motion(column.angular, column.linear + lever.cross(column.angular))


def joints_between(tree: Tree, i: int, j: int) -> Iterator[tuple[int, int]]:
    """(k, λ(k)) for each joint k that moves only one of the bodies i and j: first those of i, each path root first."""
    meeting = tree.meeting(i, j)
    yield from tree.toward_tip(meeting, i)
    yield from tree.toward_tip(meeting, j)


def undone(X: Transform, Y: Transform) -> Transform:
    """X⁻¹ Y."""
    E = X.E.T.times(Y.E)
    return Transform(E, Y.r - E.T @ X.r)
