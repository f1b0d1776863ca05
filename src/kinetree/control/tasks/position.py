"""The task of a point's position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.control.tasks import frame_motion
from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import checked_axes, checked_frames, checked_point, checked_weights, has_frames
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Position"]


@record(frozen=True, slots=True, repr=False)
class Position(Task):
    """Move a point of a frame to a position. A target is that position (3,), in metres.

    Attributes:
        frame: the name of the frame.
        relative_to: the frame whose coordinates and axes the target and the rows are in; by default the world.
        at: the point, in the frame's coordinates (3,); by default its origin.
        axes: which rows matter, of "x", "y" and "z"; "xyz" is all of them. The others of a target are not looked at.

    Raises:
        OptionError: for names, a point, axes, weights or a priority that are not allowed values.

    Source: Featherstone, RBDA (2008), section 2.10 (the acceleration of a point of a rigid body).

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> height, q = kt.control.Position("tool", at=[0.0, 0.0, 0.1], axes="z"), np.zeros(6)
    >>> height.error(arm, q, height.present(arm, q) + 0.25)
    array([0.25])
    """

    frame: str
    relative_to: str | None = None
    at: ArrayLike = (0.0, 0.0, 0.0)
    axes: str | Sequence[str] = "xyz"

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        checked_frames(self)
        object.__setattr__(self, "at", checked_point("Position", "at", self.at))
        object.__setattr__(self, "axes", checked_axes("Position", self.axes, "xyz"))

    def check(self, robot: Model) -> None:
        has_frames(robot, self)
        checked_weights("Position", self.weight, self.size(robot))

    def size(self, robot: Model) -> int:
        return len(self.axes)

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (3,)

    def present(self, robot: Model, q: Any) -> Any:
        return frame_motion.placement(robot, q, self.frame, self.relative_to)[:3, 3] + self._lever(robot, q)

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return (real_array("target", target, "(3,)") - self.present(robot, q))[self._rows]

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return -self.jacobian(robot, q, target)

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        J = frame_motion.jacobian(robot, q, self.frame, self.relative_to, "local_world_aligned")
        return (J[:3] - np.cross(self._lever(robot, q), J[3:], axisb=0, axisc=0))[self._rows]

    def velocity(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        twist = frame_motion.velocity(robot, q, v, self.frame, self.relative_to, "local_world_aligned")
        return (twist[:3] + np.cross(twist[3:], self._lever(robot, q)))[self._rows]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        w = frame_motion.velocity(robot, q, v, self.frame, self.relative_to, "local_world_aligned")[3:]
        a = frame_motion.bias(robot, q, v, self.frame, self.relative_to, "local_world_aligned")
        lever = self._lever(robot, q)
        return (a[:3] + np.cross(a[3:], lever) + np.cross(w, np.cross(w, lever)))[self._rows]

    def _lever(self, robot: Model, q: Any) -> Any:
        """The point seen from the frame's origin, in the axes of the rows."""
        return frame_motion.placement(robot, q, self.frame, self.relative_to)[:3, :3] @ np.array(self.at)

    @property
    def _rows(self) -> list[int]:
        return ["xyz".index(name) for name in self.axes]
