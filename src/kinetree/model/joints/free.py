"""Free joint (floating base): all six degrees of freedom, orientation by a quaternion (RBDA table 4.1, section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.expr import Scalar
from kinetree.model.joints.base import JointKind, JointMotion, within
from kinetree.spatial import Motion, Subspace, Transform, Vec3
from kinetree.spatial.rotations import (
    from_quaternion,
    quaternion_exp,
    quaternion_log,
    quaternion_normalize,
    quaternion_product,
    quaternion_rates,
    translation_exp,
    translation_log,
)

__all__ = ["Free"]

_X, _Y, _Z, _0 = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0), Vec3.zero()
_S = Subspace((*(Motion(_0, e) for e in (_X, _Y, _Z)), *(Motion(e, _0) for e in (_X, _Y, _Z))))


class Free(JointKind):
    """q = [position (3), quaternion x y z w (4)], v = [linear (3), angular (3)], v in the moving body's own axes."""

    nq = 7
    nv = 6
    quaternions = (3,)
    is_flat = False

    @property
    def description(self) -> str:
        return "free"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("x", "y", "z", "qx", "qy", "qz", "qw")

    @property
    def v_names(self) -> tuple[str, ...]:
        return ("vx", "vy", "vz", "wx", "wy", "wz")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("m", "m", "m", "", "", "", "")

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        X_J = Transform(from_quaternion(*q[3:]).T, Vec3(*q[:3]))
        return JointMotion(X_J, _S, Motion(Vec3(*v[3:]), Vec3(*v[:3])), Motion.zero())

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        position = [within(rng, low, high, 1.0) for low, high in zip(lower[:3], upper[:3], strict=True)]
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        return (*position, *map(float, quaternion))

    def rates(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        moved = from_quaternion(*q[3:]) @ Vec3(*v[:3])
        return [*moved.components(), *quaternion_rates(tuple(q[3:]), Vec3(*v[3:]))]

    def integrate(self, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        w = Vec3(*v[3:])
        moved = Vec3(*q[:3]) + from_quaternion(*q[3:]) @ translation_exp(w, Vec3(*v[:3]))
        x, y, z, s = q[3:]
        return [*moved.components(), *quaternion_normalize(quaternion_product((x, y, z, s), quaternion_exp(w)))]

    def difference(self, q0: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        x, y, z, s = quaternion_normalize(tuple(q0[3:]))
        w = quaternion_log(quaternion_product((-x, -y, -z, s), quaternion_normalize(tuple(q1[3:]))))
        moved = from_quaternion(x, y, z, s).T @ (Vec3(*q1[:3]) - Vec3(*q0[:3]))
        return [*translation_log(w, moved).components(), *w.components()]
