"""Universal joints: two rotations about intersecting axes (a Cardan joint)."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.reversed import Reversed
from kinetree.joints.revolute import turn_about
from kinetree.joints.vectors import axis_name, unit_axis
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.spatial.mirror import mirror_image

__all__ = ["Universal"]

_PARALLEL = 1e-6
"""The sine of the angle below which two axes count as parallel."""
_ROUNDING = 1e-15


class Universal(JointKind):
    """q = two angles, in radians: first about axis1, fixed in the fixed side, then about axis2, fixed in the moving
    side; v = q̇.

    At q = 0 both sides coincide, and both axes are as given. The axes need not be perpendicular.

    Raises:
        ModelError: an axis is not three finite numbers, not all zero; or the two are parallel.

    Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.4, for a chain of two revolute joints.

    >>> import kinetree as kt
    >>> kt.joints.Universal([1, 0, 0], [0, 1, 0]).description
    'universal about x, then y'
    """

    nq = nv = 2
    can_be_singular = False

    def __init__(self, axis1: Sequence[float] | Vec3, axis2: Sequence[float] | Vec3) -> None:
        self.axis1: Vec3 = unit_axis(axis1)
        self.axis2: Vec3 = unit_axis(axis2)
        across = self.axis1.cross(self.axis2)
        if float(across.dot(across)) < _PARALLEL**2:
            raise ModelError(
                f"Universal: the axes {list(self.axis1.components())} and {list(self.axis2.components())} are "
                "parallel, so both would turn alike; give two directions, or use Revolute"
            )

    def __repr__(self) -> str:
        return f"Universal({list(self.axis1.components())}, {list(self.axis2.components())})"

    @property
    def description(self) -> str:
        return f"universal about {axis_name(self.axis1)}, then {axis_name(self.axis2)}"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("angle1", "angle2")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("rad", "rad")

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        X2 = turn_about(self.axis2, q[1])
        X_J = X2 @ turn_about(self.axis1, q[0])
        carried = X2.E @ self.axis1
        w1, w2 = carried * v[0], self.axis2 * v[1]
        zero = Vec3.zero()
        S = Subspace((Motion(carried, zero), Motion(self.axis2, zero)))
        return JointMotion(X_J, S, Motion(w1 + w2, zero), Motion(w1.cross(w2), zero))

    def aligned(self) -> tuple[JointKind, Transform]:
        """The second axis along z, the first in the plane of x and z: along x if the two are perpendicular."""
        z, cosine = self.axis2, float(self.axis1.dot(self.axis2))
        x = unit_axis(self.axis1 - z * cosine)
        first = (1.0, 0.0, 0.0) if abs(cosine) < _ROUNDING else (float(self.axis1.dot(x)), 0.0, cosine)
        return Universal(first, (0.0, 0.0, 1.0)), Transform(Mat3(x, z.cross(x), z), Vec3.zero())

    def reversed(self) -> JointKind:
        return Reversed(self)

    def mirrored(self, normal: int) -> JointKind:
        return Universal(-mirror_image(self.axis1, normal), -mirror_image(self.axis2, normal))

    def scaled(self, length: float) -> JointKind:
        return self

    def unseen(self, inertia: Inertia) -> Inertia:
        """The mass, which can equally be where the axes intersect."""
        return Inertia(inertia.mass, Vec3.zero(), Sym3.zero())
