"""When events happen within a step: by halving it.

Crossings are looked for at the ends of steps, and the moment of one by 40 halvings of its step, in each of which the
integrator takes a step of that length from the same state, under the same forces: so the state at the moment is one of
the integrator's own, and not interpolated. The reported moment is the end of the last interval, at which the number is
zero or has changed its sign; it is later than the crossing by less than dt / 10¹².
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.chosen import Chosen, chosen
from kinetree.functions.step_division import Parts
from kinetree.sim.endings import Endings
from kinetree.sim.events import EventNumber, Occurrence
from kinetree.sim.motion import Motion
from kinetree.sim.record import Record

__all__ = ["Watch"]

Array = NDArray[np.float64]
_HALVINGS = 40


class _Found(NamedTuple):
    time: float
    number: EventNumber
    row: Array


class Watch:
    """Events along a motion."""

    def __init__(self, numbers: Sequence[EventNumber], robot_sizes: tuple[int, int], dt: float) -> None:
        self._numbers, self._dt = numbers, dt
        self._split = robot_sizes[0], sum(robot_sizes)
        self.occurrences: list[Occurrence] = []

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._numbers)

    def look(self, motion: Motion, record: Record, k: int, count: int, parts: Parts, endings: Endings) -> bool:
        """Find the events of `count` final steps; whether one of them ends the motion, if it is a single one.

        Rows after an event that ends one motion of a batch repeat the state at the event.
        """
        if not count:
            return False
        times = record.times(k, k + count + 1)
        rows = record.rows[..., k : k + count + 1, :]
        crossed = []
        for number in self._numbers:
            values = number.along(times, rows)
            number.check(values, times, endings.going_on)
            crossed.append((number, values, number.crossings(values)))
        any_of = np.any([mask for *_, mask in crossed], axis=0)
        for j in np.flatnonzero(any_of.reshape(-1, count).any(axis=0)).tolist():
            crossings: dict[tuple[int, ...], list[_Found]] = {}
            for number, values, mask in crossed:
                those = mask[..., j] & endings.going_on
                if those.any():
                    self._located(motion, record, k + j, number, values[..., j], those, parts, crossings)
            ends = {sample: self._recorded(sample, some) for sample, some in crossings.items()}
            for sample, end in ends.items():
                if end is not None:
                    record.rows[sample][k + j + 1 : k + count + 1] = end.row
                    record.given[sample][k + j + 1 : k + count] = 0.0
                    endings.end(sample, k + j + 1, end.time)
                    if not sample:
                        record.end(k + j + 1, end.time)
                        return True
        return False

    def _recorded(self, sample: tuple[int, ...], found: list[_Found]) -> _Found | None:
        """Record the events of one step, in order, up to the one that ends the motion, which is returned."""
        nq, end = self._split
        for one in sorted(found, key=lambda one: one.time):
            name, row = one.number.name, one.row
            self.occurrences.append(Occurrence(name, one.time, sample, row[:nq].copy(), row[nq:end].copy()))
            if one.number.event.terminal:
                return one
        return None

    def _located(
        self,
        motion: Motion,
        record: Record,
        step: int,
        number: EventNumber,
        before: Array,
        those: NDArray[np.bool_],
        parts: Parts,
        found: dict[tuple[int, ...], list[_Found]],
    ) -> None:
        some = chosen(np.asarray(those))
        start, end = record.times(step, step + 2)
        after = record.rows[..., step + 1, :]
        rows, was = some.of(after).copy(), np.sign(some.of(before))
        low, high = np.zeros(len(rows)), np.full(len(rows), self._dt)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            there = motion.part(record, step, middle, parts, some)
            passed = np.sign(number.at(start + middle, there, some, after)) != was
            low, high = np.where(passed, low, middle), np.where(passed, middle, high)
            rows[passed] = there[passed]
        times = np.clip(start + high, np.nextafter(start, np.inf), end)
        samples = _samples(some, those)
        for sample, time, row in zip(samples, times.tolist(), rows, strict=True):
            found.setdefault(sample, []).append(_Found(time, number, row))


def _samples(some: Chosen, those: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    return [tuple(map(int, index)) for index in np.argwhere(those)] if some.shape else [()]
