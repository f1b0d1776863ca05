"""Where each motion of a batch is between two steps of its own length, and what acts on it, given on a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.records import record
from kinetree.sim.motion import Source
from kinetree.sim.record import Record
from kinetree.sim.setting import Setting

__all__ = ["OF_STEPS", "Cursor", "GridInputs"]

Array = NDArray[np.float64]
Samples = NDArray[np.intp]
OF_STEPS = "adaptive "
"""How the names of arrays begin that a snapshot carries for steps of their own length."""
_TAU, _FORCE = f"{OF_STEPS}tau", f"{OF_STEPS}force "
_NEVER = 2**62


@record(frozen=True, slots=True, eq=False)
class Cursor:
    """Where each motion is: arrays with one entry per motion, which are changed in place."""

    time: Array
    """s."""
    row: Array
    """[q, v, work, loss]."""
    rates: Array
    """Rates of [d, w, work, loss] in the first stage of the next step, and its contacts' error; NaN if unknown."""
    length: Array
    """Length of the next step, s; NaN before the first one."""
    error: Array
    """The error of the last step, relative to the tolerance."""
    accepted: NDArray[np.int64]
    """How many steps were taken since the motion began, and how many were tried in vain."""
    rejected: NDArray[np.int64]
    smallest: Array
    """The shortest step that did not end where inputs change, s."""

    @classmethod
    def at(cls, time: float, rows: Array, nv: int) -> Cursor:
        """The beginning of a motion."""
        n = len(rows)
        none, rates, length = np.zeros(n, np.int64), np.full((n, 2 * nv + 3), np.nan), np.full(n, np.nan)
        return cls(np.full(n, time), rows.copy(), rates, length, np.ones(n), none, none.copy(), np.full(n, np.inf))

    @classmethod
    def of_carried(cls, carried: Mapping[str, NDArray[Any]]) -> Cursor | None:
        """The result of `carried`, if it was called."""
        if not any(name.startswith(OF_STEPS) for name in carried):
            return None
        return cls(*(np.array(carried[OF_STEPS + field.name]) for field in fields(cls)))

    def carried(self) -> dict[str, NDArray[Any]]:
        """Copies of the arrays, by name."""
        return {OF_STEPS + field.name: getattr(self, field.name).copy() for field in fields(self)}

    def copy(self) -> Cursor:
        return Cursor(*(getattr(self, field.name).copy() for field in fields(self)))

    def put(self, some: NDArray[np.intp], other: Cursor) -> None:
        """Make some motions those of another one."""
        for field in fields(self):
            getattr(self, field.name)[some] = getattr(other, field.name)[some]


class GridInputs:
    """The inputs of each motion of a batch, whose axes are one here."""

    def __init__(self, setting: Setting, torques: Source, count: int, carried: Mapping[str, NDArray[Any]]) -> None:
        """`count`: how many steps of the grid there are.

        Raises OptionError if what acted in the step that is taken again is not among the forces.
        """
        self._shape, self._dt, self._first = setting.shape, setting.dt, setting.first
        self._forces = [np.broadcast_to(x, (*setting.shape, *x.shape[-2:])) for x in setting.forces.values()]
        self._is_held = torques.at_stages is None
        known = [*setting.known_forces, *([] if torques.rows is None else [torques.rows])]
        changes = np.zeros(count, np.bool_)
        for x in known:
            changes = changes | _changes(x)
        rows, period = np.arange(count), torques.period
        ends = np.append(np.where(changes, rows, _NEVER)[..., 1:], np.full((*changes.shape[:-1], 1), _NEVER), axis=-1)
        following = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
        if period is not None:
            following = np.minimum(following, rows + period - (setting.first + rows) % period)
        self._begins_anew = period is not None and setting.first % period == 0
        self._until = np.broadcast_to(following, (*setting.shape, count))
        motions = math.prod(setting.shape)
        nothing = [np.zeros((motions, setting.robot.nv)), *(np.zeros((motions, 6)) for _ in self._forces)]
        names = [_TAU, *(f"{_FORCE}{key!r}" for key in setting.forces)]
        lost = [name for name, x in carried.items() if name.startswith(_FORCE) and name not in names and x.any()]
        if lost:
            force = lost[0].removeprefix(_FORCE)
            raise OptionError(
                f"simulate: the force {force} acted in the step that the snapshot is within, which is taken again; "
                "f_ext must have it, zero if it acts no longer"
            )
        self._used = {name: np.array(carried.get(name, zero)) for name, zero in zip(names, nothing, strict=True)}
        """The inputs of each motion from where it would go on."""

    def times(self, rows: NDArray[np.intp]) -> Array:
        """The times of rows of the grid, s."""
        return np.asarray((self._first + rows) * self._dt, np.float64)

    def row_at(self, times: Array) -> Samples:
        """The last rows that are not later; negative before the first one."""
        rows = np.floor(times / self._dt).astype(np.intp) - self._first
        rows = np.where(self.times(rows + 1) <= times, rows + 1, rows)
        return np.where(self.times(rows) > times, rows - 1, rows)

    def of(self, record: Record, some: Samples, times: Array) -> tuple[Array, list[Array], Array]:
        """Torques (m, nv), external forces (m, 6) and when they end (m,), of some motions from some times on."""
        rows = self.row_at(times)
        early = rows < 0
        where = (*np.unravel_index(some, self._shape), np.maximum(rows, 0)) if self._shape else (np.maximum(rows, 0),)
        inputs = [record.given[where] if self._is_held else np.zeros_like(self._used[_TAU][some])]
        inputs += [x[where] for x in self._forces]
        until = self._until[where]
        ends: Array = np.where(until < _NEVER, self.times(until), np.inf)
        if early.any():
            used = [x[some] for x in self._used.values()]
            differs = np.any([np.any(x != y, axis=-1) for x, y in zip(inputs, used, strict=True)], axis=0)
            ends = np.where(early & (differs | self._begins_anew), self.times(np.array(0)), ends)
            inputs = [np.where(early[:, None], x, y) for x, y in zip(used, inputs, strict=True)]
        return inputs[0], inputs[1:], ends

    def used(self, some: Samples, inputs: Sequence[Array]) -> None:
        """Some motions would go on under these torques and forces."""
        for x, values in zip(self._used.values(), inputs, strict=True):
            x[some] = values

    def carried(self) -> dict[str, NDArray[Any]]:
        """The inputs of each motion from where it would go on."""
        return {name: x.copy() for name, x in self._used.items()}


def _changes(rows: Array) -> NDArray[np.bool_]:
    """Where a row (…, steps, n) differs from the one before it."""
    differs = np.zeros(rows.shape[:-1], np.bool_)
    if rows.strides[-2]:
        differs[..., 1:] = np.any(rows[..., 1:, :] != rows[..., :-1, :], axis=-1)
    return differs
