"""The parts of a whole-body controller, checked; and the reasons why no torques exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.tasks.base import Task
from kinetree.control.whole_body.effort import Effort
from kinetree.control.whole_body.support import Support
from kinetree.errors import ConfigurationError, OptionError, ShapeError
from kinetree.inputs import number_between, real_array
from kinetree.model import Model

if TYPE_CHECKING:
    from kinetree.control.whole_body.references import References
    from kinetree.control.whole_body.result import WholeBodyStep

__all__ = ["checked_contacts", "checked_horizon", "checked_limit", "checked_priorities", "checked_tasks", "no_torques"]

Array = NDArray[Any]


def checked_tasks(robot: Model, tasks: object) -> dict[str, Task]:
    named = _named("tasks", tasks, Task, "kt.control.Posture()")
    for task in named.values():
        task.check(robot)
    return named


def checked_contacts(robot: Model, contacts: object, tasks: Mapping[str, Task]) -> dict[str, Support]:
    named = _named("contacts", contacts, Support, 'kt.control.Support("foot")')
    for name, contact in named.items():
        robot.frames[contact.frame]
        if name in tasks:
            raise OptionError(f"WholeBody: {name!r} is a task and a contact; give one of them another name")
    return named


def _named(word: str, values: object, kind: type[Any], example: str) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise OptionError(f'WholeBody: {word} must be a dict such as {{"name": {example}}}, not {values!r:.60}')
    for name, x in values.items():
        if not isinstance(name, str) or not isinstance(x, kind):
            raise OptionError(f"WholeBody: {word}[{name!r:.60}] must be a kt.control.{kind.__name__}, not {x!r:.60}")
    return dict(values)


def checked_priorities(tasks: Mapping[str, Task], effort: Effort) -> list[list[str]]:
    """The names of tasks, level by level."""
    numbers = sorted({task.priority for task in tasks.values()})
    if effort.priority is not None and (not numbers or effort.priority != numbers[-1]):
        last = f"that of the last tasks, {numbers[-1]}" if numbers else "there must be tasks"
        raise OptionError(f"WholeBody: the effort's priority must be None or {last}, not {effort.priority}")
    return [[name for name in tasks if tasks[name].priority == number] for number in numbers]


def checked_horizon(horizon: object) -> float | None:
    return None if horizon is None else number_between("WholeBody: joint_limit_horizon", horizon, unit="seconds")


def checked_limit(robot: Model, limit: ArrayLike | None) -> Array:
    array = robot.effort_limit if limit is None else real_array("WholeBody: torque_limit", limit, "() or (nv,)")
    if array.shape not in ((), (robot.nv,)):
        raise ShapeError(f"WholeBody: torque_limit must be one number or ({robot.nv},), not of shape {array.shape}")
    if not (array >= 0.0).all():
        raise OptionError("WholeBody: torque_limit must not be negative or NaN")
    return np.broadcast_to(array, (robot.nv,)).astype(np.float64)


def no_torques(
    robot: Model, q: Array, v: Array, values: Array, references: References, step: WholeBodyStep
) -> ConfigurationError:  # fmt: skip
    """The error where the solver found no numbers, for the first sample that has none."""
    where = ""
    if step.tau.ndim > 1:
        inputs = (x.reshape(*step.tau.shape[:-1], -1) for x in (q, v, values))
        with np.errstate(all="ignore"):
            total = sum(x.sum(axis=-1) for x in (*inputs, step.tau, step.qdd))
        index = np.unravel_index(int(np.argmax(~np.isfinite(total))), total.shape)
        k = int(np.ravel_multi_index(index, total.shape))
        q, v, values = q[k], v[k], values[k]
        where = "sample [" + ", ".join(map(str, index)) + "]: "
    for name, x, names in (("q", q, robot.q_names), ("v", v, robot.v_names)):
        if not np.isfinite(x).all():
            k = int(np.argmax(~np.isfinite(x)))
            return ConfigurationError(
                f"WholeBody: {where}{name}[{k}] ({names[k]}) is {x[k]}; no torques follow from such a state"
            )
    if (wrong := references.wrong(values)) is not None:
        return ConfigurationError(
            f"WholeBody: {where}a reference of task {wrong!r} is NaN or infinite; no torques follow from it"
        )
    return ConfigurationError(
        f"WholeBody: {where}no torques were found in this state; its numbers are too large, or the mass matrix is "
        "singular"
    )
