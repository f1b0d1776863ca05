"""How far a frame is from a pose, in chosen axes: the stretch of a Cartesian impedance's spring."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.tasks import Pose
from kinetree.functions.derivatives import jvp
from kinetree.functions.jacobians import frame_jacobian
from kinetree.functions.kinematics import frame_placement
from kinetree.model import Model
from kinetree.programs import program

__all__ = ["PoseSpring"]


class PoseSpring:
    """The error of a `Pose`, turned into these axes; for one sample, plain or symbolic."""

    def __init__(self, robot: Model, frame: str, axes: str) -> None:
        self._robot, self._axes = robot, axes
        self._of_a_frame = axes not in ("world", "local", "target")
        if self._of_a_frame:
            self._axes = robot.frames[axes].name
        self._pose = Pose(
            robot.frames[frame].name, expressed_in="local" if axes == "local" else "local_world_aligned"
        )  # fmt: skip
        self._stretch = program(self.stretch, q=robot, target=(4, 4))

    def stretch(self, q: Any, target: Any) -> Any:
        """e (6,): the way to the target's origin, and the rotation vector to its orientation."""
        return self._turned(q, target, self._pose.error(self._robot, q, target))

    def slope(self, q: Any, target: Any) -> Any:
        """E (6, nv): the derivative of e by displacements of q."""
        robot, slope = self._robot, self._pose.error_jacobian(self._robot, q, target)
        if self._of_a_frame:
            e = self._pose.error(robot, q, target)
            J = frame_jacobian(robot, q, self._axes, expressed_in="local_world_aligned", part="angular")
            turning = [np.cross(part, J, axisb=0, axisc=0) for part in (e[:3], e[3:])]
            slope = slope + np.concatenate(turning)
        return self._turned(q, target, slope)

    def drift(self, q: Any, target: Any, twist: Any) -> Any:
        """ė (6,) of a robot at rest, while the target moves with [v; ω] in the world's axes, at its origin."""
        turning = np.cross(twist[3:], target[:3, :3], axisb=0, axisc=0)
        rate = np.concatenate([np.concatenate([turning, twist[:3, None]], axis=1), np.zeros((1, 4))])
        return jvp(self._stretch, (q, target), {"target": rate})[1]

    def _turned(self, q: Any, target: Any, rows: Any) -> Any:
        """Rows (6, …) in the world's axes, or the frame's own, in the axes of the spring."""
        if self._axes in ("world", "local"):
            return rows
        R = target if self._axes == "target" else frame_placement(self._robot, q, self._axes)
        return np.concatenate([R[:3, :3].T @ rows[:3], R[:3, :3].T @ rows[3:]])
