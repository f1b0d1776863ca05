"""Free joint (floating base): all six degrees of freedom, with a quaternion (RBDA table 4.1, section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion, Matrix
from kinetree.joints.floating_base import FloatingBase
from kinetree.joints.position_and_quaternion import PositionAndQuaternion
from kinetree.joints.spherical import between, matrix, turned
from kinetree.spatial import Mat3, Motion, Subspace, Transform, Vec3
from kinetree.spatial.exponential import (
    rotation_exp,
    rotation_log_jacobian,
    translation_exp,
    translation_exp_jacobian,
    translation_log,
)
from kinetree.spatial.pose_exponential import pose_exp_jacobian, pose_log_jacobian
from kinetree.spatial.rotations import Quaternion, from_quaternion, quaternion_rates

__all__ = ["Free"]

_X, _Y, _Z, _0 = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0), Vec3.zero()
_S = Subspace((*(Motion(_0, e) for e in (_X, _Y, _Z)), *(Motion(e, _0) for e in (_X, _Y, _Z))))


class Free(PositionAndQuaternion):
    """q = [position (3), quaternion x y z w (4)], v = [linear (3), angular (3)], v in the moving body's own axes."""

    @property
    def description(self) -> str:
        return "free"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        X_J = Transform(from_quaternion(*q[3:]).T, Vec3(*q[:3]))
        return JointMotion(X_J, _S, Motion(Vec3(*v[3:]), Vec3(*v[:3])), Motion.zero())

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        _, rotation = _parts(q)
        moved = from_quaternion(*rotation) @ Vec3(*v[:3])
        return [*moved.components(), *quaternion_rates(rotation, Vec3(*v[3:]))]

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        position, rotation = _parts(q)
        w = Vec3(*v[3:])
        moved = position + from_quaternion(*rotation) @ translation_exp(w, Vec3(*v[:3]))
        return [*moved.components(), *turned(rotation, w)]

    def turning_rate(self, v: Sequence[Any]) -> list[Any]:
        return [*Vec3(*v[3:]).cross(Vec3(*v[:3])).components(), 0.0, 0.0, 0.0]

    def seen_from_fixed(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        _, rotation = _parts(q)
        return [*(from_quaternion(*rotation) @ Vec3(*v[:3])).components(), *v[3:]]

    def seen_from_moving(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        _, rotation = _parts(q)
        return [*(from_quaternion(*rotation).T @ Vec3(*v[:3])).components(), *v[3:]]

    def displaced(self, q: Sequence[Any], d: Sequence[Any]) -> list[Any]:
        _, rotation = _parts(q)
        return [*(x + d_k for x, d_k in zip(q[:3], d[:3], strict=True)), *turned(rotation, Vec3(*d[3:]))]

    def displacement_rate(self, q: Sequence[Any], d: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [*v[:3], *(rotation_log_jacobian(Vec3(*d[3:])) @ Vec3(*v[3:])).components()]

    def in_fixed_axes(self) -> JointKind:
        return FloatingBase()

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        moved, w = _motion_between(q0, q1)
        return [*translation_log(w, moved).components(), *w.components()]

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """The inverse of the adjoint of exp(v), and the right Jacobian of rigid motions."""
        linear, w = Vec3(*v[:3]), Vec3(*v[3:])
        back = rotation_exp(w).T
        moved = translation_exp(w, linear)
        return (
            _triangle(back, Mat3.zero() - back.times(Mat3.skew(moved))),
            _triangle(*pose_exp_jacobian(Motion(w, linear))),
        )

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """Minus the inverse of the left Jacobian of rigid motions, and the inverse of the right one."""
        moved, w = _motion_between(q0, q1)
        linear = translation_log(w, moved)
        J = rotation_log_jacobian(w)  # Jₗ⁻¹ = Jᵣ⁻¹ Rᵀ is its transpose
        left = J.T.times(Mat3.skew(moved) + translation_exp_jacobian(w, linear).times(J.T))
        return _triangle(Mat3.zero() - J.T, left), _triangle(*pose_log_jacobian(Motion(w, linear)))


def _parts(q: Sequence[Any]) -> tuple[Vec3, Quaternion]:
    """Position and quaternion."""
    px, py, pz, x, y, z, w = q
    return Vec3(px, py, pz), (x, y, z, w)


def _motion_between(q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Vec3, Vec3]:
    """The rigid motion from q0 to q1 in the axes of q0: its translation, and its rotation vector."""
    (start, before), (end, after) = _parts(q0), _parts(q1)
    return from_quaternion(*before).T @ (end - start), between(before, after)


def _triangle(diagonal: Mat3, right: Mat3) -> Matrix:
    """The matrix [diagonal, right; 0, diagonal]."""
    return [
        *([*row, *rest] for row, rest in zip(matrix(diagonal), matrix(right), strict=True)),
        *([0.0, 0.0, 0.0, *row] for row in matrix(diagonal)),
    ]
