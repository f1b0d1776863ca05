"""Everything known of a robot and its tasks before targets are given, kept as long as the robot lives."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.control.kinematics.arguments import checked_limits, checked_number
from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.program import Found, linearized_program, made_program
from kinetree.control.kinematics.result import InverseKinematics
from kinetree.control.kinematics.rows import levels_of
from kinetree.control.tasks import Task
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity

__all__ = ["Solver", "solver_of"]

_AT_ONCE, _FEW = 32, 64
"""In a batch of more targets than this, those that take more evaluations than that are computed apart from the rest."""


class Solver:
    """Everything known of a robot and its tasks before targets are given."""

    def __init__(self, robot: Model, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        """They live as long as this, so that one without fields of its own is known by its identity."""
        self.program = made_program(robot, tasks)
        self.coordinates = Coordinates(robot)
        self.sizes = [task.size(robot) for task in tasks]
        self._limits: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self.levels = [level.places for level in levels_of(robot, tasks)]
        self._linearized = linearized_program(robot, tasks)
        self._axes = [len(argument.shape) for argument in self.program.arguments.values()]
        self._ends = np.cumsum(self.sizes).tolist()
        self._middle: NDArray[np.float64] | None = None
        self._robot = robot
        self._shifts: dict[int, NDArray[np.float64]] = {}
        self._weights: dict[tuple[Hashable, ...], NDArray[np.float64]] = {}

    @property
    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The robot's own limits, once checked."""
        if self._limits is None:
            self._limits = checked_limits(self.coordinates, None, None)
        return self._limits

    def start(self, limits: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The middle of the limits, or the neutral configuration."""
        is_usual = limits is self.limits
        if is_usual and self._middle is not None:
            return self._middle
        lower, upper = np.broadcast_arrays(*limits)
        q, own = np.broadcast_to(self._robot.neutral(), lower.shape).copy(), self.coordinates.own
        low, high = lower[..., own], upper[..., own]
        with np.errstate(invalid="ignore"):
            middle = 0.5 * (low + high)
        q[..., own] = np.where(np.isfinite(middle), middle, np.clip(q[..., own], low, high))
        if is_usual:
            self._middle = q
        return q

    def shift(self, seed: int) -> NDArray[np.float64]:
        number = checked_number("seed", seed, 0, whole=True)
        if number not in self._shifts:
            count = len(self.coordinates.own)
            self._shifts[number] = np.random.default_rng(number).random(count) if number else np.zeros(count)
        return self._shifts[number]

    def weights(self, tasks: tuple[Task, ...]) -> NDArray[np.float64]:
        keys = tuple(map(_key, tasks))
        if keys not in self._weights:
            self._weights[keys] = np.concatenate([task.weights(self._robot) for task in tasks])
        return self._weights[keys]

    def linearized(self, q: Any, targets: Sequence[Any], threads: int | None) -> Any:
        """The errors of all tasks (…, m), and what a displacement takes from them (…, m, nv)."""
        return self._linearized(q, *targets, threads=threads)

    def run(self, given: Sequence[Any], threads: int | None) -> Found:
        """All samples; of many, those that take long are computed together in the end, from the beginning."""
        shapes = [
            x.shape[: x.ndim - axes] if isinstance(x, np.ndarray) else ()
            for x, axes in zip(given, self._axes, strict=True)
        ]
        if not any(shapes) or given[-2] <= _FEW:
            return self._called(given, threads)
        batch = np.broadcast_shapes(*shapes)
        if math.prod(batch) <= _AT_ONCE:
            return self._called(given, threads)
        found = self._called([*given[:-2], float(_FEW), given[-1]], threads)
        late = ~found.reached
        if not late.any():
            return found
        rest = [
            np.broadcast_to(x, (*batch, *x.shape[len(shape) :]))[late] if shape else x
            for x, shape in zip(given, shapes, strict=True)
        ]
        for whole, part in zip(found, self._called(rest, threads), strict=True):
            whole[late] = part
        return found

    def _called(self, given: Sequence[Any], threads: int | None) -> Found:
        with np.errstate(invalid="ignore"):  # a target with NaN is compared with the tolerance, too
            found: Found = self.program(*given) if threads is None else self.program(*given, threads=threads)
        return found

    def result(self, found: Found) -> InverseKinematics:
        errors = tuple(found.errors[..., end - m : end] for m, end in zip(self.sizes, self._ends, strict=True))
        return InverseKinematics(found.q, errors, found.reached, _whole(found.starts), _whole(found.evaluations))


def _whole(x: Any) -> Any:
    return np.int64(x) if np.ndim(x) == 0 else x.astype(np.int64)


_solvers: ByIdentity[dict[tuple[Hashable, ...], Solver]] = ByIdentity()


def solver_of(robot: Model, tasks: tuple[Task, ...]) -> Solver:
    """The solver of these tasks, whatever their weights."""
    if robot not in _solvers:
        _solvers[robot] = {}
    known, keys = _solvers[robot], tuple(map(_key, tasks))
    found = known.get(keys)
    if found is None:
        for task in tasks:
            task.check(robot)
        plain = tuple(replace(task, weight=1.0) if _is_record(task) else task for task in tasks)
        found = known.get(tuple(map(_key, plain))) or Solver(robot, plain)
        known[keys] = known[tuple(map(_key, plain))] = found
    return found


def _key(task: Task) -> Hashable:
    """The key that tells tasks apart: their fields, or themselves if they may have more than those."""
    return task if _is_record(task) else id(task)


def _is_record(task: Task) -> bool:
    return is_dataclass(task) and "__dataclass_fields__" in vars(type(task)) and not hasattr(task, "__dict__")
