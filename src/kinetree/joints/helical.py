"""Helical joints: a rotation about an axis, coupled to a displacement along it (RBDA table 4.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.inputs import plain
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.one_axis import OneAxisJoint
from kinetree.joints.revolute import Revolute, thin_rod, turn_about
from kinetree.spatial import Inertia, Motion, Subspace, Transform, Vec3
from kinetree.spatial.mirror import mirror_image

__all__ = ["Helical"]


class Helical(OneAxisJoint):
    """An angle q, in radians, about a fixed axis, together with a displacement of `pitch` q along the axis.

    Args:
        axis: three numbers, not all zero; normalised.
        pitch: metres per radian, positive for a right-handed thread; a lead of l metres per turn is a pitch of l / 2π.

    Raises:
        ModelError: the axis has no direction, or the pitch is not a finite number.

    Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), table 4.1.

    >>> import kinetree as kt
    >>> kt.joints.Helical([0, 0, 1], 0.002).description
    'helical about z, 0.002 m/rad'
    """

    word: ClassVar[str] = "helical about"
    unit: ClassVar[str] = "rad"

    def __init__(self, axis: Sequence[float] | Vec3, pitch: float) -> None:
        super().__init__(axis)
        self.pitch: float = plain(pitch)
        if isinstance(pitch, bool) or type(self.pitch) is not float or not math.isfinite(self.pitch):
            raise ModelError(f"Helical: the pitch must be a finite number of metres a radian, not {pitch!r:.40}")

    def __repr__(self) -> str:
        return f"Helical({list(self.axis.components())}, {self.pitch!r})"

    @property
    def description(self) -> str:
        return f"{super().description}, {self.pitch:.4g} m/rad"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        S = Subspace((Motion(self.axis, self.axis * self.pitch),))
        X = turn_about(self.axis, q[0])
        X_J = Transform(X.E, self.axis * (q[0] * self.pitch), X.turns, X.before)
        return JointMotion(X_J, S, S @ v, Motion.zero())

    def mirrored(self, normal: int) -> JointKind:
        """The mirror image of a right-handed thread is left-handed."""
        return Helical(-mirror_image(self.axis, normal), -self.pitch)

    def scaled(self, length: float) -> JointKind:
        return Helical(self.axis, self.pitch * length)

    def unseen(self, inertia: Inertia) -> Inertia:
        """Equal moments of inertia across the axis; not the mass, which is felt by the advance along the axis."""
        return thin_rod(self.axis, inertia) if self.pitch else Revolute(self.axis).unseen(inertia)
