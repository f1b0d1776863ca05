"""Steps under known torques and commands: one call of a kernel for many of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.calls import compile_function
from kinetree.functions.constraint_options import ALL
from kinetree.functions.steps import steps_of
from kinetree.sim.chosen import Chosen
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting
from kinetree.sim.stiffness import Parts

__all__ = ["Stepper", "ends_of_runs"]

Array = NDArray[np.float64]


class Stepper:
    """The kernel of a motion's steps."""

    def __init__(self, setting: Setting, count: int) -> None:
        """`count`: how many steps the whole motion has."""
        robot, shape, kind = setting.robot, setting.shape, setting.kind
        self._dt, self._shape, self._count = setting.dt, shape, count
        q, v, act = setting.ends
        self._parts = [slice(0, q), slice(q, v), *([slice(v, act)] if kind.activations else []), slice(act, act + 2)]
        self._width, self._told = act + 2, robot.nv + 1 if kind.tells else 0
        self._unread = [np.zeros(1), np.zeros(robot.nv)] if kind.tells else []
        self._given = [slice(0, robot.nv), slice(robot.nv, None)] if kind.commands else []
        self._forces = [*setting.forces.values()]
        self._until = [int(end) for end in ends_of_runs(setting.known_forces, count)]
        cores = [robot.parameter(name).shape for name in setting.parameters]
        self._parameters = [
            np.broadcast_to(np.asarray(x, order="C"), (*shape, *core))
            for x, core in zip(setting.parameters.values(), cores, strict=True)
        ]
        self._of_many = compile_function(
            robot, steps_of(kind), f_ext=[*setting.forces], parameters=[*setting.parameters], **setting.options
        )
        compiled = self._of_many.__self__  # type: ignore[attr-defined]
        self._of_one, ports = compiled.unchecked(), compiled.source.numbers
        numbers = zip(ALL.arrays(setting.held), ports, strict=True)
        self._numbers = [np.broadcast_to(np.asarray(x, order="C"), (*shape, *port.shape)) for x, port in numbers]

    def advance(self, record: Record, step: int, given: Array, parts: Parts) -> None:
        """Take a step per row of given (…, count, n)."""
        end = step + given.shape[-2]
        record.given[..., step:end, :] = given
        while step < end:
            run = min(end, self._until[bisect_right(self._until, step)]) - step
            self._with_constant_forces(record, step, given[..., :run, :], parts)
            step, given = step + run, given[..., run:, :]

    def tell(self, record: Record, row: int) -> Array:
        """What a step from a row tells of its contacts (…, 1 + nv); the step is not kept."""
        start, forces = record.rows[..., row, :], self._forces_at(row)
        after = np.empty((*start.shape[:-1], 1, self._width))
        given = record.given[..., row : row + 1, :]
        told = self._divided(start, after, given, self._dt, 1, forces, self._numbers, self._parameters)
        assert told is not None
        return told[..., 0, :]

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        """The rows (m, n) of some samples after the first `lengths` (m,) s of a step."""
        row, given = record.rows[..., step, :], record.given[..., step, :]
        into = np.empty((len(lengths), 1, row.shape[-1]))
        for number, own, those in some.by_number(parts):
            forces = [those.of(x, 1) for x in self._forces_at(step)]
            others = ([those.of(x) for x in xs] for xs in (self._numbers, self._parameters))
            after = into[own]
            self._divided(those.of(row), after, those.of(given)[:, None], lengths[own], number, forces, *others)
            into[own] = after
        return into[:, 0]

    def _forces_at(self, step: int) -> list[Array]:
        return [x[..., min(step, self._count - 1), :] for x in self._forces]

    def _with_constant_forces(self, record: Record, step: int, given: Array, parts: Parts) -> None:
        forces, count = self._forces_at(step), given.shape[-2]
        start, after = record.rows[..., step, :], record.rows[..., step + 1 : step + 1 + count, :]
        told = None if record.told is None else record.told[..., step : step + count, :]
        if isinstance(parts, int):
            found = self._divided(start, after, given, self._dt, parts, forces, self._numbers, self._parameters)
            if told is not None:
                told[...] = found
            return
        whole = np.broadcast_to(given, (*self._shape, *given.shape[-2:]))
        forces = [np.broadcast_to(x, (*self._shape, x.shape[-1])) for x in forces]
        for number in np.unique(parts):
            some = parts == number
            into = np.empty((int(some.sum()), *after.shape[-2:]))
            others = ([x[some] for x in xs] for xs in (forces, self._numbers, self._parameters))
            found = self._divided(start[some], into, whole[some], self._dt, int(number), *others)
            after[some] = into
            if told is not None:
                told[some] = found

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
    ) -> Array | None:
        """Fill in the rows after the start; of steps that tell of their contacts, what they tell (…, count, 1 + nv)."""
        state, h = [*(start[..., part] for part in self._parts), *self._unread], np.asarray(length / parts)
        given = np.repeat(given, parts, axis=-2)
        rows = [given[..., part].copy() for part in self._given] or [given]
        is_whole = parts == 1 and not self._told
        into = after if is_whole else np.empty((*after.shape[:-2], given.shape[-2], self._width + self._told))
        if start.ndim == 1:
            forces = [np.asarray(x, order="C") for x in forces]
            self._of_one(*state, *rows, h, *numbers, *forces, *parameters, out=into)
        else:
            self._of_many(*state, *rows, h, *numbers, *forces, *parameters, out=into)
        if is_whole:
            return None
        after[...] = into[..., parts - 1 :: parts, : self._width]
        if not self._told:
            return None
        told: Array = into[..., ::parts, self._width :]
        for k in range(1, parts):
            np.fmax(told[..., 0], into[..., k::parts, self._width], out=told[..., 0])
        return told


def ends_of_runs(forces: Sequence[Array], steps: int) -> NDArray[np.intp]:
    """The steps, and the end, at which a run of steps with the same forces ends."""
    changes = [
        np.any(rows[..., 1:, :] != rows[..., :-1, :], axis=(*range(rows.ndim - 2), rows.ndim - 1)) for rows in forces
    ]
    return np.append(np.flatnonzero(np.any(changes, axis=0)) + 1 if forces else [], steps).astype(np.intp)
