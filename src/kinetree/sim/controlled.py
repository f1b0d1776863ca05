"""The motion of a simulation under a program as controller, which runs in the kernel of the steps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ActuationError, SimulationError
from kinetree.functions.chosen import Chosen, chosen
from kinetree.functions.closed_loop import controlled
from kinetree.functions.constraint_options import ALL, first_sample
from kinetree.functions.controllers import ENERGIES, ERROR, SOLVED, Controlled
from kinetree.functions.step_division import Given, Parts
from kinetree.model import no_motor
from kinetree.programs import Program
from kinetree.sim.endings import actuator_names
from kinetree.sim.inputs import Inputs, check_complete
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting
from kinetree.sim.stepper import ends_of_runs

__all__ = ["ProgramMotion"]

Array = NDArray[np.float64]


class ProgramMotion:
    """A motion, or a batch, under a program as controller; the source of its torques where something else moves it."""

    at_stages = None
    rows = None

    def __init__(
        self,
        setting: Setting,
        controller: Program,
        inputs: Inputs,
        period: int | None,
        count: int,
        carried: Mapping[str, NDArray[Any]],
        tau: Array | None = None,
        recorded: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        """`period`: how many steps from one run of the controller to the next, or None for each stage.

        `tau`: joint forces (…, count, nv) in addition to a controller's commands. `recorded`: where to put the
        controller's results, if they are part of something longer.
        """
        robot, shape = setting.robot, setting.shape
        self._setting, self.period, self._count, self._tau = setting, period, count, tau
        self._output = "tau" if setting.actuation is None else "ctrl"
        self._first = 0 if setting.actuation is None else robot.nv
        self._names = robot.v_names if setting.actuation is None else actuator_names(robot)
        constraints = ALL.without(setting.held) if setting.held else ()
        asked = {"passive": tuple(setting.passive), "limits": setting.limits, "contact": setting.contact}
        switches = {name: x for name, x in asked.items() if x}
        self._loop = controlled(
            robot, controller,
            Controlled(
                setting.integrator, tuple(switches.items()), tuple(setting.forces), tuple(setting.parameters),
                tuple(inputs.rows), "stages" if period is None else "held", with_energies=True, with_output=True,
                constraints=constraints, dtype="float64",
                sources=tuple(setting.sources.items()),
                reports=() if setting.contact is None else (ERROR, SOLVED), actuation=setting.actuation,
            ),
        )  # fmt: skip
        check_complete(self._loop, controller, inputs)
        self._inputs = inputs
        moments = setting.first + np.arange(count + 1)
        self._times = moments * setting.dt
        self._fresh = np.append(moments[:-1] % (period or 1) == 0, False).astype(np.float64)
        self._forces = [*setting.forces.values()]
        self._until = [int(end) for end in ends_of_runs(self._forces, count)]
        self._parameters = [
            np.broadcast_to(x, (*shape, *robot.parameter(name).shape)) for name, x in setting.parameters.items()
        ]
        self._numbers = ALL.arrays(setting.held)
        self._parts = list(self._loop.parts)
        start = carried or self._loop.start(inputs.state, np.dtype(np.float64))
        self._own = {
            name: np.empty((*shape, count + 1, *x.shape[x.ndim - len(self._core(name)) :])) for name, x in start.items()
        }
        """The controller's state before each step."""
        for name, x in start.items():
            self._own[name][self._index(0)] = x
        self.recorded: Mapping[str, NDArray[Any]] = recorded or {
            name: np.empty((*shape, count + 1, *part.shape), part.dtype)
            for name, part in {**self._loop.state, **self._loop.recorded}.items()
            if name != self._output
        }
        """The controller's other results at each moment."""

    def most(self, step: int) -> int:  # noqa: ARG002
        return 100_000

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        """The controller's state, and its last output where that is held."""
        return {name: np.array(self._rows(x, step)) for name, x in self._own.items()}

    def given(self, step: int, row: Array) -> Array:
        """The inputs at a moment, from a step that is not kept; at the end those of the last step hold."""
        result = self._run(row, step, 1, 1)
        for part, place in self._parts:
            if part.name in self.recorded:
                self.recorded[part.name][self._index(step)] = self._shaped(result[..., 0, place], part.shape)
        given: Array = result[..., 0, self._place(self._output)]
        if self._tau is None:
            return given
        tau = self._tau[..., min(step, self._count - 1), :]
        return np.concatenate((np.broadcast_to(tau, (*given.shape[:-1], tau.shape[-1])), given), axis=-1)

    def contact_report(self, record: Record, row: int) -> Array:
        result = self._run(record.rows[..., row, :], min(row, self._count), 1, 1)
        return np.concatenate([result[..., 0, self._place(name)] for name in (ERROR, SOLVED)], axis=-1)

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        end = step + count
        while step < end:
            run = min(end, self._until[bisect_right(self._until, step)]) - step
            self._with_constant_forces(record, step, run, parts)
            step += run

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        """Let the program run at the beginning of each step, for which the row there is needed."""
        for k in range(step, step + count):
            self.advance(record, k, 1, 1)
            yield k + 1

    def accept(self, record: Record, first: int, end: int) -> None:
        """Check the inputs of steps that are final."""
        for name in self._setting.sources.values() if not self._setting.shape else ():
            finite = np.isfinite(record.rows[first:end, : record.state])
            entries = np.argwhere(~np.isfinite(self.recorded[name][first:end]) & finite.all(axis=-1, keepdims=True))
            if entries.size:
                step, entry = (int(k) for k in entries[0])
                raise SimulationError(
                    f"the program of {name!r} returned {self.recorded[name][first + step, entry]} "
                    f"{self._place_of(first, (step,))}, as entry {entry} of [f; n]; the state that it was given is "
                    f"finite, up to {abs(record.rows[first + step, : record.state]).max():.3g}"
                )
        robot, given = self._setting.robot, record.given[..., first:end, self._first :]
        states = record.rows[..., first:end, : record.state]
        wrong = ~np.isfinite(given).all(axis=-1) & np.isfinite(states).all(axis=-1)
        if wrong.any() and not self._setting.shape:  # of a batch, that motion ends
            sample, _ = first_sample(np.asarray(wrong))
            column = int(np.argmin(np.isfinite(given[sample])))
            raise SimulationError(
                f"the controller {self._loop.name!r} returned {given[sample][column]} {self._place_of(first, sample)}, "
                f"as entry {column} ({self._names[column]}); the state that it was given is finite, up to "
                f"{abs(states[sample]).max():.3g}"
            )
        if self._setting.actuation is not None:
            return
        idle = (given != 0.0) & ~robot.actuated & np.isfinite(given)
        if idle.any():
            sample, _ = first_sample(np.asarray(idle.any(axis=-1)))
            column = int(np.argmax(idle[sample]))
            raise ActuationError(
                f"the controller {self._loop.name!r} returned {given[sample][column]:g} "
                f"{self._place_of(first, sample)}, as entry {column}, but {no_motor(robot, column)}"
            )

    def _place_of(self, first: int, sample: tuple[int, ...]) -> str:
        """When, and in which motion of a batch, of steps from `first` on."""
        which = f" of sample {sample[:-1]}" if len(sample) > 1 else ""
        return f"at t = {(self._setting.first + first + sample[-1]) * self._setting.dt:g} s{which}"

    def _with_constant_forces(self, record: Record, step: int, count: int, parts: Parts) -> None:
        row = record.rows[..., step, :]
        if isinstance(parts, int):
            self._take(record, (), step, count, parts, self._run(row, step, count, parts))
            return
        for number in np.unique(parts):
            mask = parts == number
            result = self._run(row, step, count, int(number), chosen(mask))
            self._take(record, (mask,), step, count, int(number), result)

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        row, width = record.rows[..., step, :], record.rows.shape[-1]
        after = np.empty((len(lengths), width))
        for number, own, those in some.by_number(parts):
            after[own] = self._run(row, step, 1, number, those, lengths[own])[..., -1, :width]
        return after

    def _run(
        self, row: Array, step: int, count: int, parts: int, some: Chosen | None = None,
        length: float | Array | None = None,
    ) -> Array:  # fmt: skip
        """The kernel's rows for steps from `row` on, each in equal parts; `length` (m,) is that of a shorter step."""
        setting, core = self._setting, self._core
        q, v, act = setting.ends

        def of(x: ArrayLike, rank: int, *, is_row: bool = False) -> Array:
            """The inputs of the chosen samples in these steps."""
            given: Array = Given(np.asarray(x), rank, is_row).of(some).between(step, step + count, parts)
            return given

        row = of(row, 1)
        state = {"q": row[..., :q], "v": row[..., q:v], "act": row[..., v:act], ENERGIES: row[..., act:]}
        state |= {name: of(self._rows(x, step), len(core(name))) for name, x in self._own.items()}
        rows = {name: of(x, len(core(name)) + 1, is_row=True) for name, x in self._inputs.rows.items()}
        constants = {name: of(x, len(core(name))) for name, x in self._inputs.constants.items()}
        numbers = [of(x, len(port.shape)) for x, port in zip(self._numbers, self._loop.number_ports, strict=True)]
        values = [of(x, x.ndim - len(setting.shape)) for x in self._parameters]
        with np.errstate(all="ignore"):
            return self._loop(
                state, of(self._times, 1, is_row=True),
                None if self.period is None else of(self._fresh, 1, is_row=True), rows,
                np.asarray((setting.dt if length is None else length) / parts), constants,
                [of(x, 1) for x in self._forces_at(step)], values, numbers,
                tau=None if self._tau is None else of(self._tau, 2, is_row=True), parts=parts,
            )  # fmt: skip

    def _take(self, record: Record, some: tuple[Any, ...], step: int, count: int, parts: int, result: Array) -> None:
        """Fill in the results of a run: states after each step, and the controller's output at its beginning."""
        last, first = result[..., parts - 1 :: parts, :], result[..., ::parts, :]
        width = record.rows.shape[-1]
        self._put(record.rows, some, step + 1, count, last[..., :width])
        if self._tau is not None:
            tau = self._tau[..., step : step + count, :]
            record.given[..., step : step + count, : self._first] = tau
        for part, place in self._parts:
            if part.name == self._output:
                self._put(record.given[..., self._first :], some, step, count, first[..., place])
            if part.name == ERROR and record.contact_report is not None:
                worst = np.fmax.reduceat(result[..., place.start], np.arange(0, count * parts, parts), axis=-1)
                self._put(record.contact_report[..., 0], some, step, count, worst)
            if part.name == SOLVED and record.contact_report is not None:
                self._put(record.contact_report[..., 1:], some, step, count, first[..., place])
            if part.name in self.recorded:
                self._put(self.recorded[part.name], some, step, count, self._shaped(first[..., place], part.shape))
        for name, place in self._loop.kept_places.items():
            if name in self._own:
                self._put(self._own[name], some, step + 1, count, self._shaped(last[..., place], self._core(name)))

    def _put(self, target: Array, some: tuple[Any, ...], step: int, count: int, values: Array) -> None:
        place = self._index(slice(step, step + count)) if not some else (*some, slice(step, step + count))
        target[place] = values

    def _rows(self, x: Array, step: int) -> Array:
        """One row of an array (…, steps + 1, *shape)."""
        row: Array = x[self._index(step)]
        return row

    def _index(self, step: int | slice) -> Any:
        """The place of a step, or of several, in arrays with the axes of the batch before it."""
        return (*(slice(None),) * len(self._setting.shape), step)

    def _forces_at(self, step: int) -> list[Array]:
        return [x[..., min(step, self._count - 1), :] for x in self._forces]

    def _place(self, name: str) -> slice:
        return next(place for part, place in self._parts if part.name == name)

    def _core(self, name: str) -> tuple[int, ...]:
        """The shape of one sample of an argument of the controller, or of a value kept for it."""
        return self._loop.core(name)

    @staticmethod
    def _shaped(flat: Array, shape: tuple[int, ...]) -> Array:
        return flat.reshape((*flat.shape[:-1], *shape))
