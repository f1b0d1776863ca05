"""A motion in steps of a fixed length: over each what acts is constant, and one call of a kernel takes many; or Python
functions are called at every stage."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.calls import compile_function
from kinetree.functions.chosen import Chosen
from kinetree.functions.constraint_options import ALL, ERRORS
from kinetree.functions.step_division import Parts
from kinetree.functions.step_stages import StageParts, evaluation, stage_state
from kinetree.functions.steps import steps_of
from kinetree.model.by_identity import ByIdentity
from kinetree.sim.motion import Samples, Source
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting

__all__ = ["Staged", "Stepper", "ends_of_runs"]

Array = NDArray[np.float64]
_NOTHING = np.zeros(0)


_KERNELS: ByIdentity[dict[Hashable, tuple[Any, ...]]] = ByIdentity()
"""For each robot the functions of steps, for many motions and for one, and the shapes of the numbers of constraints."""


class Stepper:
    """A motion under the inputs of a source."""

    def __init__(self, setting: Setting, source: Source, count: int) -> None:
        """`count`: how many steps the whole motion has."""
        setting = setting.with_rows(source.recorded, count)
        self._source, self.recorded = source, source.recorded
        self.most, self.given, self.accept, self.carried = source.most, source.given, source.accept, source.carried
        robot, shape, kind, held = setting.robot, setting.shape, setting.kind, setting.held
        self._dt, self._shape, self._count = setting.dt, shape, count
        q, v, act = setting.ends
        self._parts = [slice(0, q), slice(q, v), *([slice(v, act)] if kind.activations else []), slice(act, act + 2)]
        self._width, self._report_size = act + 2, robot.nv + 1 if kind.reports else 0
        self._trees = robot.nv if kind.sleeps else 0
        self._unread = [np.zeros(1), np.zeros(robot.nv)] if kind.reports else []
        self._given = [slice(0, robot.nv), slice(robot.nv, None)] if kind.commands else []
        self._forces = [*setting.forces.values()]
        self._until = [int(end) for end in ends_of_runs(setting.known_forces, count)]
        cores = [robot.parameter(name).shape for name in setting.parameters]
        self._parameters = [
            np.broadcast_to(np.asarray(x, order="C"), (*shape, *core))
            for x, core in zip(setting.parameters.values(), cores, strict=True)
        ]
        if robot not in _KERNELS:
            _KERNELS[robot] = {}
        known, options = _KERNELS[robot], setting.options
        forces, parameters = tuple(setting.forces), tuple(setting.parameters)
        constraints = ALL.without(held) if held else ()
        key = (
            kind, forces, parameters, setting.integrator, setting.passive, setting.limits, setting.contact, constraints
        )  # fmt: skip
        if (kernel := known.get(key)) is None:
            compiled: Any = compile_function(robot, steps_of(kind), f_ext=forces, parameters=parameters, **options)
            kernel = known[key] = compiled, compiled.__self__.unchecked(), compiled.__self__.source.numbers
        self._of_many, self._of_one, ports = kernel
        numbers = zip(ALL.arrays(held), ports, strict=True) if held else ()
        self._numbers = [np.broadcast_to(np.asarray(x, order="C"), (*shape, *port.shape)) for x, port in numbers]

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        for end in self._source.runs(record, step, count):
            while step < end:
                run = min(end, self._until[bisect_right(self._until, step)])
                self._under_constant_forces(record, step, run, parts)
                step = run

    def _under_constant_forces(self, record: Record, step: int, end: int, parts: Parts) -> None:
        """Take steps up to an end, under the record's inputs."""
        forces = self._forces_at(step) if self._forces else []
        given, start = record.given[..., step:end, :], record.rows[..., step, :]
        after = record.rows[..., step + 1 : end + 1, :]
        report = None if record.contact_report is None else record.contact_report[..., step:end, :]
        trees = None if record.trees is None else record.trees[..., step : end + 1, :]
        if isinstance(parts, int):
            reports = self._divided(
                start, after, given, self._dt, parts, forces, self._numbers, self._parameters, trees=trees
            )
            if report is not None:
                report[...] = reports
            return
        whole = np.broadcast_to(given, (*self._shape, *given.shape[-2:]))
        forces = [np.broadcast_to(x, (*self._shape, x.shape[-1])) for x in forces]
        for number in np.unique(parts):
            some = parts == number
            into = np.empty((int(some.sum()), *after.shape[-2:]))
            others = ([x[some] for x in xs] for xs in (forces, self._numbers, self._parameters))
            own = None if trees is None else trees[some]
            reports = self._divided(start[some], into, whole[some], self._dt, int(number), *others, trees=own)
            after[some] = into
            if trees is not None:
                trees[some] = own
            if report is not None:
                report[some] = reports

    def contact_report(self, record: Record, row: int) -> Array:
        """The contact report (…, 1 + nv) of a step from a row; the step is not kept."""
        start, forces = record.rows[..., row, :], self._forces_at(row)
        after = np.empty((*start.shape[:-1], 1, self._width))
        given = record.given[..., row : row + 1, :]
        trees = None if record.trees is None else record.trees[..., row : row + 1, :].repeat(2, axis=-2)
        report = self._divided(start, after, given, self._dt, 1, forces, self._numbers, self._parameters, trees=trees)
        assert report is not None
        return report[..., 0, :]

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        """The rows (m, n) of some samples after the first `lengths` (m,) s of a step."""
        row, given = record.rows[..., step, :], record.given[..., step, :]
        into = np.empty((len(lengths), 1, row.shape[-1]))
        for number, own, those in some.by_number(parts):
            forces = [those.of(x, 1) for x in self._forces_at(step)]
            others = ([those.of(x) for x in xs] for xs in (self._numbers, self._parameters))
            after = into[own]
            trees = None if record.trees is None else those.of(record.trees[..., step, :])[:, None].repeat(2, axis=1)
            now, acting = those.of(row), those.of(given)[:, None]
            self._divided(now, after, acting, lengths[own], number, forces, *others, trees=trees)
            into[own] = after
        return into[:, 0]

    def _forces_at(self, step: int) -> list[Array]:
        return [x[..., min(step, self._count - 1), :] for x in self._forces]

    def _divided(
        self,
        start: Array,
        after: Array,
        given: Array,
        length: float | Array,
        parts: int,
        forces: Sequence[Array],
        numbers: Sequence[Array],
        parameters: Sequence[Array],
        *,
        trees: Array | None = None,
    ) -> Array | None:
        """Fill in the rows after the start; return the contact reports (…, count, 1 + nv) of steps that make them.

        `trees`: their numbers (…, count + 1, nv) from the start on, if bodies may sleep.
        """
        state, h = [start[..., part] for part in self._parts], np.asarray(length / parts)
        state += self._unread if trees is None else [trees[..., 0, :], *self._unread]
        given = np.repeat(given, parts, axis=-2)
        rows = [given[..., part].copy() for part in self._given] if self._given else [given]
        is_whole = parts == 1 and not self._report_size
        into = (
            after
            if is_whole
            else np.empty((*after.shape[:-2], given.shape[-2], self._width + self._trees + self._report_size))
        )
        if start.ndim == 1:
            forces = [np.asarray(x, order="C") for x in forces] if forces else ()
            self._of_one(*state, *rows, h, *numbers, *forces, *parameters, out=into)
        else:
            self._of_many(*state, *rows, h, *numbers, *forces, *parameters, out=into)
        if is_whole:
            return None
        after[...] = into[..., parts - 1 :: parts, : self._width]
        if not self._report_size:
            return None
        end = self._width + self._trees
        if trees is not None:
            trees[..., 1:, :] = into[..., parts - 1 :: parts, self._width : end]
        report: Array = into[..., ::parts, end:]
        for k in range(1, parts):
            np.fmax(report[..., 0], into[..., k::parts, end], out=report[..., 0])
        return report


