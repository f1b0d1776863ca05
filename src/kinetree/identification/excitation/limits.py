"""Limits of a motion: bounds of positions, velocities, accelerations and torques, and margins of the user's own.

Each bound is a barrier, -Σ log of the remaining distance, so a search never leaves the allowed set.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError, listed
from kinetree.inputs import number_or_row, sample
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Bounds", "barrier", "bounds_of"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Bounds:
    """Lower and upper bounds (n,) of each kind; infinite without a bound."""

    q: tuple[Array, Array]
    v: tuple[Array, Array]
    qdd: tuple[Array, Array]
    tau: tuple[Array, Array]


def bounds_of(robot: Model, limits: Mapping[str, ArrayLike | None], margin: float) -> Bounds:
    """The robot's own limits, or those given instead ("position" (2, n), "velocity", …), less a part of each.

    Raises:
        OptionError: a joint has no limit of its velocity, or limits leave no room.
        ShapeError, DTypeError: limits do not fit the robot.
    """
    n = robot.nv
    position = limits.get("position")
    if position is None:
        low, high = robot.lower.copy(), robot.upper.copy()
    else:
        hint = ", lower and upper bounds"
        low, high = sample("position_limit", position, (2, n), repr(robot.name), hint).astype(np.float64)
    if not (low < high).all():
        names = [robot.q_names[k] for k in np.flatnonzero(~(low < high))]
        raise OptionError(
            f"the lower and upper positions of {listed(names)} leave no range of motion; give position_limit=, "
            "or lock these joints: robot.lock([…])"
        )
    v = _symmetric(robot, "velocity_limit", limits.get("velocity"), robot.velocity_limit)
    if not np.isfinite(v).all():
        names = [robot.v_names[k] for k in np.flatnonzero(~np.isfinite(v))]
        raise OptionError(f"no limit of the velocity of {listed(names)} is known; give velocity_limit=")
    qdd = _symmetric(robot, "acceleration_limit", limits.get("acceleration"), np.full(n, np.inf))
    tau = _symmetric(robot, "effort_limit", limits.get("effort"), robot.effort_limit)
    room = 0.5 * margin * np.where(np.isfinite(high - low), high - low, 0.0)
    keep = 1.0 - margin
    return Bounds(
        (low + room, high - room), (-keep * v, keep * v), (-keep * qdd, keep * qdd), (-keep * tau, keep * tau)
    )  # fmt: skip


def _symmetric(robot: Model, name: str, limit: ArrayLike | None, own: Array) -> Array:
    if limit is None:
        if (own <= 0.0).any():
            names = [robot.v_names[k] for k in np.flatnonzero(own <= 0.0)]
            raise OptionError(f"the robot's own {name} of {listed(names)} is zero; give {name}=, or lock these joints")
        return own.astype(np.float64)
    x = number_or_row(name, limit, robot.nv, "degree of freedom")
    if not (x > 0.0).all():
        raise OptionError(f"{name} must be positive numbers, not {x.tolist()!r:.60}")
    return x


def barrier(x: Array, low: Array, high: Array) -> tuple[float, Array]:
    """The negative mean log of the room to both bounds, relative to the whole, and its derivative, for x (T, n)."""
    value, slope = 0.0, np.zeros_like(x)
    widths = np.where(np.isfinite(high - low), high - low, 1.0)
    for sign, bound in ((1.0, high), (-1.0, low)):
        bounded = np.isfinite(bound)
        room = sign * (bound - x)[:, bounded] / widths[bounded]
        if not (room > 0.0).all():
            return np.inf, slope
        value -= float(np.log(room).sum()) / len(x)
        slope[:, bounded] += sign / (room * widths[bounded]) / len(x)
    return value, slope
