"""Translation joints: any displacement, no rotation."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.composite import Composite
from kinetree.joints.prismatic import Prismatic
from kinetree.joints.reversed import Reversed
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Transform, Vec3
from kinetree.spatial.mirror import mirror_image

__all__ = ["Translation"]

_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
_S = Subspace(tuple(Motion(Vec3.zero(), axis) for axis in _AXES))


class Translation(JointKind):
    """q = the moving side's origin (3), in metres, along x, y and z of the fixed side; v = q̇.

    Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.4, for a chain of three prismatic joints.

    >>> import kinetree as kt
    >>> kt.joints.Translation().q_names
    ('x', 'y', 'z')
    """

    nq = nv = 3
    can_be_singular = False

    @property
    def description(self) -> str:
        return "translation"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("x", "y", "z")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("m", "m", "m")

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        return JointMotion(Transform(Mat3.identity(), Vec3(*q)), _S, Motion(Vec3.zero(), Vec3(*v)), Motion.zero())

    def reversed(self) -> JointKind:
        return Reversed(self)

    def mirrored(self, normal: int) -> JointKind:
        """The same three displacements, with one of them reversed."""
        return Composite([Prismatic(mirror_image(axis, normal)) for axis in _AXES])

    def scaled(self, length: float) -> JointKind:
        return self

    def unseen(self, inertia: Inertia) -> Inertia:
        """All the rotational inertia: the two sides rotate together."""
        return Inertia(0.0, Vec3.zero(), inertia.I)
