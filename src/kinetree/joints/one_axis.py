"""The base of joints with one axis and one real coordinate, such as revolute and prismatic ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kinetree.joints.base import JointKind
from kinetree.joints.vectors import axis_name, rows_ending_in, unit_axis
from kinetree.spatial import Transform, Vec3
from kinetree.spatial.mirror import mirror_image

__all__ = ["OneAxisJoint"]


class OneAxisJoint(JointKind):
    """A joint with a unit axis, which is normalised when the joint is made."""

    nq = nv = 1
    can_be_singular = False
    word: ClassVar[str]
    unit: ClassVar[str]
    """The unit of its coordinate: "rad" or "m"."""

    def __init__(self, axis: Sequence[float] | Vec3) -> None:
        self.axis: Vec3 = unit_axis(axis)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.axis.components())})"

    def aligned(self) -> tuple[JointKind, Transform]:
        """The same joint about, or along, z."""
        return self._about(Vec3(0.0, 0.0, 1.0)), Transform(rows_ending_in(self.axis), Vec3.zero())

    def reversed(self) -> JointKind:
        return self._about(-self.axis)

    def mirrored(self, normal: int) -> JointKind:
        """The axis of a displacement is mirrored; that of a rotation, an axial vector, is mirrored and negated."""
        axis = mirror_image(self.axis, normal)
        return self._about(-axis if self.unit == "rad" else axis)

    def scaled(self, length: float) -> JointKind:
        return self

    def _about(self, axis: Vec3) -> JointKind:
        """The same joint with another axis of length one."""
        return self.with_attributes(axis=axis)

    @property
    def rotor_axis(self) -> Vec3:
        return self.axis

    @property
    def description(self) -> str:
        return f"{self.word} {axis_name(self.axis)}"

    @property
    def q_units(self) -> tuple[str, ...]:
        return (self.unit,)
