"""The motion of one simulation, advanced by whole steps: many at once, or stage by stage for a controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms import INTEGRATORS
from kinetree.compiler.calls import compile_function
from kinetree.functions.steps import evaluation, stage_state, steps
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.sim.record import Record
from kinetree.sim.torques import Torque

__all__ = ["Controlled", "Held", "Motion"]

Array = NDArray[np.float64]


class Motion(Protocol):
    """What `simulate` asks for. Row k of the record is the state before step k."""

    most: int
    """How many steps may be taken at once."""

    def torque(self, step: int, row: Array) -> Array:
        """The torques at the beginning of a step, (nv,)."""

    def advance(self, record: Record, step: int, count: int, parts: int) -> None:
        """Take steps from row `step` on, each divided into equal parts: fill in the rows and torques they give."""


class Held:
    """A motion under torques known in advance, constant over each step: one call of a kernel for many steps."""

    most = 100_000

    def __init__(
        self,
        robot: Model,
        tau: Array,
        forces: Mapping[ForceKey, Array],
        dt: float,
        integrator: str,
        passive: Sequence[str],
        *,
        limits: bool,
    ):
        """`tau`: (steps, nv); each of `forces`: (steps, 6)."""
        self._tau = tau
        self._forces = [*forces.values()]
        self._until = _ends_of_runs(self._forces, len(tau))
        self._dt = dt
        self._split = (robot.nq, robot.nq + robot.nv)
        self._steps = compile_function(
            robot, steps, f_ext=[*forces], integrator=integrator, passive=passive, limits=limits
        )

    def torque(self, step: int, row: Array) -> Array:  # noqa: ARG002
        # The last row is asked for once more, for the end of the last step.
        torque: Array = self._tau[min(step, len(self._tau) - 1)]
        return torque

    def advance(self, record: Record, step: int, count: int, parts: int) -> None:
        end = step + count
        while step < end:
            run = min(end, int(self._until[np.searchsorted(self._until, step, side="right")])) - step
            self._with_constant_forces(record, step, run, parts)
            step += run

    def _with_constant_forces(self, record: Record, step: int, count: int, parts: int) -> None:
        tau, h = self._tau[step : step + count], np.array(self._dt / parts)
        forces = [rows[step] for rows in self._forces]
        record.tau[step : step + count] = tau
        start, after = np.split(record.rows[step], self._split), record.rows[step + 1 : step + count + 1]
        if parts == 1:
            self._steps(*start, tau, h, *forces, out=after)
        else:
            after[:] = self._steps(*start, np.repeat(tau, parts, axis=0), h, *forces)[parts - 1 :: parts]


def _ends_of_runs(forces: Sequence[Array], steps: int) -> NDArray[np.intp]:
    """The steps, and the end, at which a run of steps with the same forces ends."""
    changes = [np.any(rows[1:] != rows[:-1], axis=1) for rows in forces]
    return np.append(np.flatnonzero(np.any(changes, axis=0)) + 1 if forces else [], steps).astype(np.intp)


class Controlled:
    """A motion under torques that are a function of time and state, called at every stage."""

    most = 1

    def __init__(
        self,
        robot: Model,
        torque: Torque,
        forces: Mapping[ForceKey, Array],
        dt: float,
        integrator: str,
        passive: Sequence[str],
        *,
        limits: bool,
    ):
        """Each of `forces`: (steps, 6)."""
        self._torque = torque
        self._forces = [*forces.values()]
        self._now: tuple[int, Any] = (-1, None)
        self._dt = dt
        self._nq, self._nv = robot.nq, robot.nv
        self._integrator = INTEGRATORS[integrator]
        self._weights = np.array(self._integrator.weights)
        self._evaluate = compile_function(
            robot, evaluation, f_ext=[*forces], integrator=integrator, passive=passive, limits=limits
        )
        self._states = [
            compile_function(robot, stage_state(k + 1), integrator=integrator) for k in range(self._integrator.stages)
        ]

    def torque(self, step: int, row: Array) -> Array:
        tau = self._torque(step * self._dt, row[: self._nq], row[self._nq : self._nq + self._nv])
        self._now = step, tau
        return tau

    def advance(self, record: Record, step: int, count: int, parts: int) -> None:
        assert count == self.most
        row = record.rows[step]
        for part in range(parts):
            row = self._part(row, step, part, parts)
        record.rows[step + 1] = row

    def _part(self, row: Array, step: int, part: int, parts: int) -> Array:
        """The row after one part of a step."""
        integrator, nv = self._integrator, self._nv
        length, forces = self._dt / parts, [rows[step] for rows in self._forces]
        h = np.array([length])
        past: list[Array] = []
        powers = np.empty((integrator.stages, 2))
        q, v, exchanged = np.split(row, (self._nq, self._nq + nv))
        for k, (time, state) in enumerate(zip(integrator.times, self._states, strict=True)):
            tau = self._torque_at(step, part, k, step * self._dt + (part + time) * length, q, v)
            found = self._evaluate(q, v, tau, h, *forces)
            powers[k] = found[nv:]
            past += (q, v, found[:nv])
            q, v = np.split(state(h, *past), (self._nq,))
        return np.concatenate((q, v, exchanged + length * (self._weights @ powers)))

    def _torque_at(self, step: int, part: int, stage: int, t: float, q: Array, v: Array) -> Array:
        known, tau = self._now
        if known == step and part == stage == 0:
            return tau  # type: ignore[no-any-return]
        return self._torque(t, q, v)
