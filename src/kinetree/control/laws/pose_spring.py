"""How far a frame is from a pose, in chosen axes: what the spring of a Cartesian impedance is stretched by."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.attitudes.exponential_maps import rotation_log
from kinetree.functions.kinematics import frame_placement
from kinetree.model import Model
from kinetree.programs import Program, program

__all__ = ["moving_pose", "pose_displacement"]

_AXES = ("world", "target", "local")


def pose_displacement(robot: Model, frame: str, axes: str) -> Program:
    """The program (q, target) of e (6,): the way from the frame's origin to the target's, and the rotation vector from
    its orientation to the target's, both in these axes."""
    name = robot.frames[frame].name
    given = axes if axes in _AXES else robot.frames[axes].name

    def displacement(q: Any, target: Any) -> Any:
        here = frame_placement(robot, q, name)
        R, aim = here[:3, :3], target[:3, :3]
        turned = {"world": np.eye(3), "target": aim, "local": R}.get(given)
        if turned is None:
            turned = frame_placement(robot, q, given)[:3, :3]
        way, turn = target[:3, 3] - here[:3, 3], R @ rotation_log(R.T @ aim)
        return np.concatenate([turned.T @ way, turned.T @ turn])

    return program(displacement, q=robot, target=(4, 4))


def moving_pose(pose: Any, twist: Any) -> Any:
    """The rate (4, 4) of a pose that moves with [v; ω] in the world's axes, at its origin."""
    turning = np.cross(twist[3:], pose[:3, :3], axisa=0, axisb=0, axisc=0)
    return np.concatenate([np.concatenate([turning, twist[:3, None]], axis=1), np.zeros((1, 4))])