class Staged:
    """A single motion under torques or forces that are functions of time and state, called at every stage."""

    def __init__(self, setting: Setting, source: Samples, count: int) -> None:
        """`count`: how many steps the whole motion has."""
        from kinetree.algorithms import INTEGRATORS

        robot, held, options = setting.robot, setting.under_constraints, setting.options
        self._source, self._count, self.recorded = source, count, source.recorded
        self.most, self.accept, self.carried = source.most, source.accept, source.carried
        self._forces = [*setting.forces.values()]
        self._parameters = [*setting.parameters.values()]
        self._numbers, self._places = ALL.arrays(setting.held), ERRORS.arrays(setting.held)
        self._now = -1
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

    def given(self, step: int, row: Array) -> Array:
        self._now = step
        return self._source.given(step, row)

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        assert count == 1
        assert isinstance(parts, int)
        row = record.rows[step]
        for part in range(parts):
            row, report = self._part(row, step, part, self._dt / parts)
            self._put(record, step, part, report)
        record.rows[step + 1] = row

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:  # noqa: ARG002
        assert isinstance(parts, int)
        row: Array = record.rows[step]
        for part in range(parts):
            row, _ = self._part(row, step, part, float(lengths[0]) / parts)
        return row[None]

    def contact_report(self, record: Record, row: int) -> Array:
        q, v = record.rows[row, : self._nq], record.rows[row, self._nq : self._nq + self._nv]
        forces = [x[row] for x in self.recorded.values()]
        stage = self._stage(q, v, [record.given[row], *forces], np.array([self._dt]), min(row, self._count - 1))
        return np.concatenate((stage.error, stage.solved))

    @staticmethod
    def _put(record: Record, step: int, part: int, report: Array) -> None:
        """Keep the contact report of a step's first part, with the largest error of all parts."""
        if record.contact_report is not None:
            own = record.contact_report[step]
            error = report[0] if not part else np.fmax(own[0], report[0])
            if not part:
                own[:] = report
            own[0] = error

    def _part(self, row: Array, step: int, part: int, length: float) -> tuple[Array, Array]:
        """The row after one part, of some length, of a step, and the report of its contacts."""
        integrator, nq, nv = self._integrator, self._nq, self._nv
        h = np.array([length])
        past: list[Array] = []
        powers, report = np.empty((integrator.stages, 2)), np.empty(0)
        q, v, exchanged = row[:nq], row[nq : nq + nv], row[nq + nv :]
        for k, (time, state) in enumerate(zip(integrator.times, self._states, strict=True)):
            t = (self._first + step) * self._dt + (part + time) * length
            is_known = self._now == step and part == k == 0
            acting = self._source.acting(step, t, *(() if is_known else (q, v, _NOTHING)))
            stage = self._stage(q, v, acting, h, step)
            powers[k] = stage.powers
            report = np.concatenate((stage.error, stage.solved)) if not k else report
            report[:1] = np.fmax(report[:1], stage.error)
            past += (q, v, stage.a)
            after = state(h, *past)
            q, v = after[:nq], after[nq:]
        if self._project is not None:
            after = self._project(q, v, *self._places, *self._parameters)
            q, v = after[:nq], after[nq:]
        return np.concatenate((q, v, exchanged + length * (self._weights @ powers))), report

    def _stage(self, q: Array, v: Array, acting: Sequence[Array], h: Array, step: int) -> StageParts:
        tau, *computed = acting
        forces = [*(rows[step] for rows in self._forces), *computed]
        return StageParts.of(self._evaluate(q, v, tau, h, *self._numbers, *forces, *self._parameters), self._nv)


def ends_of_runs(forces: Sequence[Array], steps: int) -> NDArray[np.intp]:
    """The steps, and the end, at which a run of steps with the same forces ends."""
    changes = [
        np.any(rows[..., 1:, :] != rows[..., :-1, :], axis=(*range(rows.ndim - 2), rows.ndim - 1)) for rows in forces
    ]
    return np.append(np.flatnonzero(np.any(changes, axis=0)) + 1 if forces else [], steps).astype(np.intp)
