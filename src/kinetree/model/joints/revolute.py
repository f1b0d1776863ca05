"""Revolute and continuous joints: one angle about an axis (RBDA table 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kinetree.expr import Scalar, cos, sin
from kinetree.model.joints.base import JointKind, JointMotion
from kinetree.model.joints.one_axis import OneAxisJoint
from kinetree.spatial import Inertia, Motion, Subspace, Sym3, Transform, Turn, Vec3
from kinetree.spatial.rotations import from_axis_angle

__all__ = ["Continuous", "Revolute"]


class Revolute(OneAxisJoint):
    """An angle q, in radians, about a fixed axis."""

    word: ClassVar[str] = "revolute about"
    unit: ClassVar[str] = "rad"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        S = Subspace((Motion(self.axis, Vec3.zero()),))
        X_J = _turn(self.axis, q[0])
        return JointMotion(X_J, S, S @ v, Motion.zero())

    def unseen(self, inertia: Inertia) -> Inertia:
        """The mass, the part of h along the axis, and a disc's worth of inertia across it."""
        axis = self.axis
        h = axis * inertia.h.dot(axis)
        ends = [component in (-1.0, 1.0) for component in axis.components()]
        if True not in ends:
            return Inertia(inertia.mass, h, Sym3.zero())
        k = ends.index(True)
        # The inertia about one of the two axes across: that one becomes zero.
        across = (inertia.I.xx, inertia.I.yy, inertia.I.zz)[(k + 2) % 3]
        xx, yy, zz = (0.0 if n == k else across for n in range(3))
        return Inertia(inertia.mass, h, Sym3(xx, yy, zz, 0.0, 0.0, 0.0))


class Continuous(Revolute):
    """A revolute joint without end stops: still one angle, which may wind up."""

    word: ClassVar[str] = "continuous about"

    def aligned(self) -> tuple[JointKind, Transform]:
        kind, turn = super().aligned()
        return (Revolute((0.0, 0.0, 1.0)) if type(self) is Continuous else kind), turn  # they move alike


def _turn(axis: Vec3, angle: Scalar) -> Transform:
    for k, component in enumerate(axis.components()):
        if component in (-1.0, 1.0):
            return Transform.turning(Turn(k, sin(angle) * component, cos(angle)))
    return Transform(from_axis_angle(axis, angle).T, Vec3.zero())
