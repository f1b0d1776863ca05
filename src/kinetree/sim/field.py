"""The equation of motion of a batch as kernels, for a method that chooses its steps sample by sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.calls import compile_function
from kinetree.functions.constraint_options import ALL, ERRORS
from kinetree.functions.displacements import displaced_state, fixed_velocity, free_rates, held_rates
from kinetree.functions.step_stages import HELD_STAGES
from kinetree.sim.setting import Setting

__all__ = ["Field"]

Array = NDArray[np.float64]
Samples = NDArray[np.intp]


class Field:
    """The equation of motion: each call is for some samples of the batch, whose axes are one here."""

    def __init__(self, setting: Setting) -> None:
        robot, shape, count = setting.robot, setting.shape, math.prod(setting.shape)

        def flat(x: NDArray[Any], core: tuple[int, ...]) -> Array:
            return np.broadcast_to(x, (*shape, *core)).reshape(count, *core)

        given = [(x, robot.parameter(name).shape) for name, x in setting.parameters.items()]
        self._parameters = [flat(np.asarray(x), core) for x, core in given]
        options: dict[str, Any] = {"passive": setting.passive, "limits": setting.limits}
        if setting.contact is not None:
            options["contact"] = setting.contact
        if setting.held:
            options["constraints"] = setting.held
        self._rates = compile_function(
            robot, held_rates if setting.held else free_rates, f_ext=[*setting.forces],
            parameters=[*setting.parameters], **options,
        )  # fmt: skip
        self._numbers = self._of_constraints(self._rates, ALL.arrays(setting.held), flat)
        self._stage = compile_function(robot, displaced_state, recharts=False)
        self._end = compile_function(robot, displaced_state, recharts=True)
        self._fixed = compile_function(robot, fixed_velocity)
        self._projection: Callable[..., Array] | None = None
        if setting.held:
            self._projection = compile_function(
                robot, HELD_STAGES.projection, parameters=[*setting.parameters], constraints=setting.held
            )
            self._places = self._of_constraints(self._projection, ERRORS.arrays(setting.held), flat)
        self._nq, self._nv = robot.nq, robot.nv
        self.moves_ends = bool(setting.held) or any(joint.kind.recharts for joint in robot.joints.values())
        """Whether a step ends in another state, or in other coordinates, than the stage there had."""

    def fixed_velocity(self, q: Array, v: Array) -> Array:
        """v in axes that do not turn."""
        w: Array = self._fixed(q, v)
        return w

    def state(self, start: Array, y: Array) -> tuple[Array, Array]:
        """q and v of a stage at y = [d, w, …] from a start."""
        found = self._stage(start, y[..., : self._nv], y[..., self._nv : 2 * self._nv])
        return found[..., : self._nq], found[..., self._nq :]

    def rates(
        self, q: Array, v: Array, start: Array, y: Array, tau: Array, forces: Sequence[Array], some: Samples
    ) -> Array:
        """ẏ at such a state."""
        numbers, parameters = (self._of(xs, some) for xs in (self._numbers, self._parameters))
        rates: Array = self._rates(q, v, start, y[..., : self._nv], tau, *numbers, *forces, *parameters)
        return rates

    def rows(self, start: Array, y: Array, some: Samples) -> Array:
        """[q, v, work, loss] at the end of a step, or between: on constraints, and far from singularities."""
        nv = self._nv
        found = self._end(start, y[..., :nv], y[..., nv : 2 * nv])
        if self._projection is not None:
            places, parameters = (self._of(xs, some) for xs in (self._places, self._parameters))
            found = self._projection(found[..., : self._nq], found[..., self._nq :], *places, *parameters)
        return np.concatenate((found, y[..., 2 * nv : 2 * nv + 2]), axis=-1)

    @staticmethod
    def _of_constraints(function: Any, arrays: Sequence[Array], flat: Callable[..., Array]) -> list[Array]:
        ports = function.__self__.source.numbers
        return [flat(x, port.shape) for x, port in zip(arrays, ports, strict=True)]

    @staticmethod
    def _of(arrays: Sequence[Array], some: Samples) -> list[Array]:
        return [x[some] for x in arrays]
