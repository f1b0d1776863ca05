"""How fast friction stops a joint, and how fast a spring swings it: what an integrator's step must resolve."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.calls import compile_function
from kinetree.errors import SimulationError, StiffFrictionError
from kinetree.functions.dynamics import aba
from kinetree.model import Model

__all__ = ["EULER_REACH", "MAX_SUBSTEPS", "RK4_REACH", "Fastest", "Stiffness", "spring_stiffness", "steepest_friction"]

Array = NDArray[np.float64]

RK4_REACH = 1.5
"""Step times rate up to which RK4 is used. Its stability ends at 2.785 for decay and at 2.828 for swinging; the rest is
for a rate that grows."""

EULER_REACH = 1.0
"""The same of semi-implicit Euler, for springs alone: its stability ends at 2. Friction it takes implicitly."""

MAX_SUBSTEPS = 100
"""Beyond this a step is not divided further: the integrator is the wrong one."""

_FIRST_ITERATIONS = 30
_ITERATIONS = 6


def steepest_friction(robot: Model, passive: Collection[str]) -> Array:
    """The viscous damping that brakes as hard as the named friction does at rest, where it is steepest.

    One number per degree of freedom of the joints, followers' included.
    """
    steepest = np.zeros(len(_joint_numbers(robot, "damping")))
    if "damping" in passive:
        steepest += _joint_numbers(robot, "damping")
    if "friction" in passive:
        steepest += _joint_numbers(robot, "friction") / _joint_numbers(robot, "friction_speed")
    return steepest


def spring_stiffness(robot: Model, passive: Collection[str]) -> Array:
    """The stiffness of the springs, if they are named, per degree of freedom of the joints."""
    return _joint_numbers(robot, "stiffness") * ("spring" in passive)


def _joint_numbers(robot: Model, name: str) -> Array:
    return np.array([x for joint in robot.joints.values() for x in getattr(joint, name)], dtype=np.float64)


class Fastest:
    """The largest eigenvalue of M(q)⁻¹ Gᵀ C G, with one number C >= 0 per degree of freedom of the joints.

    G gives the joints' rates. It is followed along a motion by power iteration on C^½ G M⁻¹ Gᵀ C^½, which is symmetric.
    M⁻¹ acts through the articulated-body algorithm, so the cost stays linear in the number of bodies. Each search
    begins near where the last one ended.
    """

    def __init__(self, robot: Model, numbers: Array, parameters: Mapping[str, Array] | None = None) -> None:
        self._root = np.sqrt(np.maximum(numbers, 0.0))  # what feeds energy in is not stiff
        shared = robot.tree.coordinates
        self._rates = None if shared is None else shared.matrix()
        self._rest = np.zeros(robot.nv)
        # A part of every direction remains in each search, so that none that has grown meanwhile is overlooked.
        self._seed = np.random.default_rng(0).normal(size=len(numbers)) * (self._root > 0.0)
        self._x = np.zeros(len(numbers))
        self.is_zero = not self._root.any()
        if not self.is_zero:
            self._parameters = [*(parameters or {}).values()]
            self._aba = compile_function(robot, aba, parameters=[*(parameters or {})])

    def at(self, q: Array) -> tuple[float, int]:
        """(eigenvalue, degree of freedom of the joints that takes most part) at the configuration q (nq,)."""
        if self.is_zero:
            return 0.0, 0
        root, rest = self._root, self._rest
        offset = self._aba(q, rest, rest, *self._parameters)
        x = self._x + 0.3 * self._seed
        rate = 0.0
        for _ in range(_ITERATIONS if self._x.any() else _FIRST_ITERATIONS):
            length = math.sqrt(float(x @ x))
            if length == 0.0:
                return 0.0, 0
            x = x / length
            force = root * x if self._rates is None else self._rates.T @ (root * x)
            response = self._aba(q, rest, force, *self._parameters) - offset
            y = root * (response if self._rates is None else self._rates @ response)
            rate = math.sqrt(float(y @ y))
            x = y
        self._x = x / rate if rate > 0.0 else np.zeros_like(x)
        return rate, int(np.argmax(np.abs(x)))

    def of_each(self, q: Array) -> tuple[Array, NDArray[np.intp]]:
        """The same for a batch of configurations (…, nq), each sample by itself."""
        if self.is_zero:
            return np.zeros(q.shape[:-1]), np.zeros(q.shape[:-1], dtype=np.intp)
        root, rest, G = self._root, self._rest, self._rates
        iterations = _ITERATIONS
        if self._x.ndim == 1:  # the first search
            self._x, iterations = np.zeros((*q.shape[:-1], len(root))), _FIRST_ITERATIONS
        offset = self._aba(q, rest, rest, *self._parameters)
        x, rate = self._x + 0.3 * self._seed, np.zeros(q.shape[:-1])
        for _ in range(iterations):
            length = np.sqrt((x * x).sum(axis=-1))
            x = x / np.where(length > 0.0, length, 1.0)[..., None]
            force = root * x if G is None else (G * (root * x)[..., None]).sum(axis=-2)
            response = self._aba(q, rest, force, *self._parameters) - offset
            x = root * (response if G is None else (G * response[..., None, :]).sum(axis=-1))
            rate = np.sqrt((x * x).sum(axis=-1))
        self._x = x / np.where(rate > 0.0, rate, 1.0)[..., None]
        return rate, np.argmax(np.abs(self._x), axis=-1)


class Stiffness:
    """The fastest decay by friction, the steepest there is, and the fastest swing of springs, along a motion."""

    def __init__(
        self,
        robot: Model,
        passive: Collection[str],
        integrator: str,
        parameters: Mapping[str, Array] | None = None,
    ) -> None:
        self._integrator = integrator
        self._names = [
            f"{joint.name}.{suffix}" if suffix else joint.name
            for joint in robot.joints.values()
            for suffix in joint.kind.v_names
        ]
        # Semi-implicit Euler is steady however stiff friction is.
        friction = steepest_friction(robot, passive if integrator == "rk4" else ())
        self._friction = Fastest(robot, friction, parameters)
        self._springs = Fastest(robot, spring_stiffness(robot, passive), parameters)
        self.is_zero = self._friction.is_zero and self._springs.is_zero
        """Whether no step need ever be divided."""

    def substeps(self, q: Array, dt: float) -> int | NDArray[np.intp]:
        """Into how many parts a step of dt must be divided so that it stays stable; of each sample in a batch.

        Raises `StiffFrictionError`, or for springs `SimulationError`, when that is more than `MAX_SUBSTEPS`.
        """
        if q.ndim == 1:
            return self._parts(*self._friction.at(q), *self._springs.at(q), dt)
        (decay, brake), (square, spring) = self._friction.of_each(q), self._springs.of_each(q)
        parts = [
            self._parts(float(decay[k]), int(brake[k]), float(square[k]), int(spring[k]), dt)
            for k in np.ndindex(decay.shape)
        ]
        return np.array(parts, dtype=np.intp).reshape(q.shape[:-1])

    def _parts(self, decay: float, brake: int, square: float, spring: int, dt: float) -> int:
        swing = math.sqrt(square)
        reach = RK4_REACH if self._integrator == "rk4" else EULER_REACH
        needed = max(1, math.ceil(dt * (decay + swing) / reach))
        if needed <= MAX_SUBSTEPS:
            return needed
        if decay >= swing:
            raise StiffFrictionError(
                f"the friction of {self._names[brake]!r} stops it within {1.0 / decay:.1g} s, so RK4 would need "
                f"{needed} parts of each step of {dt:g} s (at most {MAX_SUBSTEPS} are taken); use the integrator "
                "'semi_implicit_euler', which takes friction implicitly, or leave friction out"
            )
        raise SimulationError(
            f"the spring of {self._names[spring]!r} swings it within {2.0 * math.pi / swing:.1g} s, so the integrator "
            f"{self._integrator!r} would need {needed} parts of each step of {dt:g} s (at most {MAX_SUBSTEPS} are "
            "taken); take a smaller step or a softer spring, lock the joint, or leave springs out"
        )
