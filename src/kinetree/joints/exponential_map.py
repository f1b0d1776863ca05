"""A ball joint whose coordinates are a rotation vector, those of the exponential map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.expr import Scalar
from kinetree.joints.base import JointKind, JointMotion
from kinetree.joints.euler import signs_of
from kinetree.spatial import Inertia, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.spatial.rotation_vector import RotationVector, recharted

__all__ = ["ExponentialMap"]


class ExponentialMap(JointKind):
    """A rotation vector q (3), in radians, with v = q̇: R = exp([q]), a rotation about q by the angle |q|.

    R takes coordinates of the moving side to those of the fixed one. An entry −1 of `signs` negates that component of
    q.

    The joint is singular where |q| is a nonzero multiple of 2 π. Once |q| is more than 3 π / 2, `robot.rechart`, and
    each step of `kt.rollout` and `kt.simulate`, change to the shorter vector of the same rotation, |q| <= π, so a body
    may tumble forever.

    Source: Liu and Jain, "A Quick Tutorial on Multibody Dynamics" (2012), eqs. 53-56.

    >>> import kinetree as kt
    >>> kt.joints.ExponentialMap().q_names
    ('rx', 'ry', 'rz')
    """

    nq = nv = 3

    def __init__(self, *, signs: Sequence[float] = (1.0, 1.0, 1.0)) -> None:
        self.signs: tuple[float, ...] = signs_of("ExponentialMap", signs, 3)

    def __repr__(self) -> str:
        return f"ExponentialMap({f'signs={self.signs}' if -1.0 in self.signs else ''})"

    @property
    def description(self) -> str:
        return "exponential map"

    @property
    def q_names(self) -> tuple[str, ...]:
        return ("rx", "ry", "rz")

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("rad",) * 3

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        p, rates = self._signed(q), self._signed(v)
        map = RotationVector.of(p)
        J = map.jacobian()
        columns = (column * s for column, s in zip((J.T.x, J.T.y, J.T.z), self.signs, strict=True))
        S = Subspace(tuple(Motion(column, Vec3.zero()) for column in columns))
        X_J = Transform(map.rotation().T, Vec3.zero())
        return JointMotion(X_J, S, Motion(J @ rates, Vec3.zero()), Motion(map.bias(rates), Vec3.zero()))

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> tuple[float, ...]:
        """Any orientation, as its shortest rotation vector; if there are limits, a vector within them."""
        if np.isfinite([*lower, *upper]).any():
            return super().random(rng, lower, upper)
        x, y, z, w = rng.normal(size=4)
        sine = math.sqrt(x * x + y * y + z * z)
        k = math.copysign(2.0, w) * math.atan2(sine, abs(w)) / sine
        return float(k * x), float(k * y), float(k * z)

    def rechart(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The same rotation and angular velocity with |q| <= π, if |q| was more than 3 π / 2."""
        p, rates = recharted(self._signed(q), self._signed(v))
        return list(self._signed(p.components()).components()), list(self._signed(rates.components()).components())

    def reversed(self) -> JointKind:
        return ExponentialMap(signs=[-s for s in self.signs])

    def mirrored(self, normal: int) -> JointKind:
        """The component along the normal stays; the others change sign."""
        return ExponentialMap(signs=[s if k == normal else -s for k, s in enumerate(self.signs)])

    def scaled(self, length: float) -> JointKind:
        return self

    def unseen(self, inertia: Inertia) -> Inertia:
        """The mass, which can equally be at the joint's centre, a point of both sides."""
        return Inertia(inertia.mass, Vec3.zero(), Sym3.zero())

    def _signed(self, x: Sequence[Any]) -> Vec3:
        return Vec3(*(x_k * s for x_k, s in zip(x, self.signs, strict=True)))
