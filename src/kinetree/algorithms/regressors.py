"""Regressors: quantities linear in the bodies' inertias, as coefficients of each body's ten inertial parameters.

Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986), in the
symbols of RBDA chapter 2. A body's parameters are the mass m, the first moment h = m c and the inertia I about its own
origin. Its momentum and the net force on it then both have the form

    f = m d + W h,    n = h x d + B I,    with I as the six numbers xx, yy, zz, xy, xz, yz

    momentum I v              d = v             W = ω x                 B I = I ω
    net force I a + v x* I v  d = a + ω x v     W = α x + ω x ω x       B I = I α + ω x I ω

with (ω, v) the velocity and (α, a) the spatial acceleration minus gravity; d in the second row is the classical
acceleration. Along a motion (s_ω, s_v) such a force has the coefficients s_v . d of m, Wᵀ s_v + d x s_ω of h, and s_ωᵀ
B of I. A joint's motion is transformed outward to the bodies rather than their forces back to the joint: one motion is
six numbers, ten forces are sixty. Only for a joint with more than three degrees of freedom, such as a floating base,
are the forces transformed to the joint. Bodies on fixed joints use the coefficients of the body they are fixed to:
`Coefficients.of`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from kinetree.algorithms.kinematics import placements, velocities
from kinetree.expr import Scalar, tanh
from kinetree.spatial import Force, Mat3, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.tree import Tree

__all__ = [
    "Coefficients",
    "ForceColumns",
    "drive_columns",
    "joint_torque_regressor",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "net_force_columns",
    "potential_energy_regressor",
]

Slots = Sequence[Sequence[Scalar]]


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients of a number that is linear in a body's inertia: value = mass m + h . h + Σ I_k I_k.

    `I` has a coefficient for each of the six distinct entries, so those off the diagonal stand for two.
    """

    mass: Scalar
    h: Vec3
    I: Sym3

    @staticmethod
    def zero() -> Coefficients:
        return Coefficients(0.0, Vec3.zero(), Sym3.zero())

    @staticmethod
    def of_ten(numbers: Sequence[Scalar]) -> Coefficients:
        """The inverse of `ten`."""
        mass, hx, hy, hz, xx, xy, yy, xz, yz, zz = numbers
        return Coefficients(mass, Vec3(hx, hy, hz), Sym3(xx, yy, zz, xy, xz, yz))

    def of(self, X: Transform) -> Coefficients:
        """Those of a body that X places on this one, in its frame: the dual of X.back of an inertia (RBDA eq. 2.66)."""
        R, r, I = X.E.T, X.r, self.I
        # In <J, I>, J = 1/2 of the entries off the diagonal; g = (tr J 1 - J) r.
        xy, xz, yz = (-0.5 * x for x in (I.xy, I.xz, I.yz))
        g = Sym3(I.yy + I.zz, I.xx + I.zz, I.xx + I.yy, xy, xz, yz) @ r
        J = Sym3(I.xx, I.yy, I.zz, -xy, -xz, -yz).rotated(R.T)
        return Coefficients(
            self.mass + r.dot(self.h + g),
            R.T @ (self.h + g * 2.0),
            Sym3(J.xx, J.yy, J.zz, 2.0 * J.xy, 2.0 * J.xz, 2.0 * J.yz),
        )

    def ten(self) -> tuple[Scalar, ...]:
        """The coefficients in the order m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz."""
        I = self.I
        return (self.mass, *self.h.components(), I.xx, I.xy, I.yy, I.xz, I.yz, I.zz)


