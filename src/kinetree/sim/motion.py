"""The motion of one simulation, or of a batch, advanced by whole steps, and the sources of its inputs.

A source says when the next moment is at which torques, commands or forces may be others. Steps of a fixed length take
them as they are over each step; those of their own length end there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.chosen import Chosen
from kinetree.functions.step_division import Parts
from kinetree.sim.controllers import Torque
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting

__all__ = ["Acting", "Known", "Motion", "Samples", "Source", "force_records", "side_by_side"]

Array = NDArray[np.float64]


class Acting(Protocol):
    """Inputs of a motion, step by step. Row k of a record is the state before step k."""

    @property
    def recorded(self) -> Mapping[str, NDArray[Any]]:
        """The recorded outputs of a controller at each moment, and the forces from functions."""

    def most(self, step: int) -> int:
        """For how many steps from one on what acts can be given at once."""

    def given(self, step: int, row: Array) -> Array:
        """The torques and commands at the beginning of a step, (…, nv + nu)."""

    def accept(self, record: Record, first: int, end: int) -> None:
        """Steps `first` to `end` are final: reject torques and commands that cannot be."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        """All that later steps depend on, apart from the state at their beginning and their inputs."""


class Motion(Acting, Protocol):
    """A motion as `simulate` uses it."""

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:
        """Take steps from row `step` on, each divided into equal parts: fill in rows, inputs and reports."""

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:
        """The rows (m, n) of some samples after the first `lengths` (m,) s of a step."""

    def contact_report(self, record: Record, row: int) -> Array:
        """The contact report (…, 1 + nv) of a step from a row on; the step is not kept."""


class Source(Acting, Protocol):
    """A source of the torques, and perhaps commands and forces, of a motion."""

    @property
    def at_stages(self) -> Callable[[float, Array, Array], Array] | None:
        """The torques at a time and state, if they are not held over each step."""

    @property
    def rows(self) -> Array | None:
        """The torques and commands of each step (…, steps, nv + nu), if they are known in advance."""

    @property
    def period(self) -> int | None:
        """The number of steps after which they may be others, since the motion began, if a controller gives them."""

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        """Fill in those of some steps; after each end that is given, rows up to it are needed."""


class Known:
    """Torques and commands known in advance, constant over each step."""

    at_stages = None
    period: int | None = None
    recorded: Mapping[str, NDArray[Any]] = MappingProxyType({})

    def __init__(self, given: Array) -> None:
        """`given`: (…, steps, nv + nu)."""
        self.rows: Array | None = given
        self._given = given

    def most(self, step: int) -> int:  # noqa: ARG002
        return 100_000

    def given(self, step: int, row: Array) -> Array:  # noqa: ARG002
        # The last row is asked for once more, for the end of the last step.
        given: Array = self._given[..., min(step, self._given.shape[-2] - 1), :]
        return given

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        record.given[..., step : step + count, :] = self._given[..., step : step + count, :]
        return iter((step + count,))

    def accept(self, record: Record, first: int, end: int) -> None:
        """Given inputs were checked before."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        return {}


class Samples:
    """Torques, commands and forces that functions of time and state give.

    They give them at regular times, between which they are constant, or at every stage of a step.
    """

    rows: Array | None = None

    def __init__(
        self,
        setting: Setting,
        sources: Mapping[str, Array | Torque],
        period: int | None,
        count: int,
        carried: Mapping[str, NDArray[Any]],
        recorded: Mapping[str, NDArray[Any]],
    ) -> None:
        """`sources`: "tau", "ctrl" if there are commands, and the names of forces that functions give: rows
        (…, count, n) that are known, or functions.

        `period`: how many steps from one sample to the next, None for every stage; `count`: how many the whole motion
        has; `recorded`: where to put forces, if that is part of something longer.
        """
        self.period = period
        self._sources, self._count, self._first = sources, count, setting.first
        self._dt, self._ends = setting.dt, setting.ends
        self._held = {name: x for name, x in carried.items() if name in sources}
        self.recorded: Mapping[str, NDArray[Any]] = recorded or force_records(setting, count)
        """The forces at each moment."""
        self._given = {name: source for name, source in sources.items() if name not in self.recorded}

    @property
    def at_stages(self) -> Callable[[float, Array, Array], Array] | None:
        return None if self.period is not None else lambda t, q, v: self.acting(0, t, q, v, np.empty(0))[0]

    def most(self, step: int) -> int:
        """How many steps may be taken until the next sample."""
        return 1 if self.period is None else self.period - (self._first + step) % self.period

    def acting(self, step: int, t: float, *state: Array) -> list[Array]:
        """Torques, and what else acts, at a time and state within a step; without a state as it was `given` last."""
        row = min(step, self._count - 1)
        return [
            x[..., row, :] if not callable(x) else x(t, *state) if state else self._held[name]
            for name, x in self._sources.items()
        ]

    def given(self, step: int, row: Array) -> Array:
        """Torques and commands at the beginning of a step (…, n); the functions are called if it is time to."""
        moment = self._first + step
        q, v, act = self._ends
        state = row[..., :q], row[..., q:v], row[..., v:act]
        is_time = self.period is None or (moment % self.period == 0 and step < self._count)
        for name, source in self._sources.items():
            if callable(source) and (is_time or name not in self._held):
                self._held[name] = source(moment * self._dt, *state)
        self._hold(step, 1)
        return self._rows(min(step, self._count - 1), 1)[..., 0, :]

    def runs(self, record: Record, step: int, count: int) -> Iterator[int]:
        """Torques and commands from a step on; forces are those of the last sample."""
        self._hold(step, count)
        record.given[..., step : step + count, :] = self._rows(step, count)
        return iter((step + count,))

    def accept(self, record: Record, first: int, end: int) -> None:
        """Results of functions are checked then."""

    def carried(self, step: int) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """The last inputs, if they are held."""
        return {} if self.period is None else {name: np.array(x) for name, x in self._held.items()}

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


def force_records(setting: Setting, count: int) -> dict[str, NDArray[Any]]:
    """Where forces that functions give at each moment are put, (…, count + 1, 6) by name."""
    return {name: np.zeros((*setting.shape, count + 1, 6)) for name in setting.sources.values()}


def side_by_side(rows: Sequence[Array]) -> Array:
    """Several rows (…, count, n) as one, with the axes of all batches."""
    if len(rows) == 1:
        return rows[0]
    leading = np.broadcast_shapes(*(x.shape[:-1] for x in rows))
    return np.concatenate([np.broadcast_to(x, (*leading, x.shape[-1])) for x in rows], axis=-1)
