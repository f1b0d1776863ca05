"""How a frame moves as seen from the world, or from another frame: one set of functions for both."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.functions.jacobians import frame_bias_acceleration, frame_jacobian
from kinetree.functions.kinematics import frame_placement, frame_velocity
from kinetree.functions.options import ExpressedIn
from kinetree.functions.relative import (
    relative_acceleration,
    relative_jacobian,
    relative_placement,
    relative_velocity,
)
from kinetree.model import Model

__all__ = ["bias", "jacobian", "placement", "velocity"]


def placement(robot: Model, q: Any, frame: str, relative_to: str | None) -> Any:
    """The frame's pose (4, 4)."""
    if relative_to is None:
        return frame_placement(robot, q, frame)
    return relative_placement(robot, q, frame, relative_to)


def jacobian(robot: Model, q: Any, frame: str, relative_to: str | None, expressed_in: ExpressedIn) -> Any:
    """J (6, nv), linear rows first."""
    if relative_to is None:
        return frame_jacobian(robot, q, frame, expressed_in=expressed_in)
    return relative_jacobian(robot, q, frame, relative_to, expressed_in=expressed_in)


def velocity(robot: Model, q: Any, v: Any, frame: str, relative_to: str | None, expressed_in: ExpressedIn) -> Any:
    """J v (6,)."""
    if relative_to is None:
        return frame_velocity(robot, q, v, frame, expressed_in=expressed_in)
    return relative_velocity(robot, q, v, frame, relative_to, expressed_in=expressed_in)


def bias(robot: Model, q: Any, v: Any, frame: str, relative_to: str | None, expressed_in: ExpressedIn) -> Any:
    """J̇ v (6,), with J as `jacobian` gives it."""
    kind: Any = "classical" if expressed_in == "local_world_aligned" else "spatial"
    if relative_to is None:
        return frame_bias_acceleration(robot, q, v, frame, expressed_in=expressed_in, kind=kind)
    at_rest = np.zeros(robot.nv)
    return relative_acceleration(robot, q, v, at_rest, frame, relative_to, expressed_in=expressed_in, kind=kind)
