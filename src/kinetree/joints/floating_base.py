"""Floating base as a translation followed by a spherical joint: the linear velocity is in the fixed side's axes.

Source: RBDA section 4.4 for joints whose motion subspace varies (S° and c_J); RBDL's and MuJoCo's floating bases use
this velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.expr import Scalar
from kinetree.joints.base import JointMotion, Matrix, scaled_identity
from kinetree.joints.position_and_quaternion import PositionAndQuaternion
from kinetree.joints.spherical import Spherical
from kinetree.spatial import Motion, Subspace, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion

__all__ = ["FloatingBase"]

_0 = Vec3.zero()
_TURNS = tuple(Motion(e, _0) for e in (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)))
_BALL = Spherical()


class FloatingBase(PositionAndQuaternion):
    """q = [position (3), quaternion x y z w (4)], v = [velocity (3), angular velocity (3)].

    The velocity is that of the moving body's origin in the fixed side's axes, so q̇ begins with it; the angular
    velocity is in the moving body's own axes. `Free` has both in the moving body's axes and a constant subspace.

    >>> import kinetree as kt
    >>> kt.joints.FloatingBase().integrate([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    [0.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    """

    @property
    def description(self) -> str:
        return "floating base"

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        R = from_quaternion(*q[3:])
        S = Subspace((*(Motion(_0, axis) for axis in (R.x, R.y, R.z)), *_TURNS))
        w, linear = Vec3(*v[3:]), R.T @ Vec3(*v[:3])
        # The fixed side's axes rotate backwards as seen from the moving ones: d/dt Rᵀ v = -ω x Rᵀ v.
        return JointMotion(Transform(R.T, Vec3(*q[:3])), S, Motion(w, linear), Motion(_0, linear.cross(w)))

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [*v[:3], *_BALL.rates(q[3:], v[3:])]

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [*(q_k + v_k for q_k, v_k in zip(q[:3], v[:3], strict=True)), *_BALL.integrate(q[3:], v[3:])]

    def displacement_rate(self, q: Sequence[Any], d: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [*v[:3], *_BALL.displacement_rate(q[3:], d[3:], v[3:])]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return [*(b - a for a, b in zip(q0[:3], q1[:3], strict=True)), *_BALL.difference(q0[3:], q1[3:])]

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        A, B = _BALL.integrate_jacobians(q[3:], v[3:])
        return _beside_identity(1.0, A), _beside_identity(1.0, B)

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        first, second = _BALL.difference_jacobians(q0[3:], q1[3:])
        return _beside_identity(-1.0, first), _beside_identity(1.0, second)


def _beside_identity(s: float, block: Matrix) -> Matrix:
    """Block-diagonal matrix: s times the identity for the position, the block for the orientation."""
    return [
        *([*row, 0.0, 0.0, 0.0] for row in scaled_identity(3, s)),
        *([0.0, 0.0, 0.0, *row] for row in block),
    ]
