"""The interface of tasks: as inverse kinematics, operational-space laws and whole-body control use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.control.tasks.checks import checked_priority, checked_weight
from kinetree.functions.derivatives import jacobian
from kinetree.programs.program import program
from kinetree.record_text import call_text
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = ["Task"]


@record(frozen=True, slots=True, repr=False)
class Task:
    """Something that a robot is to reach or to follow: m numbers that depend on its configuration.

    All methods are for one sample, of plain or symbolic arrays, so that they work in NumPy and in programs alike. The
    task's velocity is J v and its acceleration J v̇ + J̇ v, with v̇ the joints' acceleration. For a target at rest, the
    error's time derivative is `error_jacobian` times v; at the target that matrix is −J, but not at large rotations.

    A task of your own is a subclass with these methods: `size`, `target_shape` and `error` for inverse kinematics,
    `jacobian` and `bias` for laws of motion. They become programs when the task is first used, so the attributes that
    they read must not change afterwards.

    Attributes:
        weight: the factor of the squared errors in a sum over tasks, one number or one per row; ≥ 0. It has the unit
            that makes such sums comparable, 1/m² or 1/rad².
        priority: 0 for the first tasks; tasks of a larger number use the freedom that those before leave. Tasks of
            equal priority are weighed against each other.
    """

    weight: float | Sequence[float] = field(default=1.0, kw_only=True)
    priority: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        about = type(self).__name__
        object.__setattr__(self, "weight", checked_weight(about, self.weight))
        object.__setattr__(self, "priority", checked_priority(about, self.priority))

    def __repr__(self) -> str:
        return call_text(self)

    def check(self, robot: Model) -> None:
        """Raise an error if this robot lacks something that the task names, or the weights are not one per row."""

    def check_target(self, robot: Model, target: Any) -> None:
        """Raise an error if arrays of plain numbers (…, *target_shape) are not targets; NaN is allowed."""

    def size(self, robot: Model) -> int:
        """How many numbers it has, m."""
        raise _missing(self, "size(robot)")

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        """The shape of one target; () for tasks with one number, (0,) for tasks without targets."""
        raise _missing(self, "target_shape(robot)")

    def present(self, robot: Model, q: Any) -> Any:
        """A target that the configuration q has reached, for instance the frame's pose (4, 4)."""
        raise _missing(self, "present(robot, q)")

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        """The way (m,) from where the robot is to the target, in the axes of `jacobian`."""
        raise _missing(self, "error(robot, q, target)")

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        """The exact derivatives (m, nv) of the error by displacements of q; by default `error` is differentiated."""
        return derivatives_of_error(self, robot, q, target)

    def linearized(self, robot: Model, q: Any, target: Any) -> tuple[Any, Callable[[], Any]]:
        """The error, and a function that returns its derivatives, for tasks in which both come from one search."""
        return self.error(robot, q, target), lambda: self.error_jacobian(robot, q, target)

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        """The matrix J (m, nv) that gives the task's velocity. Only a few tasks, such as `LookAt`, use the target."""
        raise _missing(self, "jacobian(robot, q, target)")

    def velocity(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        """The task's velocity J v (m,), relative to a target at rest."""
        return np.matmul(self.jacobian(robot, q, target), v)

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        """The task's acceleration J̇ v (m,) where v̇ = 0, relative to a target at rest."""
        raise _missing(self, "bias(robot, q, v, target)")

    def weights(self, robot: Model) -> Any:
        """The weight of each row (m,)."""
        return np.broadcast_to(np.asarray(self.weight, dtype=np.float64), (self.size(robot),))


def _missing(task: Task, method: str) -> NotImplementedError:
    return NotImplementedError(
        f"{type(task).__name__} has no method {method}, which is needed here: write it in the class"
    )


def derivatives_of_error(task: Any, robot: Model, q: Any, target: Any) -> Any:
    """The derivatives (m, nv) by displacements of q; part of the program inside one, otherwise compiled."""

    def error(q: Any, target: Any) -> Any:
        return task.error(robot, q, target)

    return jacobian(program(error, q=robot, target=task.target_shape(robot)), (q, target), wrt="q")
