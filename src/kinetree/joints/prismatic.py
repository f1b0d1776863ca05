"""Prismatic joints: one displacement along an axis (RBDA table 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kinetree.expr import Scalar
from kinetree.joints.base import JointMotion
from kinetree.joints.one_axis import OneAxisJoint
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Transform, Vec3

__all__ = ["Prismatic"]


class Prismatic(OneAxisJoint):
    """A displacement q, in metres, along a fixed axis."""

    word: ClassVar[str] = "prismatic along"
    unit: ClassVar[str] = "m"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        S = Subspace((Motion(Vec3.zero(), self.axis),))
        X_J = Transform(Mat3.identity(), self.axis * q[0])
        return JointMotion(X_J, S, S @ v, Motion.zero())

    def unseen(self, inertia: Inertia) -> Inertia:
        """All the rotational inertia: the two sides rotate together."""
        return Inertia(0.0, Vec3.zero(), inertia.I)
