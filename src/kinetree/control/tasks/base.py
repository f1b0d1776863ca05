"""The interface of tasks: what inverse kinematics, operational-space laws and whole-body control ask of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = ["Task"]


@record(frozen=True, slots=True)
class Task:
    """Something that a robot is to reach or to follow: m numbers that depend on its configuration.

    All methods are for one sample, of plain or symbolic arrays, so that they work in NumPy and in programs alike. The
    task's velocity is J(q) v and its acceleration J(q) v̇ + J̇ v. For a target at rest, the error's time derivative
    is `error_jacobian` times v; where rotations are large it is not −J.
    """

    def size(self, robot: Model) -> int:
        """How many numbers it has, m."""
        raise NotImplementedError

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        """The shape of one target; () for tasks that are told by one number."""
        raise NotImplementedError

    def present(self, robot: Model, q: Any) -> Any:
        """The target that the configuration q has reached, for instance the frame's pose (4, 4)."""
        raise NotImplementedError

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        """The way (m,) from where the robot is to the target, in the axes of `jacobian`."""
        raise NotImplementedError

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        """The exact derivatives (m, nv) of the error by displacements of q."""
        raise NotImplementedError

    def jacobian(self, robot: Model, q: Any) -> Any:
        """The matrix J (m, nv) that gives the task's velocity."""
        raise NotImplementedError

    def velocity(self, robot: Model, q: Any, v: Any) -> Any:
        """The task's velocity J v (m,)."""
        return np.matmul(self.jacobian(robot, q), v)

    def bias(self, robot: Model, q: Any, v: Any) -> Any:
        """The task's acceleration J̇ v (m,) where v̇ = 0."""
        raise NotImplementedError
