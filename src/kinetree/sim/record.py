"""The rows of a piece of a motion while it is computed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record
from kinetree.sim.setting import Setting
from kinetree.sim.step_counts import StepCounts

__all__ = ["Record", "Stall"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True)
class Stall:
    """A motion without a step that is exact enough, however short."""

    time: float
    name: str
    """The degree of freedom whose error is the largest."""


class Record:
    """One row [q, v, act, work, loss] per moment, and its inputs, of one motion or of each of a batch."""

    def __init__(self, setting: Setting, steps: int) -> None:
        nv, shape = setting.robot.nv, setting.shape
        self.state: int = setting.ends[-1]
        """How many numbers of a row are the state."""
        self.rows: Array = np.zeros((*shape, steps + 1, self.state + 2))
        size = 1 + nv if setting.tolerances is None else 1
        self.given: Array = np.empty((*shape, steps + 1, nv + setting.commands))
        """Torques and commands from each moment on, [tau, ctrl]."""
        self.contact_report: Array | None = np.zeros((*shape, steps + 1, size)) if setting.contact is not None else None
        """The error of contacts in the step that begins at each moment, and the acceleration at which they push; of
        steps of their own length the largest error of those that begin before the next moment, and nothing else."""
        sleeps = setting.contact is not None and setting.contact.sleep is not None
        self.trees: Array | None = np.zeros((*shape, steps + 1, nv)) if sleeps else None
        """The number of each degree of freedom's kinematic tree at each moment, if bodies may sleep: for how many
        seconds it was slow, or less than zero if it sleeps."""
        self.forces: tuple[str, ...] = tuple(setting.sources.values())
        """The names of external forces among the recorded quantities."""
        self.recorded: Mapping[str, NDArray[Any]] = {}
        """A controller's other results, (…, steps + 1, *shape)."""
        self.lost: dict[tuple[int, ...], Array] = {}
        """The first row that is not finite, of samples that have one in the last block."""
        self.stalls: dict[tuple[int, ...], Stall] = {}
        """Where motions with steps of their own length cannot go on."""
        self.step_counts: StepCounts | None = None
        """Counts of the steps, if they have variable length."""
        self.done: int = 0
        """How many rows are complete."""
        self.mark = 0
        """The last row from which the motion can be continued."""
        self.stiffness: Mapping[str, NDArray[Any]] = {}
        """Data that the stiffness checks after that row depend on."""
        self.substeps = 1
        self.end_time: float | None = None
        """The time of the last row, if an event put it between the ends of steps."""
        self._first, self._dt, self._axes = setting.first, setting.dt, len(shape)

    def beyond(self, row: int) -> Record:
        """The rows from one on, as a record of their own, of the same arrays."""
        if not row:
            return self
        those = copy(self)
        those.rows, those.given = self.axis(self.rows, slice(row, None)), self.axis(self.given, slice(row, None))
        those.trees = None if self.trees is None else self.axis(self.trees, slice(row, None))
        those.contact_report = None if self.contact_report is None else self.axis(self.contact_report, slice(row, None))
        those._first += row
        return those

    def times(self, begin: int, end: int) -> Array:
        """The times of some rows, s."""
        times = np.arange(self._first + begin, self._first + end, dtype=np.float64) * self._dt
        if self.end_time is not None and end == self.done:
            times[-1] = self.end_time
        return times

    def end(self, row: int, time: float) -> None:
        """The motion ends at an event; the inputs of its last step are held there."""
        self.end_time, self.done = time, row + 1
        for x in (self.given, *self.recorded.values()):
            x[row] = x[row - 1]

    def axis(self, x: NDArray[Any], rows: Any) -> NDArray[Any]:
        """Some rows of an array (…, steps + 1, *shape)."""
        result: NDArray[Any] = x[(*(slice(None),) * self._axes, rows)]
        return result
