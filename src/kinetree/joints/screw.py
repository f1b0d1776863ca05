"""Screw joints: one coordinate along any constant spatial motion (RBDA sections 2.9 and 4.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.errors import ModelError
from kinetree.expr import Scalar, cos, sin
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.helical import Helical
from kinetree.joints.prismatic import Prismatic
from kinetree.joints.revolute import Revolute, turn_about
from kinetree.joints.vectors import axis_name, rows_ending_in, three_numbers, unit_axis
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Transform, Vec3
from kinetree.spatial.mirror import mirror_image

__all__ = ["Screw"]

_FAR = 8.0
"""Distance to the line, in metres, beyond which 1 - cos q times it would show the cosine's rounding."""


class Screw(JointKind):
    """The rigid motion exp(q s) along a constant spatial motion s = (angular, linear), about the fixed side's origin.

    It is a displacement in any direction (angular zero), a rotation about any line, or a rotation with a displacement
    along it. q is an angle in radians, or a displacement in metres, if the angular part (or, where that is zero, the
    linear part) has length one; other lengths are kept, like a gear ratio. s is constant, and the same in the
    coordinates of both sides.

    Args:
        angular: ω (3,), the angular velocity at q̇ = 1.
        linear: v (3,), the velocity, at q̇ = 1, of the point at the fixed side's origin.

    Raises:
        ModelError: one of them is not three finite numbers, both are zero, or the angular part is so small relative to
            the linear part that the axis of rotation is too far away to represent.

    Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 2.9 and example 4.3.

    >>> import kinetree as kt
    >>> kt.joints.Screw(angular=[0, 0, 1], linear=[0, -0.5, 0]).description  # a hinge half a metre along x
    'screw about z through (0.5, 0, 0)'
    """

    nq = nv = 1

    def __init__(self, *, angular: Sequence[float] | Vec3, linear: Sequence[float] | Vec3) -> None:
        self.angular: Vec3 = three_numbers("Screw: angular", angular)
        self.linear: Vec3 = three_numbers("Screw: linear", linear)
        if not any((*self.angular.components(), *self.linear.components())):
            raise ModelError("Screw: angular and linear are both zero, which is not a motion; give one a direction")
        _, turning, p, advance = self._line()
        if not all(math.isfinite(x) for x in (turning, advance, float(p.dot(p)))):
            raise ModelError(
                f"Screw: angular {_shown(self.angular)} is tiny relative to linear {_shown(self.linear)}; make it zero "
                "for a displacement"
            )

    def __repr__(self) -> str:
        return f"Screw(angular={list(self.angular.components())}, linear={list(self.linear.components())})"

    @property
    def description(self) -> str:
        axis, turning, p, advance = self._line()
        if not turning:
            return f"screw along {axis_name(axis)}"
        through = f" through ({', '.join(f'{x + 0.0:.4g}' for x in p.components())})" if any(p.components()) else ""
        return f"screw about {axis_name(axis)}{through}" + (f", {advance / turning:.4g} m/rad" if advance else "")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("rad",) if any(self.angular.components()) else ("m",)

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        S = Subspace((Motion(self.angular, self.linear),))
        return JointMotion(self._placement(q[0]), S, S @ v, Motion.zero())

    def _placement(self, q: Scalar) -> Transform:
        axis, turning, p, advance = self._line()
        if not turning:
            return Transform(Mat3.identity(), self.linear * q)
        angle = q * turning
        X = turn_about(axis, angle)
        r = axis * (q * advance)
        if any(p.components()):
            # (1 - R) p, for a p perpendicular to the axis.
            half = sin(angle * 0.5)
            versine = half * half * 2.0 if float(p.dot(p)) > _FAR * _FAR else 1.0 - cos(angle)
            r = r + p * versine - axis.cross(p) * sin(angle)
        return Transform(X.E, r, X.turns, X.before)

    def _line(self) -> tuple[Vec3, float, Vec3, float]:
        """The unit direction, the length of ω, the point of the line nearest the origin, and v's component along it."""
        turning = _length(self.angular)
        if not turning:
            return _direction(self.linear), 0.0, Vec3.zero(), _length(self.linear)
        axis = _direction(self.angular)
        p = axis.cross(self.linear)
        return axis, turning, Vec3(*(x / turning + 0.0 for x in p.components())), float(axis.dot(self.linear)) + 0.0

    def aligned(self) -> tuple[JointKind, Transform]:
        """The same joint about z, with the origin on the line."""
        axis, turning, p, advance = self._line()
        kind = Screw(angular=(0.0, 0.0, turning), linear=(0.0, 0.0, advance))
        return kind, Transform(rows_ending_in(axis), p)

    def reversed(self) -> JointKind:
        return Screw(angular=-self.angular, linear=-self.linear)

    def mirrored(self, normal: int) -> JointKind:
        return Screw(angular=-mirror_image(self.angular, normal), linear=mirror_image(self.linear, normal))

    def scaled(self, length: float) -> JointKind:
        """For a pure displacement it is the coordinate that is scaled, as for a prismatic joint."""
        return Screw(angular=self.angular, linear=self.linear * length) if any(self.angular.components()) else self

    def unseen(self, inertia: Inertia) -> Inertia:
        """As for a prismatic, helical or revolute joint if the line passes through the origin; otherwise nothing."""
        axis, turning, p, advance = self._line()
        if any(p.components()):
            return Inertia.zero()
        if not turning:
            return Prismatic(axis).unseen(inertia)
        kind = Helical(axis, advance / turning) if advance else Revolute(axis)
        return kind.unseen(inertia)


def _direction(vector: Vec3) -> Vec3:
    """The unit vector in this direction, even where the squares of the components would underflow or overflow."""
    length = _length(vector)
    return unit_axis([float(x) / length for x in vector.components()])


def _length(vector: Vec3) -> float:
    return math.hypot(*map(float, vector.components()))


def _shown(vector: Vec3) -> str:
    return str(list(vector.components()))
