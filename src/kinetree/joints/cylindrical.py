"""Cylindrical joints: independent rotation about an axis and displacement along it (RBDA table 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.composite import Composite
from kinetree.joints.prismatic import Prismatic
from kinetree.joints.revolute import Revolute, thin_rod, turn_about
from kinetree.joints.vectors import axis_name, rows_ending_in, unit_axis
from kinetree.spatial import Inertia, Motion, Subspace, Transform, Vec3
from kinetree.spatial.mirror import mirror_image

__all__ = ["Cylindrical"]


class Cylindrical(JointKind):
    """q = [angle, displacement], in radians and metres, about and along one fixed axis; v = q̇.

    Raises:
        ModelError: the axis is not three finite numbers, or all of them are zero.

    Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 4.1.

    >>> import kinetree as kt
    >>> kt.joints.Cylindrical([0, 0, 1]).q_names
    ('angle', 'displacement')
    """

    nq = nv = 2
    can_be_singular = False

    def __init__(self, axis: Sequence[float] | Vec3) -> None:
        self.axis: Vec3 = unit_axis(axis)

    def __repr__(self) -> str:
        return f"Cylindrical({list(self.axis.components())})"

    @property
    def description(self) -> str:
        return f"cylindrical about {axis_name(self.axis)}"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("angle", "displacement")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("rad", "m")

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        S = Subspace((Motion(self.axis, Vec3.zero()), Motion(Vec3.zero(), self.axis)))
        X = turn_about(self.axis, q[0])
        return JointMotion(Transform(X.E, self.axis * q[1], X.turns, X.before), S, S @ v, Motion.zero())

    def aligned(self) -> tuple[JointKind, Transform]:
        """The same joint about z."""
        return Cylindrical((0.0, 0.0, 1.0)), Transform(rows_ending_in(self.axis), Vec3.zero())

    def reversed(self) -> JointKind:
        return Cylindrical(-self.axis)

    def mirrored(self, normal: int) -> JointKind:
        """The two axes separate: the rotation's is mirrored and negated, the displacement's only mirrored."""
        axis = mirror_image(self.axis, normal)
        return Composite([Revolute(-axis), Prismatic(axis)])

    def scaled(self, length: float) -> JointKind:
        return self

    def unseen(self, inertia: Inertia) -> Inertia:
        """Equal moments of inertia across the axis."""
        return thin_rod(self.axis, inertia)
