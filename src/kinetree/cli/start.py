"""Where `kinetree simulate` lets a robot begin if it is not told: a pose from which something is seen to move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.model import Model

__all__ = ["falling_pose"]

_AWAY = 0.3
"""rad, m: how far each coordinate is from the neutral one."""
_PART = 0.1
"""The part of the room between its limits that this may take, and that is kept from each limit."""


def falling_pose(robot: Model) -> NDArray[np.float64]:
    """A configuration near the neutral one and within the limits, in which gravity moves a fixed base's joints.

    At the neutral one arms and poles often stand upright, in balance. A robot with a floating base falls anyway, and
    begins at the neutral configuration, as do quaternions.
    """
    q = robot.neutral()
    if robot.floating_base:
        return q
    room = np.where(np.isfinite(robot.upper - robot.lower), robot.upper - robot.lower, np.inf)
    margin = np.where(np.isfinite(room), _PART * room, 0.0)
    home = np.clip(q, robot.lower + margin, robot.upper - margin)
    away = np.minimum(_AWAY, _PART * room)
    pose = np.where(home + away <= robot.upper - margin, home + away, home - away)
    for part in robot.quaternions.values():
        pose[part] = q[part]
    return np.asarray(pose)
