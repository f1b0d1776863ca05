"""The task of looking at a point: an axis of a frame through it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.control.tasks import frame_motion
from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import (
    checked_direction,
    checked_frames,
    checked_point,
    checked_weights,
    has_frames,
)
from kinetree.control.tasks.directions import angles, angles_jacobian, completed, unit
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.records import record

__all__ = ["LookAt"]


@record(frozen=True, slots=True, repr=False)
class LookAt(Task):
    """A direction of a frame, from a point of it, is to point at a position, as a camera or a tool does.

    The error is as of `Axis`: the shortest rotation vector (2,) that turns the direction to the line of sight. The
    velocity is that of the direction relative to the line of sight, for a target at rest, so it depends on how far the
    target is. A target is a position (3,), in metres; one at the point itself is reached.

    Attributes:
        frame: the name of the frame.
        relative_to: the frame whose coordinates the target is in; by default the world.
        axis: the direction that looks, in the frame's coordinates (3,); its x-axis by default.
        at: the point that it looks from, in the frame's coordinates (3,); by default its origin.

    Raises:
        OptionError: for names, a direction, a point, weights or a priority that are not allowed values.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> gaze, q = kt.control.LookAt("tool", axis=[0.0, 0.0, 1.0]), np.array([0.0, 0.3, 0.5, 0.0, 0.2, 0.0])
    >>> T = kt.frame_placement(arm, q, "tool")
    >>> gaze.error(arm, q, T[:3, 3] + 2.0 * T[:3, 2]).round(12) + 0.0
    array([0., 0.])
    """

    frame: str
    relative_to: str | None = None
    axis: ArrayLike = (1.0, 0.0, 0.0)
    at: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        checked_frames(self)
        object.__setattr__(self, "axis", checked_direction("LookAt", "axis", self.axis))
        object.__setattr__(self, "at", checked_point("LookAt", "at", self.at))

    def check(self, robot: Model) -> None:
        has_frames(robot, self)
        checked_weights("LookAt", self.weight, self.size(robot))

    def size(self, robot: Model) -> int:
        return 2

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (3,)

    def present(self, robot: Model, q: Any) -> Any:
        """The point one metre ahead."""
        T = frame_motion.placement(robot, q, self.frame, self.relative_to)
        return T[:3, 3] + T[:3, :3] @ (np.array(self.at) + np.array(self.axis))

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return angles(self._sight(robot, q, target)[0])

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        d, per_metre = self._sight(robot, q, target)
        turns, moves = self._moves(frame_motion.jacobian(robot, q, self.frame, self.relative_to, "local"))
        across = moves - np.outer(d, d @ moves)
        return angles_jacobian(d) @ (np.cross(d, turns, axisb=0, axisc=0) - per_metre * across)

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        d, per_metre = self._sight(robot, q, target)
        turns, moves = self._moves(frame_motion.jacobian(robot, q, self.frame, self.relative_to, "local"))
        return (turns + per_metre * np.cross(d, moves, axisb=0, axisc=0))[:2]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        d, per_metre = self._sight(robot, q, target)
        w, u = self._moves(frame_motion.velocity(robot, q, v, self.frame, self.relative_to, "local"))
        w_rate, u_rate = self._moves(frame_motion.bias(robot, q, v, self.frame, self.relative_to, "local"))
        nearer = per_metre * (d @ u)
        d_rate = np.cross(d, w) - per_metre * (u - d * (d @ u))
        return (w_rate + per_metre * (np.cross(d_rate, u) + np.cross(d, u_rate) + nearer * np.cross(d, u)))[:2]

    def _sight(self, robot: Model, q: Any, target: Any) -> tuple[Any, Any]:
        """The direction of the target in the frame's own three axes, the last being `axis`; 1 / its distance."""
        T = frame_motion.placement(robot, q, self.frame, self.relative_to)
        way = T[:3, :3].T @ (real_array("target", target, "(3,)") - T[:3, 3]) - np.array(self.at)
        d, length = unit(self._own @ way)
        return d, np.where(length > 0.0, 1.0, 0.0) / np.where(length > 0.0, length, 1.0)

    def _moves(self, motion: Any) -> tuple[Any, Any]:
        """How the frame turns, and how the point moves, in the frame's own three axes; of columns of motions too."""
        lever = np.cross(np.array(self.at), motion[3:], axisb=0, axisc=0)
        return self._own @ motion[3:], self._own @ (motion[:3] - lever)

    @property
    def _own(self) -> Any:
        return completed(self.axis)  # type: ignore[arg-type]
