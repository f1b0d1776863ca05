"""Errors of several tasks as one vector, with their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.control.kinematics.numbers import constant
from kinetree.control.tasks import Task
from kinetree.errors import ShapeError
from kinetree.model import Model

__all__ = ["Rows", "error_jacobian_of", "error_of", "levels_of"]


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

    def errors(self, q: Any, targets: Sequence[Any], roots: Any) -> Any:
        """The weighted errors (m,); half the sum of their squares is the cost."""
        errors = [error_of(task, self._robot, q, targets[k]) for k, task in self._tasks]
        return roots[self.places] * np.concatenate(errors)

    def slopes(self, q: Any, targets: Sequence[Any], roots: Any) -> Any:
        """The derivatives (m, nv) of the remaining errors: minus those of the errors."""
        slopes = [error_jacobian_of(task, self._robot, q, targets[k]) for k, task in self._tasks]
        return -roots[self.places][:, None] * np.concatenate(slopes)

    def at_rest(self, q: Any, targets: Sequence[Any], weights: Any) -> tuple[Any, Any]:
        """The weighted errors of a constant q, divided by constant roots of the weights; and constant slopes."""
        fixed = constant(weights)
        roots = np.sqrt(fixed)
        e = self.errors(q, targets, roots) * (weights / np.where(fixed > 0.0, fixed, 1.0))[self.places]
        return e, self.slopes(q, [constant(x) for x in targets], roots)


def levels_of(robot: Model, tasks: Sequence[Task]) -> list[Rows]:
    """The tasks of each priority, the first one first."""
    priorities = sorted({task.priority for task in tasks})
    return [Rows(robot, tasks, [k for k, t in enumerate(tasks) if t.priority == p]) for p in priorities]


def error_of(task: Task, robot: Model, q: Any, target: Any) -> Any:
    """A task's error (m,)."""
    return _of_shape((task.size(robot),), task.error(robot, q, target), task, "error")


def error_jacobian_of(task: Task, robot: Model, q: Any, target: Any) -> Any:
    """The derivatives (m, nv) of a task's error."""
    shape = task.size(robot), robot.nv
    return _of_shape(shape, task.error_jacobian(robot, q, target), task, "error_jacobian")


def _of_shape(shape: tuple[int, ...], x: Any, task: Task, method: str) -> Any:
    if np.shape(x) != shape:
        raise ShapeError(
            f"{type(task).__name__}.{method} returned an array of shape {np.shape(x)}, but it must be {shape}, since "
            f"size() is {shape[0]}"
        )
    return x
