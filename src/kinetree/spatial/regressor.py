"""Quantities linear in a body's inertia, as coefficients of its ten inertial parameters.

Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986), in the
symbols of RBDA chapter 2. A body's parameters are the mass m, the first moment h = m c and the inertia I about its own
origin. Its momentum and the net force on it then both have the form

    f = m d + W h,    n = h x d + B I,    with I as the six numbers xx, yy, zz, xy, xz, yz

    momentum I v              d = v             W = ω x                 B I = I ω
    net force I a + v x* I v  d = a + ω x v     W = α x + ω x ω x       B I = I α + ω x I ω

with (ω, v) the velocity and (α, a) the spatial acceleration minus gravity; d in the second row is the classical
acceleration. Along a motion (s_ω, s_v) such a force has the coefficients s_v . d of m, Wᵀ s_v + d x s_ω of h, and s_ωᵀ
B of I.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial.motion_force import Force, Motion
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["Coefficients", "ForceColumns"]


@record(frozen=True, slots=True)
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
        """For a body that X places on this one, in its frame: the dual of X.back of an inertia (RBDA eq. 2.66)."""
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


@record(frozen=True, slots=True)
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
