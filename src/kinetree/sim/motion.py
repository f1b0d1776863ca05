"""The motion of one simulation, or of a batch, advanced by whole steps: many at once, or stage by stage."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.calls import compile_function
from kinetree.functions.constraint_options import ALL
from kinetree.functions.steps import steps
from kinetree.sim.chosen import Chosen
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting
from kinetree.sim.stiffness import Parts
from kinetree.sim.torques import Torque

__all__ = ["Held", "Motion", "Sampled", "ends_of_runs"]

Array = NDArray[np.float64]


class Motion(Protocol):
    """What `simulate` asks for. Row k of the record is the state before step k."""

    def most(self, step: int) -> int:
        """How many steps may be taken at once from a step on."""

    def torque(self, step: int, row: Array) -> Array:
        """The torques at the beginning of a step, (…, nv)."""

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        """Take steps from row `step` on, each divided into equal parts: fill in the rows and torques they give."""

    def accept(self, record: Record, first: int, end: int) -> None:
        """Steps `first` to `end` are final: refuse torques that cannot be."""

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        """The rows (m, n) of some samples after the first `lengths` (m,) s of a step."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        """What the steps from a step on depend on, besides the state at its beginning and what they are given."""


class _Stepper:
    """Steps under known torques: one call of a kernel for many of them."""

    def __init__(self, setting: Setting, count: int) -> None:
        """`count`: how many steps the whole motion has."""
        robot, shape = setting.robot, setting.shape
        self._dt, self._shape = setting.dt, shape
        self._split = (robot.nq, robot.nq + robot.nv)
        self._forces = [*setting.forces.values()]
        self._until = [int(end) for end in ends_of_runs(self._forces, count)]
        cores = [robot.parameter(name).shape for name in setting.parameters]
        self._parameters = [
            np.broadcast_to(np.asarray(x, order="C"), (*shape, *core))
            for x, core in zip(setting.parameters.values(), cores, strict=True)
        ]
        held = setting.under_constraints
        self._of_many = compile_function(
            robot, steps if held is None else held.steps, f_ext=[*setting.forces],
            parameters=[*setting.parameters], **setting.options,
        )  # fmt: skip
        compiled = self._of_many.__self__  # type: ignore[attr-defined]
        self._of_one, ports = compiled.unchecked(), compiled.source.numbers
        numbers = zip(ALL.arrays(setting.held), ports, strict=True)
        self._numbers = [np.broadcast_to(np.asarray(x, order="C"), (*shape, *port.shape)) for x, port in numbers]

    def advance(self, record: Record, step: int, tau: Array, parts: Parts) -> None:
        """Take a step per row of tau (…, count, nv)."""
        end = step + tau.shape[-2]
        record.tau[..., step:end, :] = tau
        while step < end:
            run = min(end, self._until[bisect_right(self._until, step)]) - step
            self._with_constant_forces(record.rows, step, tau[..., :run, :], parts)
            step, tau = step + run, tau[..., run:, :]

    def _with_constant_forces(self, rows: Array, step: int, tau: Array, parts: Parts) -> None:
        forces = [x[..., step, :] for x in self._forces]
        start, after = rows[..., step, :], rows[..., step + 1 : step + 1 + tau.shape[-2], :]
        if isinstance(parts, int):
            self._divided(start, after, tau, self._dt, parts, forces, self._numbers, self._parameters)
            return
        whole = np.broadcast_to(tau, (*self._shape, *tau.shape[-2:]))
        forces = [np.broadcast_to(x, (*self._shape, x.shape[-1])) for x in forces]
        for number in np.unique(parts):
            some = parts == number
            into = np.empty((int(some.sum()), *after.shape[-2:]))
            others = ([x[some] for x in xs] for xs in (forces, self._numbers, self._parameters))
            self._divided(start[some], into, whole[some], self._dt, int(number), *others)
            after[some] = into

    def part(self, row: Array, step: int, tau: Array, lengths: Array, parts: Parts, some: Chosen) -> Array:
        """The rows (m, n) of some samples after the first `lengths` (m,) s of a step, under torques (…, nv)."""
        into = np.empty((len(lengths), 1, row.shape[-1]))
        for number, own, those in some.by_number(parts):
            forces = [those.of(x[..., step, :], 1) for x in self._forces]
            others = ([those.of(x) for x in xs] for xs in (self._numbers, self._parameters))
            after = into[own]
            self._divided(those.of(row), after, those.of(tau)[:, None], lengths[own], number, forces, *others)
            into[own] = after
        return into[:, 0]

    def _divided(
        self,
        start: Array,
        after: Array,
        tau: Array,
        length: float | Array,
        parts: int,
        forces: Sequence[Array],
        numbers: Sequence[Array],
        parameters: Sequence[Array],
    ) -> None:
        """Fill in the rows after the start."""
        nq, end = self._split
        state, h = (start[..., :nq], start[..., nq:end], start[..., end:]), np.asarray(length / parts)
        tau = np.repeat(tau, parts, axis=-2)
        into = after if parts == 1 else np.empty((*after.shape[:-2], tau.shape[-2], after.shape[-1]))
        if start.ndim == 1:
            forces = [np.asarray(x, order="C") for x in forces]
            self._of_one(*state, tau, h, *numbers, *forces, *parameters, out=into)
        else:
            self._of_many(*state, tau, h, *numbers, *forces, *parameters, out=into)
        if parts > 1:
            after[...] = into[..., parts - 1 :: parts, :]


class Held:
    """A motion under torques known in advance, constant over each step."""

    def __init__(self, setting: Setting, tau: Array) -> None:
        """`tau`: (…, steps, nv)."""
        self._tau = tau
        self._stepper = _Stepper(setting, tau.shape[-2])

    def most(self, step: int) -> int:  # noqa: ARG002
        return 100_000

    def torque(self, step: int, row: Array) -> Array:  # noqa: ARG002
        # The last row is asked for once more, for the end of the last step.
        torque: Array = self._tau[..., min(step, self._tau.shape[-2] - 1), :]
        return torque

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        self._stepper.advance(record, step, self._tau[..., step : step + count, :], parts)

    def accept(self, record: Record, first: int, end: int) -> None:
        """Its torques were checked when they were given."""

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        return self._stepper.part(record.rows[..., step, :], step, record.tau[..., step, :], lengths, parts, some)

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {}


class Sampled:
    """A motion under torques that a function of time and state gives at regular times, constant between them."""

    def __init__(
        self, setting: Setting, torque: Torque, period: int, count: int, carried: Mapping[str, NDArray[Any]]
    ) -> None:
        """`period`: how many steps from one sample to the next; `count`: how many the whole motion has."""
        self._torque, self._period, self._count, self._first = torque, period, count, setting.first
        self._dt, self._split = setting.dt, (setting.robot.nq, setting.robot.nq + setting.robot.nv)
        self._stepper = _Stepper(setting, count)
        self._held: Array = carried.get("tau", np.zeros(setting.robot.nv))

    def most(self, step: int) -> int:
        return self._period - (self._first + step) % self._period

    def torque(self, step: int, row: Array) -> Array:
        moment = self._first + step
        if moment % self._period == 0 and step < self._count:
            nq, end = self._split
            self._held = self._torque(moment * self._dt, row[..., :nq], row[..., nq:end])
        return self._held

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        tau = self._held[..., None, :]
        if count > 1:
            tau = np.broadcast_to(tau, (*tau.shape[:-2], count, tau.shape[-1]))
        self._stepper.advance(record, step, tau, parts)

    def accept(self, record: Record, first: int, end: int) -> None:
        """Its torques were checked when they were given."""

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        return self._stepper.part(record.rows[..., step, :], step, record.tau[..., step, :], lengths, parts, some)

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {"tau": np.array(self._held)}


def ends_of_runs(forces: Sequence[Array], steps: int) -> NDArray[np.intp]:
    """The steps, and the end, at which a run of steps with the same forces ends."""
    changes = [
        np.any(rows[..., 1:, :] != rows[..., :-1, :], axis=(*range(rows.ndim - 2), rows.ndim - 1)) for rows in forces
    ]
    return np.append(np.flatnonzero(np.any(changes, axis=0)) + 1 if forces else [], steps).astype(np.intp)
