"""The arguments of inverse kinematics, checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.tasks import Task
from kinetree.errors import OptionError, ShapeError
from kinetree.inputs import samples
from kinetree.model import Model

__all__ = ["checked_limits", "checked_number", "checked_start", "checked_targets", "checked_tasks"]

_LISTS = list, tuple


def checked_tasks(tasks: Any) -> tuple[Task, ...]:
    """The tasks as a tuple; one task as a tuple of it."""
    if isinstance(tasks, Task):
        return (tasks,)
    several = tuple(tasks) if isinstance(tasks, Sequence) and not isinstance(tasks, str) else ()
    if not several or not all(isinstance(task, Task) for task in several):
        raise OptionError(
            "tasks must be a task, such as kt.control.Pose('tool'), or a list of tasks with at least one, not "
            f"{tasks!r:.60}"
        )
    return several


def checked_targets(robot: Model, tasks: Sequence[Task], targets: Any) -> list[NDArray[Any]]:
    """One array of targets for each task that has one."""
    aimed = [task for task in tasks if task.target_shape(robot) != (0,)]
    if not aimed and (targets is None or all(x is None for x in targets)):
        return []
    if not isinstance(targets, _LISTS) or len(targets) != len(aimed):
        count = f"{len(targets)} of them" if isinstance(targets, _LISTS) else f"{type(targets).__name__}"
        each = "each task" if aimed == [*tasks] else "each task that has a target"
        raise ShapeError(f"targets must be a list of {len(aimed)}, one for {each}, not {count}")
    arrays = []
    for task, x in zip(aimed, targets, strict=True):
        shape = task.target_shape(robot)
        array = samples("target", x, shape, repr(task))
        task.check_target(robot, array)
        arrays.append(array)
    return arrays


def checked_start(robot: Model, given: ArrayLike, name: str = "q0") -> NDArray[Any]:
    """The configurations to start from; their quaternions are checked by the program."""
    return samples(name, given, (robot.nq,), repr(robot.name))


def checked_limits(at: Coordinates, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[Any, Any]:
    """Limits of all coordinates."""
    limits, robot = [], at.robot
    for name, x, usual in (("lower", lower, robot.lower), ("upper", upper, robot.upper)):
        x = usual if x is None else x
        array = samples(name, x, (robot.nq,), repr(robot.name), ", one limit per coordinate").astype(np.float64)
        if np.isnan(array).any():
            raise OptionError(f"{name} contains NaN; a coordinate without a limit has -inf or inf")
        if others := at.unlimited(array):
            raise OptionError(
                f"{name}: q[{others[0]}] belongs to a joint whose velocities are not the rates of its coordinates; its "
                f"limits are not kept here: give {name}= with {'-inf' if name == 'lower' else 'inf'} there, or a task "
                "that keeps it"
            )
        limits.append(array)
    low, high = np.broadcast_arrays(*limits)
    if (low > high).any():
        sample = tuple(int(k) for k in np.argwhere(low > high)[0])
        raise OptionError(f"q[{sample[-1]}]: the lower limit {low[sample]} is above the upper one, {high[sample]}")
    if (wrong := (low == np.inf) | (high == -np.inf)).any():
        k = int(np.argwhere(wrong)[0][-1])
        raise OptionError(f"q[{k}]: no position is between {low[..., k].max()} and {high[..., k].min()}")
    return limits[0], limits[1]


def checked_number(name: str, value: Any, least: float, *, whole: bool = False) -> Any:
    """A number from `least` on, or a whole one."""
    if type(value) is (int if whole else float) and least <= value < np.inf:  # fast path for the usual number
        return value
    try:
        number = operator.index(value) if whole else float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool | np.bool_) or not least <= number < np.inf:
        kind = "a whole number" if whole else "a number"
        raise OptionError(f"{name} must be {kind} from {least:g} on, not {value!r:.60}")
    return number
