"""A body pushed from outside: by a spring and a damper from one of its points to another point, such as a cursor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.body_motions import body_motions
from kinetree.functions.dynamics import crba
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Push", "PushLaw", "Pushing"]

Array = NDArray[np.float64]

_RATE = 10.0
"""The frequency of the spring and the mass that it moves, rad/s; the damping is critical."""
_FASTEST = 100.0
"""The most that the spring accelerates this mass, m/s²."""


@record(frozen=True, slots=True)
class Push:
    """The point and the body that are pushed, and the target."""

    body: str
    point: tuple[float, float, float]
    """In the body's axes, m."""
    target: tuple[float, float, float]
    """In the world, m."""


class Pushing(NamedTuple):
    """The force of a push at a moment, in the world's axes."""

    wrench: Array
    """About the origin of the body's axes (6,); N, N·m."""
    point: Array
    """Where the force acts (3,), m."""


class PushLaw:
    """The force f = m (Ω² (x* − x) − 2 Ω ẋ) at a point x of a robot.

    m is the mass that is felt at the point where it is grabbed: the inverse of the mean of (J M⁻¹ Jᵀ) over all
    directions (Khatib 1987, eq. 26, of a point), at most the robot's mass. So a finger and a trunk follow the cursor
    equally quickly, and no step that a motion can be computed with is too long for the spring.
    """

    def __init__(self, robot: Model, parameters: Mapping[str, Array]) -> None:
        self._robot, self._parameters = robot, dict(parameters) or None
        self._numbers = {name: k for k, name in enumerate(robot.bodies)}
        self._grabbed: tuple[object, float] = (None, 0.0)

    def __call__(self, push: Push, q: Array, v: Array) -> Pushing:
        """The force of a push at a state."""
        placements, velocities, _ = self._motions(q, v)
        number, mass = self._numbers[push.body], self._mass(push, q)
        lever, x = self._point(push, placements[number])
        linear, angular = velocities[number, :3], velocities[number, 3:]
        pull = _RATE**2 * (np.array(push.target) - x)
        pull *= min(1.0, _FASTEST / max(math.sqrt(pull @ pull), _FASTEST))
        force = mass * (pull - 2.0 * _RATE * (linear + _cross(angular, lever)))
        return Pushing(np.concatenate((force, _cross(lever, force))), x)

    def _mass(self, push: Push, q: Array) -> float:
        grabbed = push.body, push.point
        if self._grabbed[0] != grabbed:
            self._grabbed = grabbed, self._felt(push, q)
        return self._grabbed[1]

    def _felt(self, push: Push, q: Array) -> float:
        """The mass felt at a point, kg."""
        nv, number = self._robot.nv, self._numbers[push.body]
        placements, velocities, _ = self._motions(q, np.eye(nv))  # one row per degree of freedom
        lever, _ = self._point(push, placements[0, number])
        jacobian = velocities[:, number, :3] + np.cross(velocities[:, number, 3:], lever)
        inertia = crba(self._robot, q, parameters=self._parameters)
        mobility = float(np.sum(jacobian * np.linalg.solve(inertia, jacobian))) / 3.0
        return 1.0 / max(mobility, 1.0 / self._robot.mass)

    def _motions(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        return body_motions(
            self._robot, q, v, np.zeros_like(v), expressed_in="local_world_aligned", parameters=self._parameters
        )

    @staticmethod
    def _point(push: Push, placement: Array) -> tuple[Array, Array]:
        """The point from the origin of the body's axes, and in the world."""
        lever = placement[:3, :3] @ np.array(push.point)
        return lever, placement[:3, 3] + lever


def _cross(a: Array, b: Array) -> Array:
    """a × b; `numpy.cross` takes ten times as long, and this is called in every step."""
    ax, ay, az = a.tolist()
    bx, by, bz = b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
