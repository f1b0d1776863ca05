"""A motion in steps whose length follows from their error, each sample's own; rows of the grid lie within them.

A step of the pair of Dormand and Prince goes as far as its tolerances allow, independently of the grid, but ends where
torques or external forces change. Rows of the grid are between the ends of steps, on the pair's interpolation of order
four. So the places of rows, the beginnings of pieces and the other motions of the batch change no bit: a motion goes on
from a row by taking the steps again that were tried beyond it, since inputs may change there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms import dormand_prince_between
from kinetree.functions.chosen import Chosen
from kinetree.functions.step_division import Parts
from kinetree.sim.attempts import Attempted, Beginning, Field, PairSteps, after_acceptance, attempted
from kinetree.sim.cursor import Cursor, GridInputs
from kinetree.sim.motion import Source
from kinetree.sim.record import Record, Stall
from kinetree.sim.setting import Setting
from kinetree.sim.step_counts import StepCounts

__all__ = ["Adaptive"]

Array = NDArray[np.float64]
Samples = NDArray[np.intp]
_ROWS_PER_STEP = 100.0
"""The longest step in steps of the grid; so a push that is a function of time is seen."""
_NUMBERS_KEPT = 2**22
"""The most numbers of the steps between two looks for events."""


class Adaptive:
    """A motion, or a batch, in steps of its own."""

    def __init__(
        self,
        setting: Setting,
        torques: Source,
        count: int,
        start: Array,
        carried: Mapping[str, NDArray[Any]],
        going_on: NDArray[np.bool_],
        *,
        keeps_steps: bool,
    ) -> None:
        """`going_on` (…,) is followed while motions end; `keeps_steps` if events will ask for moments in between."""
        assert setting.tolerances is not None
        self._setting, self._torques, self._tolerances = setting, torques, setting.tolerances
        self._going_on, self._keeps = going_on, keeps_steps
        self._motions = math.prod(setting.shape)
        self._field = Field(setting)
        self._inputs = GridInputs(setting, torques, count, carried)
        rows = start.reshape(self._motions, start.shape[-1])
        self._now = Cursor.of_carried(carried) or Cursor.at(setting.first * setting.dt, rows, setting.robot.nv)
        """Where each motion has come."""
        self._before = self._now.copy()
        """From where each goes on if the inputs change at the last row that was asked for: no step before there was
        tried beyond that row."""
        self._tried = np.full(self._motions, -np.inf)
        """How far steps from there on were tried, s."""
        self._goal = -np.inf
        self._nq, self._nv = setting.robot.nq, setting.robot.nv
        self._steps = PairSteps.none(self._motions, self._nq, self._nv)
        self._past: list[tuple[Samples, PairSteps]] = []
        self._stalled = np.zeros(self._motions, np.bool_)
        self._marked: tuple[int, dict[str, NDArray[Any]]] = (-1, {})
        self.recorded: Mapping[str, NDArray[Any]] = torques.recorded
        longest = 1.0 if setting.contact is not None else _ROWS_PER_STEP
        self._longest = longest * setting.dt

    def most(self, step: int) -> int:
        most = self._torques.most(step)
        return min(most, max(1, _NUMBERS_KEPT // self._steps.rates.size)) if self._keeps else most

    def given(self, step: int, row: Array) -> Array:
        return self._torques.given(step, row)

    def accept(self, record: Record, first: int, end: int) -> None:
        self._torques.accept(record, first, end)

    def carried(self, step: int) -> dict[str, NDArray[Any]]:
        marked, state = self._marked
        return state if marked == step else self._state(step)

    def _state(self, step: int) -> dict[str, NDArray[Any]]:
        """All that the steps from a row of the grid on depend on: the beginning of a step before it."""
        return {**self._before.carried(), **self._inputs.carried(), **self._torques.carried(step)}

    def advance(self, record: Record, step: int, count: int, parts: Parts) -> None:  # noqa: ARG002
        self._marked = step, self._state(step)
        self._past = [(np.arange(self._motions), self._steps.of(np.arange(self._motions)))] if self._keeps else []
        begin = step
        for end in self._torques.runs(record, step, count):
            self._reach(record, begin, end)
            begin = end
        now, shape = self._now, self._setting.shape
        record.step_counts = StepCounts(
            now.accepted.reshape(shape).copy(), now.rejected.reshape(shape).copy(), now.smallest.reshape(shape).copy()
        )

    def _reach(self, record: Record, begin: int, end: int) -> None:
        """Fill in the rows after `begin`, up to `end`."""
        rows = record.rows.reshape(self._motions, *record.rows.shape[-2:])
        following = np.full(self._motions, begin + 1)
        self._goal = goal = float(self._inputs.times(np.array(end)))
        alive = np.flatnonzero(self._going_on.reshape(-1) & ~self._stalled)
        self._fill(rows, following, alive, end)
        while (some := alive[self._now.time[alive] < goal]).size:
            self._take(record, some)
            alive, taken = alive[~self._stalled[alive]], some[~self._stalled[some]]
            self._keep_errors(record, taken)
            self._fill(rows, following, taken, end)
        for sample in np.flatnonzero(self._stalled):
            rows[sample, following[sample] : end + 1] = np.nan

    def _fill(self, rows: Array, following: Samples, some: Samples, end: int) -> None:
        """Fill in the rows that the last steps of some samples have reached."""
        last = np.minimum(self._inputs.row_at(self._now.time[some]), end)
        counts = np.maximum(last + 1 - following[some], 0)
        if not counts.any():
            return
        which = some.repeat(counts)
        within = np.arange(len(which)) - (np.cumsum(counts) - counts).repeat(counts)
        places = following[which] + within
        times = self._inputs.times(places)
        between = self._between(self._steps, which, which, times)
        at_end = times == self._now.time[which]
        between[at_end] = self._now.row[which[at_end]]
        rows[which, places] = between
        following[some] += counts

    def _between(self, steps: PairSteps, own: Samples, which: Samples, times: Array) -> Array:
        """Rows within steps, whose samples are `own` there and `which` in the batch."""
        h = steps.length[own]
        theta = (times - steps.time[own]) / h
        (y,) = dormand_prince_between(
            [steps.y[own]], [[k] for k in np.moveaxis(steps.rates[own], 1, 0)], h[:, None], theta[:, None]
        )
        return self._field.rows(steps.start[own], y, which)

    def contact_report(self, record: Record, row: int) -> Array:  # noqa: ARG002
        """Nothing: no step begins at the end."""
        return np.zeros((*self._setting.shape, 1))

    def _keep_errors(self, record: Record, some: Samples) -> None:
        """Keep the errors of contacts of the last steps, in the rows after which they began."""
        if record.contact_report is None:
            return
        errors, rows = record.contact_report.reshape(self._motions, -1), self._inputs.row_at(self._steps.time[some])
        some, rows = some[rows >= 0], rows[rows >= 0]
        errors[some, rows] = np.fmax(errors[some, rows], np.max(self._steps.rates[some, :, -1], axis=-1))

    def part(self, record: Record, step: int, lengths: Array, parts: Parts, some: Chosen) -> Array:  # noqa: ARG002
        """The rows (m, n) of some samples after the first `lengths` (m,) s of a step of the grid."""
        times = self._inputs.times(np.array(step)) + lengths
        which = np.asarray(np.arange(self._motions).reshape(self._setting.shape)[some.where])
        result = np.full((len(which), record.rows.shape[-1]), np.nan)
        for samples, steps in self._past:
            own = np.minimum(np.searchsorted(samples, which), len(samples) - 1)
            is_there = (samples[own] == which) & (steps.time[own] <= times) & (times <= steps.end[own])
            if is_there.any():
                result[is_there] = self._between(steps, own[is_there], which[is_there], times[is_there])
        return result

    def _take(self, record: Record, some: Samples) -> None:
        """Take one step of some motions, or report that none is left."""
        nq, nv, now = self._nq, self._nv, self._now
        tau, forces, limit = self._inputs.of(record, some, now.time[some])
        start = now.row[some]
        q, v = start[:, :nq], start[:, nq : nq + nv]
        w = self._field.fixed_velocity(q, v)
        y = np.concatenate((np.zeros_like(w), w, start[:, nq + nv :], np.zeros((len(w), 1))), axis=-1)
        at_stages = self._torques.at_stages

        def rates(y: Array, times: Array, of: Samples) -> Array:
            at_q, at_v = self._field.state(q[of], y)
            acting = tau[of] if at_stages is None else at_stages(float(times[0]), at_q[0], at_v[0])[None]
            return self._field.rates(at_q, at_v, q[of], y, acting, [x[of] for x in forces], some[of])

        begin = Beginning(now.time[some], q, y, now.rates[some], now.length[some], limit)
        attempt = attempted(begin, rates, self._tolerances, self._longest, self._setting.dt)
        good = attempt.error <= 1.0
        self._mark(some, np.minimum(begin.time + attempt.chosen, limit), [tau, *forces])
        self._accept(some[good], attempt.of(good), limit[good])
        for k in np.flatnonzero(~good):
            self._stall(record, int(some[k]), float(begin.time[k]), int(attempt.worst[k]))

    def _mark(self, some: Samples, tried: Array, inputs: Sequence[Array]) -> None:
        """Go on from here, if no step before was tried beyond the goal."""
        is_new = self._tried[some] <= self._goal
        self._before.put(some[is_new], self._now)
        self._inputs.used(some[is_new], [x[is_new] for x in inputs])
        self._tried[some] = np.where(is_new, tried, np.maximum(self._tried[some], tried))

    def _accept(self, some: Samples, found: Attempted, limit: Array) -> None:
        now, steps, nv = self._now, found.steps, self._nv
        if not some.size:
            return
        now.time[some] = steps.end
        now.row[some] = self._field.rows(steps.start, found.y, some)
        now.rates[some, :nv] = found.y[:, nv : 2 * nv]
        now.rates[some, nv:] = steps.rates[:, -1, nv:]
        if self._field.moves_ends:
            now.rates[some] = np.nan
        else:
            now.rates[some[steps.end == limit]] = np.nan
        factor, remembered = after_acceptance(found.error, now.error[some])
        was_rejected = found.rejections > 0
        is_own = (steps.length == found.chosen) | was_rejected
        grown = steps.length * np.where(was_rejected, np.minimum(factor, 1.0), factor)
        now.length[some] = np.where(is_own, grown, np.maximum(grown, found.chosen))
        now.error[some] = np.where(is_own, remembered, now.error[some])
        now.accepted[some] += 1
        now.rejected[some] += found.rejections
        now.smallest[some] = np.where(is_own, np.minimum(now.smallest[some], steps.length), now.smallest[some])
        self._steps.put(some, steps)
        if self._keeps:
            self._past.append((some, steps))

    def _stall(self, record: Record, sample: int, time: float, worst: int) -> None:
        """No step is short enough."""
        self._stalled[sample] = True
        where = tuple(int(k) for k in np.unravel_index(sample, self._setting.shape)) if self._setting.shape else ()
        record.stalls[where] = Stall(time, self._setting.robot.v_names[worst])
