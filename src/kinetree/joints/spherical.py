"""Spherical joint: any rotation about a point, with a quaternion (RBDA table 4.1, section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion, Matrix
from kinetree.spatial import Inertia, Mat3, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.spatial.exponential import (
    quaternion_exp,
    quaternion_log,
    rotation_exp,
    rotation_exp_jacobian,
    rotation_log_jacobian,
)
from kinetree.spatial.rotations import (
    Quaternion,
    from_quaternion,
    quaternion_conjugate,
    quaternion_normalize,
    quaternion_product,
    quaternion_rates,
)

__all__ = ["Spherical", "between", "matrix", "random_quaternion", "turned"]

_X, _Y, _Z, _0 = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0), Vec3.zero()
_S = Subspace(tuple(Motion(e, _0) for e in (_X, _Y, _Z)))


class Spherical(JointKind):
    """q = quaternion x y z w (4), v = angular velocity (3) in the moving body's own axes; a ball in a socket.

    >>> import kinetree as kt
    >>> kt.joints.Spherical().nq, kt.joints.Spherical().nv
    (4, 3)
    """

    nq = 4
    nv = 3
    quaternions: tuple[int, ...] = (0,)
    can_be_singular = False
    is_flat = False

    @property
    def description(self) -> str:
        return "spherical"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("qx", "qy", "qz", "qw")

    @property
    def v_names(self) -> tuple[str, ...]:
        return ("wx", "wy", "wz")

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        X_J = Transform(from_quaternion(*q).T, _0)
        return JointMotion(X_J, _S, Motion(Vec3(*v), _0), Motion.zero())

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0)

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        """Any orientation, all equally likely; limits on a quaternion's components are ignored."""
        return random_quaternion(rng)

    def random_batch(
        self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float], count: int
    ) -> NDArray[np.float64]:
        return random_quaternions(rng, count)

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return list(quaternion_rates(_quaternion(q), Vec3(*v)))

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return list(turned(_quaternion(q), Vec3(*v)))

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        return list(between(_quaternion(q0), _quaternion(q1)).components())

    def integrate_jacobians(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Matrix, Matrix]:
        w = Vec3(*v)
        return matrix(rotation_exp(w).T), matrix(rotation_exp_jacobian(w))

    def displacement_rate(self, q: Sequence[Any], d: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [*(rotation_log_jacobian(Vec3(*d)) @ Vec3(*v)).components()]

    def difference_jacobians(self, q0: Sequence[Any], q1: Sequence[Any]) -> tuple[Matrix, Matrix]:
        J = rotation_log_jacobian(between(_quaternion(q0), _quaternion(q1)))
        return matrix(Mat3.zero() - J.T), matrix(J)

    def reversed(self) -> JointKind:
        return self

    def mirrored(self, normal: int) -> JointKind:
        return self

    def scaled(self, length: float) -> JointKind:
        return self

    def unseen(self, inertia: Inertia) -> Inertia:
        """The mass, at the joint's centre, which both sides share."""
        return Inertia(inertia.mass, _0, Sym3.zero())


def random_quaternion(rng: np.random.Generator) -> tuple[float, float, float, float]:
    """A unit quaternion in a direction uniformly distributed in four dimensions, so orientations are uniform too."""
    quaternion = rng.normal(size=4)
    x, y, z, w = map(float, quaternion / np.linalg.norm(quaternion))
    return x, y, z, w


def random_quaternions(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Quaternions (count, 4) like that of `random_quaternion`."""
    quaternions = rng.normal(size=(count, 4))
    quaternions /= np.linalg.norm(quaternions, axis=-1, keepdims=True)
    return quaternions


def turned(q: Quaternion, w: Vec3) -> Quaternion:
    """The unit quaternion that q becomes after unit time at the angular velocity w, in the moving axes."""
    return quaternion_normalize(quaternion_product(q, quaternion_exp(w)))


def between(q0: Quaternion, q1: Quaternion) -> Vec3:
    """The angular velocity that takes q0 to q1 in unit time, the shorter way round."""
    back = quaternion_conjugate(quaternion_normalize(q0))
    return quaternion_log(quaternion_product(back, quaternion_normalize(q1)))


def matrix(m: Mat3) -> Matrix:
    """A Mat3 as rows of numbers."""
    return [list(row.components()) for row in (m.x, m.y, m.z)]


def _quaternion(q: Sequence[Any]) -> Quaternion:
    x, y, z, w = q
    return x, y, z, w
