"""The work of a study: what is computed of each sample, and the rows that are kept of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import KinetreeError, NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.model import Model
from kinetree.programs import Program
from kinetree.records import record
from kinetree.sim.at_once import at_once
from kinetree.sim.prepare import prepared
from kinetree.sim.task import Task
from kinetree.sim.trajectory import Trajectory
from kinetree.sweeps.plan import Plan
from kinetree.sweeps.quantities import Quantities

__all__ = ["COMPLETE", "DIVERGED", "ENDED", "REFUSED", "Block", "Failure", "Work"]

Array = NDArray[np.float64]
Measure = Callable[[Trajectory], Mapping[str, Any]]
COMPLETE, ENDED, DIVERGED, REFUSED = 1, 2, 3, 4
"""The end of a sample, in the array "status"; 0: it is not computed yet."""
_STATES = ("q", "v")
_ARRAYS = ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated")
_DTYPES = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}
_UNITS = {"kinetic": "J", "potential": "J", "work": "J", "dissipated": "J"}


@record(frozen=True, slots=True)
class Failure:
    """A sample that could not be computed to its end.

    Attributes:
        sample: its number.
        time: when, s; None if its values were refused before it began.
        name: what is concerned, such as a degree of freedom; "" if its values were refused.
        cause: that of `Trajectory.diverged`, such as "state"; or the sentence of the error.
    """

    sample: int
    time: float | None
    name: str
    cause: str


@record(frozen=True, slots=True, eq=False)
class Block:
    """The arrays that are kept of some samples."""

    arrays: Mapping[str, NDArray[Any]]
    """(count, …) each."""
    failures: Sequence[Failure]


@record(frozen=True, slots=True, eq=False)
class Work:
    """The computation of each sample of a plan. It is pickled, and sent to whoever computes."""

    robot: Model
    plan: Plan
    options: Mapping[str, Any]
    """All options of `simulate`."""
    keep: tuple[str, ...] | None
    has_rows: bool
    """Whether rows of the whole motion are kept; else those of its end."""
    measure: Measure | None

    @property
    def is_python(self) -> bool:
        """Whether steps call a Python function."""
        return any(callable(x) and not isinstance(x, Program) for x in (self.options["tau"], self.options["ctrl"]))

    def task(self, values: Mapping[str, Array], count: int, **changes: Any) -> Task:
        """The motions of some samples, a batch (count,)."""
        given = Quantities(self.robot, self.options).arguments(values, count)
        task = prepared(self.robot, **{**given, **changes}, resume=None, is_streamed=False)
        if task.setting.shape != (count,):
            raise ShapeError(
                f"kt.sweep: all arguments but vary are those of one motion, and there is a batch {task.setting.shape}; "
                "give what differs from sample to sample in vary"
            )
        return task

    def block(self, begin: int, end: int) -> Block:
        """The samples from `begin` to `end`. Those whose values are refused do not keep others from being computed."""
        try:
            return self.computed(self.plan.values(begin, end), begin)
        except KinetreeError as error:
            if end - begin == 1:
                arrays = {"status": np.array([REFUSED], np.uint8), "ended": np.array([np.nan])}
                return Block(arrays, [Failure(begin, None, "", str(error))])
        middle = (begin + end) // 2
        return _joined(self.block(begin, middle), self.block(middle, end), middle - begin, end - middle)

    def computed(self, values: Mapping[str, Array], begin: int = 0) -> Block:
        """The block of the samples from number `begin` on, whose values are these."""
        count = len(next(iter(values.values())))
        task = self.task(values, count)
        motion = self.on_grid(at_once(task, None), task)
        status = np.where(motion.ended < task.steps * task.setting.dt, ENDED, COMPLETE).astype(np.uint8)
        failures = []
        for (k,), one in sorted(motion.diverged.items()):
            status[k] = DIVERGED
            failures.append(Failure(begin + k, one.time, one.name, one.cause))
        arrays: dict[str, NDArray[Any]] = {
            "status": status,
            "ended": np.asarray(motion.ended),
            **self._kept(motion),
            **self._measured(motion),
        }
        return Block({name: x for name, x in arrays.items() if x.size}, failures)

    def on_grid(self, motion: Trajectory, task: Task) -> Trajectory:
        """The motion with the rows of one that goes on to its end: if all motions of a batch ended early, so did the
        rows, and others beside them must not matter."""
        times = self.times(task)
        here = np.minimum(np.arange(len(times)), len(motion.time) - 1)
        if len(motion.time) == len(times) and motion.time[-1] == times[-1]:
            return motion
        changes: dict[str, Any] = {name: getattr(motion, name)[:, here] for name in _ARRAYS}
        changes["recorded"] = {name: x[:, here] for name, x in motion.recorded.items()}
        return replace(motion, time=times, **changes)

    @staticmethod
    def times(task: Task) -> Array:
        """The moments of the rows that are computed, s."""
        steps, stride = task.steps, task.wanted.stride
        rows = np.unique(np.append(np.arange(0, steps, stride), steps))
        return rows.astype(np.float64) * task.setting.dt

    def units(self, task: Task) -> dict[str, str]:
        """The units of arrays that have one."""
        return {"ended": "s", **_UNITS, **{f"sensor.{name}": "" for name in task.wanted.sensors}}

    def _kept(self, motion: Trajectory) -> dict[str, NDArray[Any]]:
        recorded = motion.recorded
        names = (*_STATES, *recorded) if self.keep is None else self.keep
        found = {}
        for name in names:
            if name not in _ARRAYS and name not in recorded:
                raise NameNotFoundError(
                    f"kt.sweep: there is nothing called {name!r:.60} to keep: "
                    f"{nearest_names(name, (*_ARRAYS, *recorded))}"
                )
            x = getattr(motion, name) if name in _ARRAYS else recorded[name]
            found[name] = _plain(name, x if self.has_rows else x[:, -1])
        return found

    def _measured(self, motion: Trajectory) -> dict[str, NDArray[Any]]:
        if self.measure is None:
            return {}
        found, count = self.measure(motion), motion.shape[0]
        if not isinstance(found, Mapping):
            raise OptionError(
                f"kt.sweep: measure returned {type(found).__name__}, not a dict from names to arrays ({count}, …)"
            )
        for name, x in found.items():
            if np.shape(x)[:1] != (count,):
                raise ShapeError(
                    f"kt.sweep: measure returned {name!r} of shape {np.shape(x)} for {count} motions, and ({count}, …) "
                    "is needed: one value per motion"
                )
            if name in ("status", "ended", *self._kept(motion)):
                raise OptionError(f"kt.sweep: measure returned {name!r}, which is kept already; give it another name")
        return {name: _plain(name, np.asarray(x)) for name, x in found.items()}


def _plain(name: str, x: NDArray[Any]) -> NDArray[Any]:
    """An array of one of the kinds of numbers that are kept."""
    if x.dtype.kind not in _DTYPES:
        raise OptionError(f"kt.sweep: {name!r} holds {x.dtype}, and only numbers and truth values are kept")
    return x.astype(_DTYPES[x.dtype.kind])


def _joined(first: Block, second: Block, size: int, other: int) -> Block:
    """Two blocks as one; what one of them lacks is as if it was not computed."""
    names = dict.fromkeys((*first.arrays, *second.arrays))
    arrays = {
        name: np.concatenate((_part(first, second, name, size), _part(second, first, name, other))) for name in names
    }
    return Block(arrays, [*first.failures, *second.failures])


def _part(block: Block, beside: Block, name: str, size: int) -> NDArray[Any]:
    if name in block.arrays:
        return block.arrays[name]
    like = beside.arrays[name]
    return np.full((size, *like.shape[1:]), math.nan if like.dtype.kind == "f" else 0, like.dtype)
