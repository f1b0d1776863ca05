"""Planar joints: two displacements in a plane and a rotation about its normal."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.errors import ModelError
from kinetree.expr import Scalar, cos, sin
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.reversed import Reversed
from kinetree.joints.revolute import thin_rod, turn_about
from kinetree.joints.vectors import axis_name, unit_axis
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Transform, Vec3
from kinetree.spatial.mirror import mirror_image

__all__ = ["Planar"]

_PERPENDICULAR = 1e-9


class Planar(JointKind):
    """q = [x, y, angle], in metres and radians: two displacements in a plane, then a rotation about the normal; v = q̇.

    x and y, and their rates, are along two axes of the fixed side: the first is `along`, the second normal × along. By
    default, `along` is the coordinate axis that follows that of the normal's largest component in the cycle x, y, z,
    made perpendicular to the normal: normal z has (x, y), x has (y, z), y has (z, x). Pinocchio uses the plane of x and
    y for any axis in a URDF file; Drake takes z to the normal by the smallest rotation that does so, and its `along` is
    where that takes x. Both agree with this for normal z.

    Args:
        normal: three numbers, not all zero; normalised.
        along: a direction in the plane; normalised.

    Raises:
        ModelError: one of them is not three finite numbers, not all zero; or `along` is not in the plane.

    Source: the planar joint of RBDL's page on joint modelling.

    >>> import kinetree as kt
    >>> kt.joints.Planar().q_names
    ('x', 'y', 'angle')
    >>> kt.joints.Planar([1, 0, 0]).along.components()
    (0.0, 1.0, 0.0)
    """

    nq = nv = 3
    can_be_singular = False

    def __init__(
        self, normal: Sequence[float] | Vec3 = (0.0, 0.0, 1.0), along: Sequence[float] | Vec3 | None = None
    ) -> None:
        self.normal: Vec3 = unit_axis(normal)
        self.along: Vec3 = _next_axis(self.normal) if along is None else unit_axis(along)
        if abs(float(self.normal.dot(self.along))) > _PERPENDICULAR:
            raise ModelError(
                f"Planar: the direction {list(self.along.components())} does not lie in the plane with the normal "
                f"{list(self.normal.components())}; give one perpendicular to it, or leave it out"
            )

    def __repr__(self) -> str:
        normal, along = list(self.normal.components()), list(self.along.components())
        return f"Planar({normal})" if self.along == _next_axis(self.normal) else f"Planar({normal}, along={along})"

    @property
    def description(self) -> str:
        return f"planar across {axis_name(self.normal)}"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("x", "y", "angle")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("m", "m", "rad")

    @property
    def _across(self) -> Vec3:
        """The second direction in the plane."""
        return Vec3(*(x + 0.0 for x in self.normal.cross(self.along).components()))

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        along, across = self.along, self._across
        X = turn_about(self.normal, q[2])
        X_J = Transform(X.E, along * q[0] + across * q[1], X.turns, X.before)
        s, c = sin(q[2]), cos(q[2])
        directions = along * c - across * s, along * s + across * c  # in the moving side's coordinates
        zero, w = Vec3.zero(), self.normal * v[2]
        S = Subspace((*(Motion(zero, direction) for direction in directions), Motion(self.normal, zero)))
        moved = directions[0] * v[0] + directions[1] * v[1]
        return JointMotion(X_J, S, Motion(w, moved), Motion(zero, moved.cross(w)))

    def aligned(self) -> tuple[JointKind, Transform]:
        """The same joint in the plane of x and y."""
        return Planar(), Transform(Mat3(self.along, self._across, self.normal), Vec3.zero())

    def reversed(self) -> JointKind:
        return Reversed(self)

    def mirrored(self, normal: int) -> JointKind:
        mirrored = mirror_image(self.normal, normal), mirror_image(self.along, normal)
        return Planar(-mirrored[0], mirrored[1])

    def scaled(self, length: float) -> JointKind:
        return self

    def unseen(self, inertia: Inertia) -> Inertia:
        """Equal moments of inertia across the normal."""
        return thin_rod(self.normal, inertia)


def _next_axis(normal: Vec3) -> Vec3:
    """The coordinate axis after that of the normal's largest component, made perpendicular to the normal."""
    sizes = [abs(float(n)) for n in normal.components()]
    largest = sizes.index(max(sizes))
    following = Vec3(*(float(k == (largest + 1) % 3) for k in range(3)))
    return unit_axis(following - normal * following.dot(normal))
