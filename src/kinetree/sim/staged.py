"""A motion under Python functions, of torques or forces, that are called at every stage of the integrator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms import INTEGRATORS
from kinetree.compiler.calls import compile_function
from kinetree.functions.constraint_options import ALL, ERRORS
from kinetree.functions.step_stages import StageParts, evaluation, stage_state
from kinetree.sim.chosen import Chosen
from kinetree.sim.controllers import Torque
from kinetree.sim.motion import force_records
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting
from kinetree.sim.stiffness import Parts

__all__ = ["Staged"]

Array = NDArray[np.float64]
_NOTHING = np.zeros(0)
_Acting = tuple[Array, Sequence[Array]]
"""Torques, and the forces that functions give."""


class Staged:
    """A single motion under torques or forces that are functions of time and state, called at every stage."""

    def __init__(self, setting: Setting, torque: Array | Torque, forces: Mapping[str, Torque], count: int) -> None:
        """`torque`: a function, or rows (count, nv) beside forces that are functions; `forces`: those, by name.

        `count`: how many steps the whole motion has.
        """
        robot, held, options = setting.robot, setting.under_constraints, setting.options
        self._torque, self._count = torque, count
        self._forces = [*setting.forces.values()]
        self._called, self.recorded = [*forces.values()], force_records(setting, count)
        self._parameters = [*setting.parameters.values()]
        self._numbers, self._places = ALL.arrays(setting.held), ERRORS.arrays(setting.held)
        self._now: tuple[int, Any] = (-1, None)
        self._dt, self._first = setting.dt, setting.first
        self._nq, self._nv = robot.nq, robot.nv
        self._integrator = INTEGRATORS[setting.integrator]
        self._weights = np.array(self._integrator.weights)
        self._evaluate = compile_function(
            robot, evaluation if held is None else held.evaluation, f_ext=[*setting.forces, *setting.sources],
            parameters=[*setting.parameters], **options,
        )  # fmt: skip
        self._states = [
            compile_function(robot, stage_state(k + 1), integrator=setting.integrator)
            for k in range(self._integrator.stages)
        ]
        self._project = held and compile_function(
            robot, held.projection, parameters=[*setting.parameters], constraints=options["constraints"]
        )

    def most(self, step: int) -> int:  # noqa: ARG002
        return 1

    def given(self, step: int, row: Array) -> Array:
        t, q, v = (self._first + step) * self._dt, row[: self._nq], row[self._nq : self._nq + self._nv]
        tau, forces = self._acting(step, t, q, v)
        self._now = step, (tau, forces)
        for x, force in zip(self.recorded.values(), forces, strict=True):
            x[step] = force
        return tau

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        assert count == 1
        assert isinstance(parts, int)
        row = record.rows[step]
        for part in range(parts):
            row, told = self._part(row, step, part, self._dt / parts)
            self._put(record, step, part, told)
        record.rows[step + 1] = row

    def accept(self, record: Record, first: int, end: int) -> None:
        """Its torques were checked when they were given."""

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:  # noqa: ARG002
        assert isinstance(parts, int)
        row: Array = record.rows[step]
        for part in range(parts):
            row, _ = self._part(row, step, part, float(lengths[0]) / parts)
        return row[None]

    def tell(self, record: Record, row: int) -> Array:
        q, v = record.rows[row, : self._nq], record.rows[row, self._nq : self._nq + self._nv]
        forces = [x[row] for x in self.recorded.values()]
        stage = self._stage(q, v, (record.given[row], forces), np.array([self._dt]), min(row, self._count - 1))
        return np.concatenate((stage.error, stage.solved))

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {}

    @staticmethod
    def _put(record: Record, step: int, part: int, told: Array) -> None:
        """Keep what the first part of a step tells, with the largest error of all."""
        if record.told is not None:
            own = record.told[step]
            error = told[0] if not part else np.fmax(own[0], told[0])
            if not part:
                own[:] = told
            own[0] = error

    def _part(self, row: Array, step: int, part: int, length: float) -> tuple[Array, Array]:
        """The row after one part, of some length, of a step, and what it tells of its contacts."""
        integrator, nq, nv = self._integrator, self._nq, self._nv
        h = np.array([length])
        past: list[Array] = []
        powers, told = np.empty((integrator.stages, 2)), np.empty(0)
        q, v, exchanged = row[:nq], row[nq : nq + nv], row[nq + nv :]
        for k, (time, state) in enumerate(zip(integrator.times, self._states, strict=True)):
            acting = self._acting_at(step, part, k, (self._first + step) * self._dt + (part + time) * length, q, v)
            stage = self._stage(q, v, acting, h, step)
            powers[k] = stage.powers
            told = np.concatenate((stage.error, stage.solved)) if not k else told
            told[:1] = np.fmax(told[:1], stage.error)
            past += (q, v, stage.a)
            after = state(h, *past)
            q, v = after[:nq], after[nq:]
        if self._project is not None:
            after = self._project(q, v, *self._places, *self._parameters)
            q, v = after[:nq], after[nq:]
        return np.concatenate((q, v, exchanged + length * (self._weights @ powers))), told

    def _stage(self, q: Array, v: Array, acting: _Acting, h: Array, step: int) -> StageParts:
        tau, forces = acting
        forces = [*(rows[step] for rows in self._forces), *forces]
        return StageParts.of(self._evaluate(q, v, tau, h, *self._numbers, *forces, *self._parameters), self._nv)

    def _acting_at(self, step: int, part: int, stage: int, t: float, q: Array, v: Array) -> _Acting:
        known, acting = self._now
        if known == step and part == stage == 0:
            return acting  # type: ignore[no-any-return]
        return self._acting(step, t, q, v)

    def _acting(self, step: int, t: float, q: Array, v: Array) -> _Acting:
        """Torques and forces at a time and state within a step."""
        torque = self._torque
        tau = torque(t, q, v, _NOTHING) if callable(torque) else torque[min(step, self._count - 1)]
        return tau, [force(t, q, v, _NOTHING) for force in self._called]
