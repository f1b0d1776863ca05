"""The task of a frame's orientation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from kinetree.control.tasks import frame_motion
from kinetree.control.tasks.base import Task
from kinetree.control.tasks.checks import (
    check_rotations,
    checked_axes,
    checked_frames,
    checked_weights,
    has_frames,
)
from kinetree.inputs import chosen_word, real_array
from kinetree.lie.exponential_maps import rotation_log, rotation_log_jacobian
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Orientation"]


@record(frozen=True, slots=True, repr=False)
class Orientation(Task):
    """Turn a frame to a given orientation. A target is a rotation matrix (3, 3), as in `kt.frame_placement`.

    The error is the rotation vector that turns the frame to the target, by half a turn at most.

    Attributes:
        frame: the name of the frame.
        relative_to: the frame whose coordinates the target is in; by default the world.
        axes: which rows matter, of "x", "y" and "z"; "xyz" is all of them.
        expressed_in: the axes of the rows: "local_world_aligned" for those of the world or of `relative_to`, "local"
            for those of the frame.

    Raises:
        OptionError: for names, axes, weights or a priority that are not allowed values.

    Source: Solà, Deray and Atchuthan, arXiv:1812.01537, appendix B.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> task = kt.control.Orientation("tool")
    >>> R = task.present(arm, np.zeros(6))
    >>> task.error(arm, np.zeros(6), kt.lie.rotation_exp([0.0, 0.0, 0.25]) @ R).round(12).tolist()
    [0.0, 0.0, 0.25]
    """

    frame: str
    relative_to: str | None = None
    axes: str | Sequence[str] = "xyz"
    expressed_in: Literal["local", "local_world_aligned"] = "local_world_aligned"

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        checked_frames(self)
        object.__setattr__(self, "axes", checked_axes("Orientation", self.axes, "xyz"))
        chosen_word("Orientation: expressed_in", self.expressed_in, "local", "local_world_aligned")

    def check(self, robot: Model) -> None:
        has_frames(robot, self)
        checked_weights("Orientation", self.weight, self.size(robot))

    def check_target(self, robot: Model, target: Any) -> None:
        check_rotations(target)

    def size(self, robot: Model) -> int:
        return len(self.axes)

    def target_shape(self, robot: Model) -> tuple[int, ...]:
        return (3, 3)

    def present(self, robot: Model, q: Any) -> Any:
        return frame_motion.placement(robot, q, self.frame, self.relative_to)[:3, :3]

    def error(self, robot: Model, q: Any, target: Any) -> Any:
        return rotation_log(self._away(robot, q, target))[self._rows]

    def error_jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        turn = rotation_log_jacobian(self._away(robot, q, target))
        if self.expressed_in == "local":
            turn = turn.T  # the frame's own displacement is to the left of Rᵀ R_target
        J = frame_motion.jacobian(robot, q, self.frame, self.relative_to, self.expressed_in)
        return -(turn @ J[3:])[self._rows]

    def jacobian(self, robot: Model, q: Any, target: Any) -> Any:
        return frame_motion.jacobian(robot, q, self.frame, self.relative_to, self.expressed_in)[3:][self._rows]

    def velocity(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return frame_motion.velocity(robot, q, v, self.frame, self.relative_to, self.expressed_in)[3:][self._rows]

    def bias(self, robot: Model, q: Any, v: Any, target: Any) -> Any:
        return frame_motion.bias(robot, q, v, self.frame, self.relative_to, self.expressed_in)[3:][self._rows]

    def _away(self, robot: Model, q: Any, target: Any) -> Any:
        """The target's orientation as seen from the frame, in the axes of the rows."""
        R, aim = self.present(robot, q), real_array("target", target, "(3, 3)")
        return R.T @ aim if self.expressed_in == "local" else aim @ R.T

    @property
    def _rows(self) -> list[int]:
        return ["xyz".index(name) for name in self.axes]
