"""The friction of a robot's joints as a brake: what integrators ask of it beside the force itself.

The formulas are those of `kinetree.algorithms.drives`. A force that jumps at v = 0 has no solution an explicit
integrator could follow; tanh rounds the jump off within the friction speed, so that a joint "at rest" under load
creeps at less than about that speed instead of sticking.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms import brake_coefficient
from kinetree.model import Model

__all__ = ["Friction", "has_springs", "joint_numbers", "joint_rates"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Friction:
    """A value a degree of freedom of the joints, followers' included."""

    damping: Array
    """N·m·s/rad or N·s/m."""
    coulomb: Array
    """N·m or N."""
    speed: Array
    """Within which Coulomb friction is rounded off, rad/s or m/s."""
    rates: Array | None = None
    """G (joints' degrees of freedom, nv) with the joints' rates G v; None if they are v."""

    @classmethod
    def of(cls, robot: Model, passive: Collection[str] = ("damping", "friction")) -> Friction:
        """What the robot's joints have; zero what is not named."""
        damping, coulomb = (
            joint_numbers(robot, name) * (name in passive) for name in ("damping", "friction")
        )  # fmt: skip
        return cls(damping, coulomb, joint_numbers(robot, "friction_speed"), joint_rates(robot))

    @property
    def is_zero(self) -> bool:
        """Whether no joint has any."""
        return not (self.damping.any() or self.coulomb.any())

    @property
    def steepest(self) -> Array:
        """The coefficient at rest, where it is largest, of each joint by itself."""
        return self.damping + self.coulomb / self.speed

    def coefficient(self, v: Array) -> Array:
        """The matrix c(v) (nv, nv) with forces -c(v) v: the damping that would brake as hard at this velocity."""
        if self.rates is None:
            return np.diag(brake_coefficient(v, self.damping, self.coulomb, self.speed))
        c: Array = brake_coefficient(self.rates @ v, self.damping, self.coulomb, self.speed)
        return (self.rates.T * c) @ self.rates


def has_springs(robot: Model, passive: Collection[str]) -> bool:
    """Whether springs are named and there are any."""
    return "spring" in passive and bool(joint_numbers(robot, "stiffness").any())


def joint_numbers(robot: Model, name: str) -> Array:
    """A number a degree of freedom of every joint, followers' included."""
    return np.array([x for joint in robot.joints.values() for x in getattr(joint, name)], dtype=np.float64)


def joint_rates(robot: Model) -> Array | None:
    """G (joints' degrees of freedom, nv) with the joints' rates G v; None if they are v."""
    shared = robot.tree.coordinates
    return None if shared is None else shared.matrix()
