"""The equations of motion of one simulation, in the two forms the integrators ask for."""

from __future__ import annotations

import numpy as np

from kinetree.dynamics import aba, bias_forces, crba
from kinetree.function import compile_function
from kinetree.kinematics import integrate
from kinetree.model import Model
from kinetree.sim.friction import Friction
from kinetree.sim.integrators import Array
from kinetree.sim.torques import Torque

__all__ = ["Motion"]


class Motion:
    """A robot with its friction and torques; `step` is the number of the step that is being taken."""

    def __init__(self, robot: Model, friction: Friction, torque: Torque) -> None:
        self.step = 0
        self._friction = friction
        self._torque = torque
        self._robot = robot
        self._diagonal = np.arange(robot.nv)
        self._aba = compile_function(robot, aba)
        self._integrate = compile_function(robot, integrate)

    def move(self, q: Array, displacement: Array) -> Array:
        """q after a displacement (nv,)."""
        moved: Array = self._integrate(q, displacement)
        return moved

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """What the simulation was given, (nv,)."""
        return self._torque(self.step, t, q, v)

    def rates(self, t: float, q: Array, v: Array) -> tuple[Array, float, float]:
        """Acceleration, power of the torques, power lost to friction: friction as a torque at the velocity v."""
        tau = self._torque(self.step, t, q, v)
        brake = self._friction.torque(v)
        return self._aba(q, v, tau + brake), float(tau @ v), -float(brake @ v)

    def push(self, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array, Array]:
        """Acceleration over a step h, torque, friction coefficient: friction at the velocity v + h a that it leads to.

        With the braking written -c(v) (v + h a), the equation of motion H a + C = τ - c (v + h a) becomes
        (H + h c) a = τ - C - c v: the mass matrix with h c on its diagonal.
        """
        tau = self._torque(self.step, t, q, v)
        c = self._friction.coefficient(v)
        if self._friction.is_zero:
            return self._aba(q, v, tau), tau, c
        H = crba(self._robot, q)
        H[self._diagonal, self._diagonal] += h * c
        a = np.linalg.solve(H, tau - bias_forces(self._robot, q, v) - c * v)
        return a.astype(np.float64, copy=False), tau, c
