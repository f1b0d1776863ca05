"""The work of a study: the computation of each sample, and the rows that are kept of it."""

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
from kinetree.sim.prepare import prepared
from kinetree.sim.task import Task, at_once
from kinetree.sim.trajectory import Trajectory
from kinetree.sweeps.impossible import impossible
from kinetree.sweeps.plan import Plan
from kinetree.sweeps.quantities import Quantities

__all__ = ["COMPLETE", "DIVERGED", "ENDED", "REFUSED", "Block", "Failure", "Work", "task_of"]

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
        time: when, s; None if its values were rejected before it began.
        name: the quantity concerned, such as a degree of freedom; "" if its values were rejected.
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
        task = task_of(self.robot, self.options, values, count, **changes)
        if task.setting.shape != (count,):
            raise ShapeError(
                f"kt.sweep: all arguments but vary are those of one motion, and there is a batch {task.setting.shape}; "
                "give what differs from sample to sample in vary"
            )
        return task

    def block(self, begin: int, end: int) -> Block:
        """The samples from `begin` to `end`. Those whose values are rejected do not keep others from being computed."""
        values = self.plan.values(begin, end)
        refused = impossible(self.robot, values)
        sound = np.array([k for k in range(end - begin) if k not in refused], dtype=np.intp)
        wrong = np.array(list(refused), dtype=np.intp)
        blocks = [_refused(begin + k, sentence) for k, sentence in refused.items()]
        if len(sound):
            blocks.append(self._sound({name: x[sound] for name, x in values.items()}, begin + sound))
        return _in_order(_joined(blocks), np.concatenate([wrong, sound]))

    def _sound(self, values: Mapping[str, Array], numbers: NDArray[np.intp]) -> Block:
        """Samples with these numbers; where `simulate` rejects some, those are found by halves."""
        try:
            return self.computed(values, numbers)
        except KinetreeError as error:
            if len(numbers) == 1:
                return _refused(int(numbers[0]), str(error))
        middle = len(numbers) // 2
        halves = (slice(0, middle), slice(middle, None))
        return _joined([self._sound({name: x[half] for name, x in values.items()}, numbers[half]) for half in halves])

    def computed(self, values: Mapping[str, Array], numbers: Sequence[int] | NDArray[np.intp] = (0,)) -> Block:
        """The block of the samples with these numbers and values."""
        count = len(numbers)
        task = self.task(values, count)
        motion = self.on_grid(at_once(task, None), task)
        status = np.where(motion.ended < task.steps * task.setting.dt, ENDED, COMPLETE).astype(np.uint8)
        failures = []
        for (k,), one in sorted(motion.diverged.items()):
            status[k] = DIVERGED
            failures.append(Failure(int(numbers[k]), one.time, one.name, one.cause))
        arrays: dict[str, NDArray[Any]] = {
            "status": status,
            "ended": np.asarray(motion.ended),
            **self._arrays(motion),
            **self._measured(motion),
        }
        return Block({name: x for name, x in arrays.items() if x.size}, failures)

    def on_grid(self, motion: Trajectory, task: Task) -> Trajectory:
        """The motion with the rows of one that goes on to its end: if all motions of a batch ended early, so did the
        rows, and other motions must not matter."""
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

    def _arrays(self, motion: Trajectory) -> dict[str, NDArray[Any]]:
        recorded = motion.recorded
        names = (*_STATES, *recorded) if self.keep is None else self.keep
        arrays = {}
        for name in names:
            if name not in _ARRAYS and name not in recorded:
                raise NameNotFoundError(
                    f"kt.sweep: there is nothing called {name!r:.60} to keep: "
                    f"{nearest_names(name, (*_ARRAYS, *recorded))}"
                )
            x = getattr(motion, name) if name in _ARRAYS else recorded[name]
            arrays[name] = _plain(name, x if self.has_rows else x[:, -1])
        return arrays

    def _measured(self, motion: Trajectory) -> dict[str, NDArray[Any]]:
        if self.measure is None:
            return {}
        measures, count = self.measure(motion), motion.shape[0]
        if not isinstance(measures, Mapping):
            raise OptionError(
                f"kt.sweep: measure returned {type(measures).__name__}, not a dict from names to arrays ({count}, …)"
            )
        for name, x in measures.items():
            if np.shape(x)[:1] != (count,):
                raise ShapeError(
                    f"kt.sweep: measure returned {name!r} of shape {np.shape(x)} for {count} motions, and ({count}, …) "
                    "is needed: one value per motion"
                )
            if name in ("status", "ended", *self._arrays(motion)):
                raise OptionError(f"kt.sweep: measure returned {name!r}, which is kept already; give it another name")
        return {name: _plain(name, np.asarray(x)) for name, x in measures.items()}


def _plain(name: str, x: NDArray[Any]) -> NDArray[Any]:
    """An array of one of the kinds of numbers that are kept."""
    if x.dtype.kind not in _DTYPES:
        raise OptionError(f"kt.sweep: {name!r} holds {x.dtype}, and only numbers and truth values are kept")
    return x.astype(_DTYPES[x.dtype.kind])


def task_of(robot: Model, options: Mapping[str, Any], values: Mapping[str, Array], count: int, **changes: Any) -> Task:
    """The motions of `count` samples with these values, and options of `simulate` that are the same for all."""
    return prepared(robot, {**Quantities(robot, options).arguments(values, count), **changes})


def _refused(number: int, sentence: str) -> Block:
    """A sample whose values are rejected."""
    arrays = {"status": np.array([REFUSED], np.uint8), "ended": np.array([np.nan])}
    return Block(arrays, [Failure(number, None, "", sentence)])


def _joined(blocks: Sequence[Block]) -> Block:
    """Several blocks as one; values that one of them lacks count as not computed."""
    like = {name: x for block in blocks for name, x in block.arrays.items()}
    arrays = {
        name: np.concatenate([
            x if (x := block.arrays.get(name)) is not None else _nothing(one, len(block.arrays["status"]))
            for block in blocks
        ])
        for name, one in like.items()
    }  # fmt: skip
    return Block(arrays, [failure for block in blocks for failure in block.failures])


def _nothing(like: NDArray[Any], count: int) -> NDArray[Any]:
    return np.full((count, *like.shape[1:]), math.nan if like.dtype.kind == "f" else 0, like.dtype)


def _in_order(block: Block, rows: NDArray[np.intp]) -> Block:
    """The same samples, which are those of `rows`, in the order of their numbers."""
    order = np.argsort(rows)
    return Block(
        {name: x[order] for name, x in block.arrays.items()}, sorted(block.failures, key=lambda one: one.sample)
    )
