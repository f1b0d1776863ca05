"""The moments of a motion to draw: which robot, when, and where it is then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError, listed
from kinetree.model import Model
from kinetree.model.model import check_robot
from kinetree.pictures.arrangement import checked_count
from kinetree.sim.picking import Samples, sample_numbers

if TYPE_CHECKING:
    from kinetree.sim.shown import RecordedMotion

__all__ = ["configurations_at", "divergences", "robot_of", "span_of"]

Floats = NDArray[np.float64]


def robot_of(function: str, motion: RecordedMotion, robot: Model | None = None) -> Model:
    """The robot that is given, or else that of the motion.

    Raises:
        OptionError: the motion does not have its robot, or the one that is given has other coordinates.
        ModelError, TrajectoryFileError: the robot of its file cannot be made.
    """
    if robot is None:
        own = motion.model
        if own is None:
            raise OptionError(
                f"{function}: this motion of {motion.robot!r} does not have the robot itself, as its file is of an "
                "older version; give it: robot=kt.load(FILE), or --robot FILE on the command line"
            )
        return own
    check_robot(robot)
    if tuple(robot.q_names) != tuple(motion.q_names):
        raise OptionError(
            f"{function}: robot={robot.name!r} is not that of the motion: its coordinates are "
            f"{listed(robot.q_names, most=5)}, and those of the motion {listed(motion.q_names, most=5)}"
        )
    return robot


def span_of(motion: RecordedMotion) -> tuple[float, float]:
    """The first and the last moment of a motion, s. Raises `OptionError` if it has none yet."""
    time = motion.time
    if not len(time):
        raise OptionError(f"this motion of {motion.robot!r} has no rows, so there is nothing to be seen")
    return float(time[0]), float(time[-1])


def configurations_at(motion: RecordedMotion, robot: Model, times: Floats, which: Samples | None = None) -> Floats:
    """q (F, n, nq) at moments (F,) within a motion: on the straight way from each row to the next, at constant speed.

    Args:
        motion: one motion, or a batch.
        robot: its robot.
        times: s, which do not decrease.
        which: of a batch, the n motions that are shown; by default all.

    Raises:
        OptionError: there are more motions than a picture shows, or no such ones.
    """
    count = int(np.prod(motion.shape)) if which is None else len(which)
    checked_count(count)
    rows = motion.time
    before = np.clip(np.searchsorted(rows, times, side="right") - 1, 0, len(rows) - 1)
    after = np.minimum(before + 1, len(rows) - 1)
    needed = np.unique(np.concatenate((before, after)))
    samples = which if motion.shape else None
    q = motion.configurations(needed, samples).reshape(count, len(needed), robot.nq)
    first, second = q[:, np.searchsorted(needed, before)], q[:, np.searchsorted(needed, after)]
    step = rows[after] - rows[before]
    part = np.clip((times - rows[before]) / np.where(step > 0.0, step, 1.0), 0.0, 1.0)
    between = (part > 0.0) & (part < 1.0) & np.isfinite(second).all(axis=(0, 2)) & np.isfinite(first).all(axis=(0, 2))
    q_between = np.where((part < 1.0)[:, None], first, second)
    if between.any():
        x0, x1 = first[:, between], second[:, between]
        q_between[:, between] = robot.integrate(x0, part[between, None] * robot.difference(x0, x1))
    return np.swapaxes(q_between, 0, 1)


def divergences(function: str, motion: RecordedMotion, which: Samples | None = None) -> Floats | None:
    """When each of some motions diverged (n,), s, in the order of the batch; infinite if it did not.

    None if none of the batch did.
    """
    if not motion.diverged:
        return None
    times = np.full(motion.shape, np.inf)
    for sample, one in motion.diverged.items():
        times[sample] = one.time
    return times.ravel() if which is None else times.ravel()[sample_numbers(function, which, motion.shape)]
