"""Joint friction: a torque added to τ, viscous plus smoothed Coulomb.

    τ_f(v) = -(damping v + coulomb tanh(v / v_s))

A torque that jumps at v = 0 has no solution an explicit integrator could follow; tanh rounds the jump off within the
speed v_s, so that a joint "at rest" under load creeps at less than about v_s instead of sticking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetree.model import Model

__all__ = ["COULOMB_SPEED", "Friction"]

COULOMB_SPEED = 1e-2
"""v_s: at this speed Coulomb friction has reached tanh(1) = 76 % of its value; rad/s or m/s."""


@dataclass(frozen=True, slots=True)
class Friction:
    """The friction of a robot's joints, a value a degree of freedom."""

    damping: NDArray[np.float64]
    """(nv,), N·m·s/rad or N·s/m."""
    coulomb: NDArray[np.float64]
    """(nv,), N·m or N."""

    @classmethod
    def of(cls, robot: Model) -> Friction:
        """What the robot's file says."""
        joints = robot.joints.values()
        return cls(
            np.array([x for joint in joints for x in joint.damping], dtype=np.float64),
            np.array([x for joint in joints for x in joint.friction], dtype=np.float64),
        )

    @property
    def is_zero(self) -> bool:
        """Whether no joint has any."""
        return not (self.damping.any() or self.coulomb.any())

    @property
    def steepest(self) -> NDArray[np.float64]:
        """-∂τ_f/∂v at rest, where it is largest, (nv,)."""
        return self.damping + self.coulomb / COULOMB_SPEED

    def torque(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """τ_f(v), (nv,); its power τ_f · v is never positive."""
        return -(self.damping * v + self.coulomb * np.tanh(v / COULOMB_SPEED))

    def coefficient(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """c(v) ≥ 0 with τ_f(v) = -c(v) v, (nv,): the damping that would brake as hard at this speed."""
        x = v / COULOMB_SPEED
        ratio = np.divide(np.tanh(x), x, out=np.ones_like(x), where=x != 0.0)
        return self.damping + self.coulomb / COULOMB_SPEED * ratio
