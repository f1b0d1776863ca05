"""Free joint with roll, pitch and yaw for its orientation."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.euler import signs_of, turning
from kinetree.joints.reversed import Reversed
from kinetree.spatial import Motion, Subspace, Transform, Vec3

__all__ = ["FreeRPY"]


class FreeRPY(JointKind):
    """q = [position (3), roll, pitch, yaw], v = q̇: all six degrees of freedom without a quaternion.

    The position is that of the moving side's origin in the fixed side's axes, and R = Rz(yaw) Ry(pitch) Rx(roll), as in
    URDF, takes coordinates of the moving side to those of the fixed one. An entry −1 of `signs` negates that
    coordinate.

    The joint is singular where the pitch is an odd multiple of π/2; see `robot.conditioning`.

    >>> import kinetree as kt
    >>> kt.joints.FreeRPY().q_names
    ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
    """

    nq = nv = 6
    has_motor = False

    def __init__(self, *, signs: Sequence[float] = (1.0,) * 6) -> None:
        self.signs: tuple[float, ...] = signs_of("FreeRPY", signs, 6)

    def __repr__(self) -> str:
        return f"FreeRPY({f'signs={self.signs}' if -1.0 in self.signs else ''})"

    @property
    def description(self) -> str:
        return "free, by roll, pitch and yaw"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("x", "y", "z", "roll", "pitch", "yaw")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("m", "m", "m", "rad", "rad", "rad")

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        turned = turning([(k, self.signs[3 + k], q[3 + k], v[3 + k]) for k in (2, 1, 0)])
        position, moved = (Vec3(*(x_k * s for x_k, s in zip(x[:3], self.signs[:3], strict=True))) for x in (q, v))
        E = turned.X.E
        across = [Vec3(*(s * float(k == j) for j in range(3))) for k, s in enumerate(self.signs[:3])]
        S = Subspace(
            (
                *(Motion(Vec3.zero(), E @ axis) for axis in across),
                *(Motion(column, Vec3.zero()) for column in reversed(turned.columns)),
            )
        )
        linear = E @ moved
        return JointMotion(
            turned.X @ Transform(_NO_TURN.E, position),
            S,
            Motion(turned.w, linear),
            Motion(turned.c, linear.cross(turned.w)),  # the axes rotate under a constant velocity
        )

    def reversed(self) -> JointKind:
        return Reversed(self)

    def mirrored(self, normal: int) -> JointKind:
        """The position is mirrored; an angle about an axis other than the normal changes sign."""
        flips = [-1.0 if k == normal else 1.0 for k in range(3)]
        return FreeRPY(signs=[s * f for s, f in zip(self.signs, [*flips, *(-f for f in flips)], strict=True)])

    def scaled(self, length: float) -> JointKind:
        return self


_NO_TURN = Transform.identity()
