"""Motion of the centre of mass, passed inward like the first moment, so that a leaf's share is rotated once per joint.

Source: the time derivatives of Σ m c / Σ m. Seen from the fixed side of a joint, a point c behind it gains the velocity
v + ω x c, and the acceleration a + α x c + ω x (2 ċ + ω x c), where ċ is its velocity as seen from the moving side.

Names here: m[i], h[i] <-> mass and first moment of body i and all bodies behind it, divided by the total mass, in body
i's coordinates; L[i], A[i] <-> the first and second time derivatives of h[i] as seen from body i.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.spatial import Mat3, Vec3
from kinetree.tree import Tree

__all__ = ["center_of_mass_acceleration", "center_of_mass_jacobian", "center_of_mass_velocity"]


def center_of_mass_jacobian(tree: Tree, q: Sequence[Sequence[Scalar]], total_mass: Scalar) -> list[tuple[Vec3, ...]]:
    """Velocity of the centre of mass per unit joint rate, in the world's axes, indexed by slot."""
    E_0 = tree.slots(Mat3)
    m = tree.scalars()
    h = tree.slots(Vec3)
    columns = tree.slots(tuple[Vec3, ...])
    part = 1.0 / total_mass
    E_0[0], m[0], h[0] = Mat3.identity(), tree.I[0].mass * part, tree.I[0].h * part
    for i, p in tree.outward:
        X = tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv).X_J @ tree.X_T[i]
        E_0[i] = X.E.times(E_0[p])
        m[i], h[i] = tree.I[i].mass * part, tree.I[i].h * part
    for i, p in tree.inward:
        X_J, S, _, _ = tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv)
        X = X_J @ tree.X_T[i]
        columns[i] = tuple(E_0[i].T @ (s.linear * m[i] + s.angular.cross(h[i])) for s in S.columns)
        m[p], h[p] = m[p] + m[i], h[p] + X.E.T @ h[i] + X.r * m[i]
    return columns


def center_of_mass_velocity(
    tree: Tree, q: Sequence[Sequence[Scalar]], qd: Sequence[Sequence[Scalar]], total_mass: Scalar
) -> Vec3:
    """Velocity of the centre of mass, in the world's axes."""
    m = tree.scalars()
    h, L = tree.slots(Vec3, 2)
    part = 1.0 / total_mass
    m[0], h[0], L[0] = tree.I[0].mass * part, tree.I[0].h * part, Vec3.zero()
    for i, _ in tree.outward:
        m[i], h[i], L[i] = tree.I[i].mass * part, tree.I[i].h * part, Vec3.zero()
    for i, p in tree.inward:
        X_J, _, v_J, _ = tree.joint[i].calc(q[i], qd[i])
        X = X_J @ tree.X_T[i]
        L[p] = L[p] + X.E.T @ (L[i] + v_J.linear * m[i] + v_J.angular.cross(h[i]))
        m[p], h[p] = m[p] + m[i], h[p] + X.E.T @ h[i] + X.r * m[i]
    return L[0]


def center_of_mass_acceleration(
    tree: Tree,
    q: Sequence[Sequence[Scalar]],
    qd: Sequence[Sequence[Scalar]],
    qdd: Sequence[Sequence[Scalar]],
    total_mass: Scalar,
) -> Vec3:
    """Acceleration of the centre of mass, in the world's axes."""
    m = tree.scalars()
    h, L, A = tree.slots(Vec3, 3)
    part = 1.0 / total_mass
    m[0], h[0], L[0], A[0] = tree.I[0].mass * part, tree.I[0].h * part, Vec3.zero(), Vec3.zero()
    for i, _ in tree.outward:
        m[i], h[i], L[i], A[i] = tree.I[i].mass * part, tree.I[i].h * part, Vec3.zero(), Vec3.zero()
    for i, p in tree.inward:
        X_J, S, v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X = X_J @ tree.X_T[i]
        w, a_J = v_J.angular, S @ qdd[i] + c_J
        a = a_J.linear + w.cross(v_J.linear)  # classical (eq. 2.45)
        turning = w.cross(h[i])
        A[p] = A[p] + X.E.T @ (A[i] + a * m[i] + a_J.angular.cross(h[i]) + w.cross(L[i] * 2.0 + turning))
        L[p] = L[p] + X.E.T @ (L[i] + v_J.linear * m[i] + turning)
        m[p], h[p] = m[p] + m[i], h[p] + X.E.T @ h[i] + X.r * m[i]
    acceleration: Vec3 = A[0]
    return acceleration
