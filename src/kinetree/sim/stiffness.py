"""How fast friction brings a joint to rest: what an explicit integrator's step must resolve."""

from __future__ import annotations

import math

import numpy as np

from kinetree.dynamics import aba
from kinetree.errors import StiffFrictionError
from kinetree.function import compile_function
from kinetree.model import Model
from kinetree.sim.friction import Friction
from kinetree.sim.integrators import Array

__all__ = ["MAX_SUBSTEPS", "RK4_REACH", "Stiffness"]

RK4_REACH = 1.5
"""Step times decay rate up to which RK4 is used. Its stability ends at 2.785; the rest is for a rate that grows."""

MAX_SUBSTEPS = 100
"""Beyond this a step is not divided further: the integrator is the wrong one."""

_FIRST_ITERATIONS = 30
_ITERATIONS = 6


class Stiffness:
    """The fastest decay rate of v̇ = -M(q)⁻¹ C v, with C the steepest friction, followed along a motion.

    It is the largest eigenvalue of C^½ M⁻¹ C^½, found by power iteration. M⁻¹ acts through the articulated-body
    algorithm, so the cost stays linear in the number of bodies. Each search begins near where the last one ended.
    """

    def __init__(self, robot: Model, friction: Friction) -> None:
        self._names = robot.v_names
        self._aba = compile_function(robot, aba)
        self._root = np.sqrt(friction.steepest)
        self._rest = np.zeros(robot.nv)
        # A part of every direction remains in each search, so that none that has grown meanwhile is overlooked.
        self._seed = np.random.default_rng(0).normal(size=robot.nv) * (self._root > 0.0)
        self._x = np.zeros(robot.nv)

    def fastest_decay(self, q: Array) -> tuple[float, int]:
        """(rate in 1/s, degree of freedom that loses most energy) at the configuration q (nq,)."""
        root, rest = self._root, self._rest
        offset = self._aba(q, rest, rest)
        x = self._x + 0.3 * self._seed
        rate = 0.0
        for _ in range(_ITERATIONS if self._x.any() else _FIRST_ITERATIONS):
            length = math.sqrt(float(x @ x))
            if length == 0.0:
                return 0.0, 0
            x = x / length
            y = root * (self._aba(q, rest, root * x) - offset)
            rate = math.sqrt(float(y @ y))
            x = y
        self._x = x / rate if rate > 0.0 else np.zeros_like(x)
        return rate, int(np.argmax(np.abs(x)))

    def substeps(self, q: Array, dt: float) -> int:
        """Into how many parts RK4 must divide a step of dt so that friction does not make it unstable.

        Raises `StiffFrictionError` when that is more than `MAX_SUBSTEPS`.
        """
        rate, joint = self.fastest_decay(q)
        needed = max(1, math.ceil(dt * rate / RK4_REACH))
        if needed <= MAX_SUBSTEPS:
            return needed
        raise StiffFrictionError(
            f"the friction of {self._names[joint]!r} stops it within {1.0 / rate:.1g} s, so RK4 would need {needed} "
            f"parts of each step of {dt:g} s (at most {MAX_SUBSTEPS} are taken); use the integrator 'euler', which "
            "takes friction implicitly, or leave friction out"
        )