@dataclass(frozen=True, slots=True)
class ForceColumns:
    """A force that is linear in a body's inertia: d, W and the columns of B, in the order xx, yy, zz, xy, xz, yz."""

    d: Vec3
    W: Mat3
    B: tuple[Vec3, Vec3, Vec3, Vec3, Vec3, Vec3]

    @staticmethod
    def momentum(v: Motion) -> ForceColumns:
        """The momentum I v."""
        x, y, z = v.angular.components()
        return ForceColumns(
            v.linear,
            Mat3.skew(v.angular),
            (
                Vec3(x, 0.0, 0.0), Vec3(0.0, y, 0.0), Vec3(0.0, 0.0, z),
                Vec3(y, x, 0.0), Vec3(z, 0.0, x), Vec3(0.0, z, y),
            ),
        )  # fmt: skip

    @staticmethod
    def net(v: Motion, a: Motion) -> ForceColumns:
        """The net force I a + v x* I v."""
        x, y, z = v.angular.components()
        ax, ay, az = a.angular.components()
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        xy_less, xz_less, yz_less = xy - az, xz - ay, yz - ax
        xy_more, xz_more, yz_more = xy + az, xz + ay, yz + ax
        return ForceColumns(
            a.linear + v.angular.cross(v.linear),
            Mat3(
                Vec3(-(yy + zz), xy_less, xz_more),
                Vec3(xy_more, -(xx + zz), yz_less),
                Vec3(xz_less, yz_more, -(xx + yy)),
            ),
            (
                Vec3(ax, xz, -xy), Vec3(-yz, ay, xy), Vec3(yz, -xz, az),
                Vec3(-xz_less, yz_more, xx - yy), Vec3(xy_more, zz - xx, -yz_less), Vec3(yy - zz, -xy_less, xz_more),
            ),
        )  # fmt: skip

    def along(self, s: Motion) -> Coefficients:
        """Coefficients of the force's component s . f."""
        return Coefficients(
            s.linear.dot(self.d),
            self.W.T @ s.linear + self.d.cross(s.angular),
            Sym3(*(s.angular.dot(column) for column in self.B)),
        )

    def columns(self) -> list[Force]:
        """The force per unit of each of the ten parameters, in the order of `Coefficients.ten`."""
        x, y, z = self.d.components()
        T = self.W.T
        xx, yy, zz, xy, xz, yz = (Force(n, Vec3.zero()) for n in self.B)
        return [
            Force(Vec3.zero(), self.d),
            Force(Vec3(0.0, -z, y), T.x), Force(Vec3(z, 0.0, -x), T.y), Force(Vec3(-y, x, 0.0), T.z),
            xx, xy, yy, xz, yz, zz,
        ]  # fmt: skip


def joint_torque_regressor(
    tree: Tree, q: Slots, qd: Slots, qdd: Slots
) -> Iterator[tuple[int, Callable[[int], list[Coefficients]]]]:
    """For each joint j: (j, function from a body it carries to that body's coefficients in the forces of joint j).

    The function gives coefficients for each degree of freedom of the joint.
    """
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    v, a = tree.slots(Motion, 2)
    force = tree.slots(ForceColumns)
    v[0], a[0] = Motion.zero(), -tree.gravity
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        a[i] = X[i] @ a[p] + S[i] @ qdd[i] + c_J + v[i].cross(v_J)
        force[i] = ForceColumns.net(v[i], a[i])
    for j, _ in tree.outward:
        if tree.joint[j].nv > 3:
            placed = tree.slots(Transform)
            placed[j] = Transform.identity()
            for i, p in tree.behind(j):
                placed[i] = X[i] @ placed[p]  # ⁱX_j
            yield j, partial(_brought_back, force, placed, S[j])
        else:
            seen = tree.slots(tuple[Motion, ...])
            seen[j] = S[j].columns
            for i, p in tree.behind(j):
                seen[i] = tuple(X[i] @ s for s in seen[p])
            yield j, partial(_along, force, seen)


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
    v, a = tree.slots(Motion, 2)
    v[0], a[0] = Motion.zero(), -tree.gravity
    for i, p in tree.outward:
        X_J, S, v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X = X_J @ tree.X_T[i]
        v[i] = X @ v[p] + v_J
        a[i] = X @ a[p] + S @ qdd[i] + c_J + v[i].cross(v_J)
    return ForceColumns.net(frame @ v[body], frame @ a[body]).columns()
