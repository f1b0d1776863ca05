"""The task of a direction: an axis of a frame along a given one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.control.tasks import frame_motion
from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import checked_direction, checked_frames, checked_weights, has_frames
from kinetree.control.tasks.directions import angles, angles_jacobian, completed, unit
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Axis"]


@record(frozen=True, slots=True, repr=False)
class Axis(Task):
    """A direction of a frame is to point along a given one; rotations about it are free.

    The error is the shortest rotation vector to the target, which has two rows: about two axes of the frame at right
    angles to its direction. From exactly the opposite direction it is half a turn about the first of the two. A target
    is a direction (3,), whose length does not matter; one of no length is reached by every configuration.

    Attributes:
        frame: the name of the frame.
        relative_to: the frame whose coordinates the target is in; by default the world.
        axis: the direction that is to point, in the frame's coordinates (3,); its z-axis by default.

    Raises:
        OptionError: for names, an axis, weights or a priority that are not allowed values.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> upright, q = kt.control.Axis("tool", axis=[0.0, 0.0, 1.0]), np.array([0.0, 0.3, 0.5, 0.0, 0.2, 0.0])
    >>> angle = np.linalg.norm(upright.error(arm, q, [0.0, 0.0, 1.0]))
    >>> bool(np.isclose(np.cos(angle), kt.frame_placement(arm, q, "tool")[2, 2]))
    True
    """

    frame: str
    relative_to: str | None = None
    axis: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        checked_frames(self)
        object.__setattr__(self, "axis", checked_direction("Axis", "axis", self.axis))

    def check(self, robot: Model) -> None:
        has_frames(robot, self)
        checked_weights("Axis", self.weight, self.size(robot))

    def size(self, robot: Model) -> int:
        return 2

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (3,)

    def present(self, robot: Model, q: Any) -> Any:
        return frame_motion.placement(robot, q, self.frame, self.relative_to)[:3, :3] @ self._own[2]

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return angles(self._direction(robot, q, target))

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        d = self._direction(robot, q, target)
        turns = self._own @ frame_motion.jacobian(robot, q, self.frame, self.relative_to, "local")[3:]
        return angles_jacobian(d) @ np.cross(d, turns, axisb=0, axisc=0)

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return self._own[:2] @ frame_motion.jacobian(robot, q, self.frame, self.relative_to, "local")[3:]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return self._own[:2] @ frame_motion.bias(robot, q, v, self.frame, self.relative_to, "local")[3:]

    def _direction(self, robot: Model, q: Any, target: Any) -> Any:
        """The target's direction in the frame's own three axes, the last being `axis`."""
        R = frame_motion.placement(robot, q, self.frame, self.relative_to)[:3, :3]
        return self._own @ (R.T @ unit(real_array("target", target, "(3,)"))[0])

    @property
    def _own(self) -> Any:
        return completed(self.axis)  # type: ignore[arg-type]
