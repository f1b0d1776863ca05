"""Regressors: quantities linear in the bodies' inertias, as coefficients of each body's ten inertial parameters.

Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986); the
coefficients of one body's momentum and net force are those of `spatial/regressor.py`. A joint's motion is transformed
outward to the bodies rather than their forces back to the joint: one motion is six numbers, ten forces are sixty. Only
for a joint with more than three degrees of freedom, such as a floating base, are the forces transformed to the joint.
Bodies on fixed joints use the coefficients of the body they are fixed to: `Coefficients.of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kinetree.algorithms.kinematics import motions, placements, velocities
from kinetree.expr import Scalar, tanh
from kinetree.spatial import Coefficients, Force, ForceColumns, Mat3, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.tree import Tree

__all__ = [
    "drive_columns",
    "joint_torque_regressor",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "net_force_columns",
    "potential_energy_regressor",
]

Slots = Sequence[Sequence[Scalar]]


def joint_torque_regressor(
    tree: Tree, q: Slots, qd: Slots, qdd: Slots
) -> Iterator[tuple[int, Callable[[int], list[Coefficients]]]]:
    """For each joint j: (j, function from a body it carries to that body's coefficients in the forces of joint j).

    The function gives coefficients for each degree of freedom of the joint.
    """
    X, S, v, a = motions(tree, q, qd, qdd, -tree.gravity)
    force = tree.slots(ForceColumns)
    for i, _ in tree.outward:
        force[i] = ForceColumns.net(v[i], a[i])
    for j, _ in tree.outward:
        if tree.joint[j].nv > 3:
            placed = tree.slots(Transform)
            placed[j] = Transform.identity()
            for i, p in tree.behind(j):
                placed[i] = X[i] @ placed[p]  # ⁱX_j
            yield j, partial(_brought_back, force, placed, S[j])
        else:
            columns = tree.slots(tuple[Motion, ...])
            columns[j] = S[j].columns
            for i, p in tree.behind(j):
                columns[i] = tuple(X[i] @ s for s in columns[p])
            yield j, partial(_along, force, columns)


def _along(force: Sequence[ForceColumns], seen: Sequence[Sequence[Motion]], i: int) -> list[Coefficients]:
    """Coefficients of the force of body i along each of the motions, as seen from the body."""
    return [force[i].along(s) for s in seen[i]]


def _brought_back(force: Sequence[ForceColumns], seen: Sequence[Transform], S: Subspace, i: int) -> list[Coefficients]:
    """Coefficients of the force of body i, transformed to the joint, along the joint's motions."""
    forces = [seen[i].back(f) for f in force[i].columns()]
    return [Coefficients.of_ten([s.dot(f) for f in forces]) for s in S.columns]


def drive_columns(tree: Tree, qd: Slots, qdd: Slots, i: int) -> list[tuple[Scalar, Scalar, Scalar]]:
    """Coefficients of armature, damping and Coulomb friction in the force of each degree of freedom of joint i."""
    rows = zip(qd[i], qdd[i], tree.drive[i].friction_speed, strict=True)
    return [(acceleration, rate, tanh(rate / speed)) for rate, acceleration, speed in rows]


def momentum_regressor(tree: Tree, q: Slots, qd: Slots) -> list[list[Coefficients]]:
    """One list per slot: momentum about the world's origin in the world's axes, the linear part's three rows first."""
    X_0, v = placements(tree, q), velocities(tree, q, qd)
    rows = tree.slots(list[Coefficients])
    units = Mat3.identity()
    world = [
        *(Motion(Vec3.zero(), e) for e in (units.x, units.y, units.z)),
        *(Motion(e, Vec3.zero()) for e in (units.x, units.y, units.z)),
    ]
    rows[0] = [Coefficients.zero()] * 6
    for i, _ in tree.outward:
        momentum = ForceColumns.momentum(v[i])
        rows[i] = [momentum.along(X_0[i] @ s) for s in world]
    return rows


def kinetic_energy_regressor(tree: Tree, q: Slots, qd: Slots) -> list[Coefficients]:
    """T = m v.v / 2 + h . (v x ω) + ω . I ω / 2, slot by slot."""
    v = velocities(tree, q, qd)
    rows = tree.slots(Coefficients)
    rows[0] = Coefficients.zero()
    for i, _ in tree.outward:
        w, u = v[i].angular, v[i].linear
        half = w * 0.5
        rows[i] = Coefficients(
            0.5 * u.dot(u),
            u.cross(w),
            Sym3(half.x * w.x, half.y * w.y, half.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z),
        )
    return rows


def potential_energy_regressor(tree: Tree, q: Slots) -> list[Coefficients]:
    """V = -g . (m r + Eᵀ h), slot by slot, with r the body's origin in the world."""
    X_0 = placements(tree, q)
    rows = tree.slots(Coefficients)
    up = -tree.gravity.linear
    rows[0] = Coefficients(0.0, up, Sym3.zero())
    for i, _ in tree.outward:
        rows[i] = Coefficients(up.dot(X_0[i].r), X_0[i].E @ up, Sym3.zero())
    return rows


def net_force_columns(tree: Tree, q: Slots, qd: Slots, qdd: Slots, body: int, frame: Transform) -> list[Force]:
    """The ten columns of the force on a body, its weight excluded, in the coordinates of a frame on it."""
    _, _, v, a = motions(tree, q, qd, qdd, -tree.gravity)
    return ForceColumns.net(frame @ v[body], frame @ a[body]).columns()
