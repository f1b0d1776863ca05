"""Revolute and continuous joints: one angle about an axis (RBDA table 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kinetree.expr import Scalar, cos, sin
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.one_axis import OneAxisJoint
from kinetree.spatial import Inertia, Motion, Subspace, Sym3, Transform, Turn, Vec3
from kinetree.spatial.rotations import from_axis_angle

__all__ = ["Continuous", "Revolute", "thin_rod", "turn_about"]


class Revolute(OneAxisJoint):
    """An angle q, in radians, about a fixed axis."""

    word: ClassVar[str] = "revolute about"
    unit: ClassVar[str] = "rad"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        S = Subspace((Motion(self.axis, Vec3.zero()),))
        X_J = turn_about(self.axis, q[0])
        return JointMotion(X_J, S, S @ v, Motion.zero())

    def unseen(self, inertia: Inertia) -> Inertia:
        """The mass, the part of h along the axis, and equal moments of inertia across it."""
        return Inertia(inertia.mass, self.axis * inertia.h.dot(self.axis), thin_rod(self.axis, inertia).I)


class Continuous(Revolute):
    """A revolute joint without end stops: its one angle is unbounded."""

    word: ClassVar[str] = "continuous about"

    def aligned(self) -> tuple[JointKind, Transform]:
        kind, turn = super().aligned()
        return (Revolute((0.0, 0.0, 1.0)) if type(self) is Continuous else kind), turn  # they move alike


def turn_about(axis: Vec3, angle: Scalar) -> Transform:
    """A rotation about a unit axis, computed the cheap way if that is a coordinate axis."""
    for k, component in enumerate(axis.components()):
        if component in (-1.0, 1.0):
            return Transform.turning(Turn(k, sin(angle) * component, cos(angle)))
    return Transform(from_axis_angle(axis, angle).T, Vec3.zero())


def thin_rod(axis: Vec3, inertia: Inertia) -> Inertia:
    """The inertia of a thin rod along a coordinate axis, without its mass; zero for any other axis.

    No rotation about the axis and no translation changes it. Subtracted from the body's, it leaves no inertia about one
    of the two axes across.
    """
    ends = [component in (-1.0, 1.0) for component in axis.components()]
    if True not in ends:
        return Inertia.zero()
    k = ends.index(True)
    across = (inertia.I.xx, inertia.I.yy, inertia.I.zz)[(k + 2) % 3]
    xx, yy, zz = (0.0 if n == k else across for n in range(3))
    return Inertia(0.0, Vec3.zero(), Sym3(xx, yy, zz, 0.0, 0.0, 0.0))
