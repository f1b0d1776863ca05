"""The task of a frame's pose: where it is and how it is turned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from kinetree.control.tasks import frame_motion
from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import (
    check_poses,
    checked_axes,
    checked_frames,
    checked_weights,
    has_frames,
)
from kinetree.inputs import chosen_word, real_array
from kinetree.lie.exponential_maps import rotation_log, rotation_log_jacobian
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Pose"]

_ROWS = ("x", "y", "z", "rx", "ry", "rz")


@record(frozen=True, slots=True, repr=False)
class Pose(Task):
    """A frame is to have a pose: a position and an orientation.

    The error is [p; w]: the straight way from the frame's origin to the target's, and the rotation vector that turns
    the frame to the target's orientation, by half a turn at most. So positions and orientations are weighed apart, and
    a large rotation does not bend the way. A target is a homogeneous matrix (4, 4), as `kt.frame_placement` gives it.

    Attributes:
        frame: the name of the frame.
        relative_to: the frame whose coordinates the target is in; by default the world.
        axes: which rows matter, of x, y, z (position, m) and rx, ry, rz (rotation vector, rad); all by default. A tool
            that may turn about its own z-axis has all but "rz", with `expressed_in="local"`.
        expressed_in: the axes of the rows: "local_world_aligned" for those of the world or of `relative_to`, "local"
            for those of the frame.

    Raises:
        OptionError: for names, axes, weights or a priority that are not allowed values.

    Source: Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares
    methods" (2004); Solà, Deray and Atchuthan, arXiv:1812.01537, appendix B, for the derivative of the rotation vector.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> task, q = kt.control.Pose("tool"), np.array([0.1, 0.4, 0.5, 0.1, 0.2, 0.3])
    >>> task.size(arm), task.target_shape(arm)
    (6, (4, 4))
    >>> bool(np.abs(task.error(arm, q, task.present(arm, q))).max() < 1e-12)
    True
    """

    frame: str
    relative_to: str | None = None
    axes: Sequence[str] = _ROWS
    expressed_in: Literal["local", "local_world_aligned"] = "local_world_aligned"

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        checked_frames(self)
        object.__setattr__(self, "axes", checked_axes("Pose", self.axes, _ROWS))
        chosen_word("Pose: expressed_in", self.expressed_in, "local", "local_world_aligned")

    def check(self, robot: Model) -> None:
        has_frames(robot, self)
        checked_weights("Pose", self.weight, self.size(robot))

    def check_target(self, robot: Model, target: Any) -> None:
        check_poses(target)

    def size(self, robot: Model) -> int:
        return len(self.axes)

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (4, 4)

    def present(self, robot: Model, q: Any) -> Any:
        return frame_motion.placement(robot, q, self.frame, self.relative_to)

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        p, E = self._away(robot, q, target)
        return np.concatenate([p, rotation_log(E)])[self._rows]

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        p, E = self._away(robot, q, target)
        J = frame_motion.jacobian(robot, q, self.frame, self.relative_to, self.expressed_in)
        linear, turn = -J[:3], rotation_log_jacobian(E)
        if self.expressed_in == "local":
            linear = linear + np.cross(p, J[3:], axisb=0, axisc=0)
            turn = turn.T  # the frame's own displacement is to the left of E = Rᵀ R_target
        return np.concatenate([linear, -(turn @ J[3:])])[self._rows]

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return frame_motion.jacobian(robot, q, self.frame, self.relative_to, self.expressed_in)[self._rows]

    def velocity(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return frame_motion.velocity(robot, q, v, self.frame, self.relative_to, self.expressed_in)[self._rows]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return frame_motion.bias(robot, q, v, self.frame, self.relative_to, self.expressed_in)[self._rows]

    def _away(self, robot: Model, q: Any, target: Any) -> tuple[Any, Any]:
        """The target's position and orientation as seen from the frame, in the axes of the rows."""
        T, goal = self.present(robot, q), real_array("target", target, "(4, 4)")
        R, p, aim = T[:3, :3], goal[:3, 3] - T[:3, 3], goal[:3, :3]
        return (R.T @ p, R.T @ aim) if self.expressed_in == "local" else (p, aim @ R.T)

    @property
    def _rows(self) -> list[int]:
        return [_ROWS.index(name) for name in self.axes]
