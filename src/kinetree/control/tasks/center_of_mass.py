"""The task of the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.control.tasks import frame_motion
from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import checked_axes, checked_frame, checked_weights
from kinetree.functions.center_of_mass import (
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_velocity,
)
from kinetree.functions.energy import center_of_mass
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.records import record

__all__ = ["CenterOfMass"]


@record(frozen=True, slots=True, repr=False)
class CenterOfMass(Task):
    """Move the robot's centre of mass to a position. A target is that position (3,), in metres.

    Attributes:
        relative_to: the frame of the target's and rows' coordinates and axes, such as a foot; default: world.
        axes: which rows matter, of "x", "y" and "z"; "xyz" is all of them. The others of a target are not looked at.

    Raises:
        OptionError: for a name, axes, weights or a priority that are not allowed values.

    Source: Featherstone, RBDA (2008), section 2.10 (velocities and accelerations seen from a frame that moves).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("quadruped")
    >>> over_the_feet, q = kt.control.CenterOfMass(axes="xy"), robot.neutral()
    >>> over_the_feet.error(robot, q, kt.center_of_mass(robot, q)).tolist()
    [0.0, 0.0]
    """

    relative_to: str | None = None
    axes: str | Sequence[str] = "xyz"

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        if self.relative_to is not None:
            object.__setattr__(self, "relative_to", checked_frame("CenterOfMass", "relative_to", self.relative_to))
        object.__setattr__(self, "axes", checked_axes("CenterOfMass", self.axes, "xyz"))

    def check(self, robot: Model) -> None:
        if self.relative_to is not None:
            robot.frames[self.relative_to]
        checked_weights("CenterOfMass", self.weight, self.size(robot))

    def size(self, robot: Model) -> int:
        return len(self.axes)

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (3,)

    def present(self, robot: Model, q: Any) -> Any:
        c = center_of_mass(robot, q)
        if self.relative_to is None:
            return c
        T = frame_motion.placement(robot, q, self.relative_to, None)
        return T[:3, :3].T @ (c - T[:3, 3])

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return (real_array("target", target, "(3,)") - self.present(robot, q))[self._rows]

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return -self.jacobian(robot, q, target)

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        J = center_of_mass_jacobian(robot, q)
        if self.relative_to is not None:
            R = frame_motion.placement(robot, q, self.relative_to, None)[:3, :3]
            frame = frame_motion.jacobian(robot, q, self.relative_to, None, "local")
            J = R.T @ J - frame[:3] + np.cross(self.present(robot, q), frame[3:], axisb=0, axisc=0)
        return J[self._rows]

    def velocity(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return self._velocity(robot, q, v)[self._rows]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        a = center_of_mass_acceleration(robot, q, v, np.zeros(robot.nv))
        if self.relative_to is not None:
            x, u = self.present(robot, q), self._velocity(robot, q, v)
            T = frame_motion.placement(robot, q, self.relative_to, None)
            w = frame_motion.velocity(robot, q, v, self.relative_to, None, "local")[3:]
            frame = frame_motion.bias(robot, q, v, self.relative_to, None, "local_world_aligned")
            turning = np.cross(T[:3, :3].T @ frame[3:], x) + np.cross(w, 2.0 * u + np.cross(w, x))
            a = T[:3, :3].T @ (a - frame[:3]) - turning
        return a[self._rows]

    def _velocity(self, robot: Model, q: Any, v: Any) -> Any:
        u = center_of_mass_velocity(robot, q, v)
        if self.relative_to is None:
            return u
        R = frame_motion.placement(robot, q, self.relative_to, None)[:3, :3]
        frame = frame_motion.velocity(robot, q, v, self.relative_to, None, "local")
        return R.T @ u - frame[:3] - np.cross(frame[3:], self.present(robot, q))

    @property
    def _rows(self) -> list[int]:
        return ["xyz".index(name) for name in self.axes]
