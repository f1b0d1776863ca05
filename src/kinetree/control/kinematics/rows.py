"""Errors of several tasks as one vector, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.control.kinematics.numbers import constant
from kinetree.control.tasks import Task
from kinetree.errors import ShapeError
from kinetree.model import Model

__all__ = ["Errors", "Rows", "levels_of", "linearized"]

Errors = tuple[Any, Callable[[], Any]]
"""The errors e (m,) of a configuration, and a function for their derivatives or their decrease A (m, nv)."""


class Rows:
    """The rows of tasks of one priority, one after the other, multiplied by the roots of their weights."""

    def __init__(self, robot: Model, tasks: Sequence[Task], numbers: Sequence[int]) -> None:
        """`numbers`: which of the tasks."""
        self._robot = robot
        self._tasks = [(k, tasks[k]) for k in numbers]
        sizes = [task.size(robot) for task in tasks]
        ends = np.cumsum(sizes)
        self.places: list[int] = [j for k in numbers for j in range(ends[k] - sizes[k], ends[k])]
        """Where its rows are among those of all tasks."""

    def linearized(self, q: Any, targets: Sequence[Any], roots: Any) -> Errors:
        """The weighted errors (m,), half the sum of whose squares is the cost; and how they decrease (m, nv)."""
        parts = [linearized(task, self._robot, q, targets[k]) for k, task in self._tasks]

        def slopes() -> Any:
            return -roots[self.places][:, None] * np.concatenate([slope() for _, slope in parts])

        return roots[self.places] * np.concatenate([e for e, _ in parts]), slopes

    def at_rest(self, q: Any, targets: Sequence[Any], weights: Any) -> tuple[Any, Any]:
        """The weighted errors of a constant q, divided by constant roots of the weights; and constant slopes."""
        fixed = constant(weights)
        roots = np.sqrt(fixed)
        e = self.linearized(q, targets, roots)[0] * (weights / np.where(fixed > 0.0, fixed, 1.0))[self.places]
        return e, self.linearized(q, [constant(x) for x in targets], roots)[1]()


def levels_of(robot: Model, tasks: Sequence[Task]) -> list[Rows]:
    """The tasks of each priority, the first one first."""
    priorities = sorted({task.priority for task in tasks})
    return [Rows(robot, tasks, [k for k, t in enumerate(tasks) if t.priority == p]) for p in priorities]


def linearized(task: Task, robot: Model, q: Any, target: Any) -> Errors:
    """A task's error (m,), and a function for its derivatives (m, nv)."""
    error, slopes = task.linearized(robot, q, target)
    m = task.size(robot)
    return _of_shape((m,), error, task, "error"), lambda: _of_shape((m, robot.nv), slopes(), task, "error_jacobian")


def _of_shape(shape: tuple[int, ...], x: Any, task: Task, method: str) -> Any:
    if np.shape(x) != shape:
        raise ShapeError(
            f"{type(task).__name__}.{method} returned an array of shape {np.shape(x)}, but it must be {shape}, since "
            f"size() is {shape[0]}"
        )
    return x
