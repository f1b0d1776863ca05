"""The motion of one simulation, or of a batch, advanced by whole steps: many at once, or stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.sim.chosen import Chosen
from kinetree.sim.controllers import Torque
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting
from kinetree.sim.stepper import Stepper
from kinetree.sim.stiffness import Parts

__all__ = ["Held", "Motion", "Sampled", "Samples", "force_records", "side_by_side"]

Array = NDArray[np.float64]


class Motion(Protocol):
    """What `simulate` asks for. Row k of the record is the state before step k."""

    def most(self, step: int) -> int:
        """How many steps may be taken at once from a step on."""

    def given(self, step: int, row: Array) -> Array:
        """The torques and commands at the beginning of a step, (…, nv + nu)."""

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        """Take steps from row `step` on, each divided into equal parts: fill in rows, and what was given and told."""

    def accept(self, record: Record, first: int, end: int) -> None:
        """Steps `first` to `end` are final: refuse torques and commands that cannot be."""

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        """The rows (m, n) of some samples after the first `lengths` (m,) s of a step."""

    def tell(self, record: Record, row: int) -> Array:
        """What a step from a row on tells of its contacts (…, 1 + nv); the step is not kept."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        """What the steps from a step on depend on, besides the state at its beginning and what they are given."""


class Held:
    """A motion under torques and commands known in advance, constant over each step."""

    def __init__(self, setting: Setting, given: Array) -> None:
        """`given`: (…, steps, nv + nu)."""
        self._given = given
        self._stepper = Stepper(setting, given.shape[-2])
        self.part, self.tell = self._stepper.part, self._stepper.tell

    def most(self, step: int) -> int:  # noqa: ARG002
        return 100_000

    def given(self, step: int, row: Array) -> Array:  # noqa: ARG002
        # The last row is asked for once more, for the end of the last step.
        given: Array = self._given[..., min(step, self._given.shape[-2] - 1), :]
        return given

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        self._stepper.advance(record, step, self._given[..., step : step + count, :], parts)

    def accept(self, record: Record, first: int, end: int) -> None:
        """What it is given was checked before."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {}


class Samples:
    """Torques, commands and forces that functions of time and state give at regular times, constant between them."""

    def __init__(
        self,
        setting: Setting,
        sources: Mapping[str, Array | Torque],
        period: int,
        count: int,
        carried: Mapping[str, NDArray[Any]],
        recorded: Mapping[str, NDArray[Any]],
    ) -> None:
        """`sources`: "tau", "ctrl" if there are commands, and the names of forces that functions give: rows
        (…, count, n) that are known, or functions.

        `period`: how many steps from one sample to the next; `count`: how many the whole motion has; `recorded`: where
        to put forces, if that is part of something longer.
        """
        self._sources, self.period, self._count, self._first = sources, period, count, setting.first
        self._dt, self._ends = setting.dt, setting.ends
        self._held = {name: x for name, x in carried.items() if name in sources}
        self.recorded = recorded or force_records(setting, count)
        """The forces at each moment."""
        self._given = {name: source for name, source in sources.items() if name not in self.recorded}

    def most(self, step: int) -> int:
        """How many steps may be taken until the next sample."""
        return self.period - (self._first + step) % self.period

    def given(self, step: int, row: Array) -> Array:
        """Torques and commands at the beginning of a step (…, n); the functions are called if it is time to."""
        moment = self._first + step
        q, v, act = self._ends
        state = row[..., :q], row[..., q:v], row[..., v:act]
        is_time = moment % self.period == 0 and step < self._count
        for name, source in self._sources.items():
            if callable(source) and (is_time or name not in self._held):
                self._held[name] = source(moment * self._dt, *state)
        self._hold(step, 1)
        return self._rows(min(step, self._count - 1), 1)[..., 0, :]

    def advance(self, step: int, count: int) -> Array:
        """Torques and commands from a step on (…, count, n); forces are those of the last sample."""
        self._hold(step, count)
        return self._rows(step, count)

    def carried(self) -> dict[str, NDArray[Any]]:
        """What was given last."""
        return {name: np.array(x) for name, x in self._held.items()}

    def _rows(self, step: int, count: int) -> Array:
        rows = [
            self._held[name][..., None, :] if callable(source) else source[..., step : step + count, :]
            for name, source in self._given.items()
        ]
        if len(rows) == count == 1:
            return rows[0]
        return side_by_side([np.broadcast_to(x, (*x.shape[:-2], count, x.shape[-1])) for x in rows])

    def _hold(self, step: int, count: int) -> None:
        for name, x in self.recorded.items():
            x[..., step : step + count, :] = self._held[name][..., None, :]


class Sampled:
    """A motion under torques, commands or forces that functions of time and state give at regular times."""

    def __init__(self, setting: Setting, samples: Samples, count: int) -> None:
        """`count`: how many steps the whole motion has."""
        self._samples, self.recorded = samples, samples.recorded
        self.most, self.given = samples.most, samples.given
        self._stepper = Stepper(setting.with_rows(samples.recorded, count), count)
        self.part, self.tell = self._stepper.part, self._stepper.tell

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        self._stepper.advance(record, step, self._samples.advance(step, count), parts)

    def accept(self, record: Record, first: int, end: int) -> None:
        """What functions return is checked then."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return self._samples.carried()


def force_records(setting: Setting, count: int) -> dict[str, NDArray[Any]]:
    """Where forces that functions give at each moment are put, (…, count + 1, 6) by name."""
    return {name: np.zeros((*setting.shape, count + 1, 6)) for name in setting.sources.values()}


def side_by_side(rows: Sequence[Array]) -> Array:
    """Several rows (…, count, n) as one, with the axes of all batches."""
    if len(rows) == 1:
        return rows[0]
    leading = np.broadcast_shapes(*(x.shape[:-1] for x in rows))
    return np.concatenate([np.broadcast_to(x, (*leading, x.shape[-1])) for x in rows], axis=-1)
