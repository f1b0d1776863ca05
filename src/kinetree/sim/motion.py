"""The equations of motion of one simulation, in the two forms the integrators ask for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.algorithms import BRAKES
from kinetree.compiler.calls import compile_function
from kinetree.functions.drives import limited_forces, passive_forces
from kinetree.functions.dynamics import aba, bias_forces, crba
from kinetree.functions.kinematics import integrate
from kinetree.model import Model
from kinetree.sim.friction import Friction, has_springs
from kinetree.sim.integrators import Array
from kinetree.sim.torques import Torque

__all__ = ["Motion"]


class Motion:
    """A robot with its passive forces and torques; `step` is the number of the step that is being taken."""

    def __init__(self, robot: Model, passive: Sequence[str], torque: Torque, *, limits: bool) -> None:
        self.step = 0
        self._torque = torque
        self._robot = robot
        self._friction = Friction.of(robot, passive)
        springs = has_springs(robot, passive)
        stored: tuple[str, ...] = ("spring",) if springs else ()
        self._rest = np.zeros(robot.nv)
        self._aba = compile_function(robot, aba, passive=stored)
        self._integrate = compile_function(robot, integrate)
        self._limited = compile_function(robot, limited_forces) if limits else None
        if not self._friction.is_zero:
            self._brake = compile_function(robot, passive_forces, passive=[x for x in passive if x in BRAKES])
            self._bias = compile_function(robot, bias_forces, passive=stored)
            self._crba = compile_function(robot, crba)

    def move(self, q: Array, displacement: Array) -> Array:
        """q after a displacement (nv,)."""
        moved: Array = self._integrate(q, displacement)
        return moved

    def torque(self, t: float, q: Array, v: Array) -> Array:
        """What the simulation was given, as far as motors can give it, (nv,)."""
        tau = self._torque(self.step, t, q, v)
        return tau if self._limited is None else self._limited(tau, v)

    def rates(self, t: float, q: Array, v: Array) -> tuple[Array, float, float]:
        """Acceleration, power of the torques, power lost to friction: friction as a torque at the velocity v."""
        tau = self.torque(t, q, v)
        if self._friction.is_zero:
            return self._aba(q, v, tau), float(tau @ v), 0.0
        brake = self._brake(q, v)
        return self._aba(q, v, tau + brake), float(tau @ v), -float(brake @ v)

    def push(self, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array, Array]:
        """Acceleration over a step h, torque, and the braking by friction at the velocity v + h a that it leads to.

        With the braking written c(v) (v + h a), the equation of motion H a + C = τ - c (v + h a) becomes
        (H + h c) a = τ - C - c v: the mass matrix with h c on top.
        """
        tau = self.torque(t, q, v)
        if self._friction.is_zero:
            return self._aba(q, v, tau), tau, self._rest
        c = self._friction.coefficient(v)
        a = np.linalg.solve(self._crba(q) + h * c, tau - self._bias(q, v) - c @ v).astype(np.float64, copy=False)
        return a, tau, c @ (v + h * a)
