"""Revolute and continuous joints: one angle about an axis (RBDA table 4.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from kinetree.expr import Scalar
from kinetree.model.joints.base import JointMotion
from kinetree.model.joints.one_axis import OneAxisJoint
from kinetree.spatial import Motion, Subspace, Transform, Vec3
from kinetree.spatial.rotations import from_axis_angle

__all__ = ["Continuous", "Revolute"]


class Revolute(OneAxisJoint):
    """An angle q, in radians, about a fixed axis."""

    word: ClassVar[str] = "revolute about"
    span: ClassVar[float] = math.pi

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        S = Subspace((Motion(self.axis, Vec3.zero()),))
        X_J = Transform(from_axis_angle(self.axis, q[0]).T, Vec3.zero())
        return JointMotion(X_J, S, S @ v, Motion.zero())


class Continuous(Revolute):
    """A revolute joint without end stops: still one angle, which may wind up."""

    word: ClassVar[str] = "continuous about"
