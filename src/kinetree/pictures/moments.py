"""Configurations of a motion at the moments that pictures and films show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.model import Model
from kinetree.pictures.arrangement import checked_count
from kinetree.pictures.recorded import RecordedMotion

__all__ = ["Which", "configurations_at"]

Floats = NDArray[np.float64]
Which = Sequence[int | tuple[int, ...]]


def configurations_at(motion: RecordedMotion, robot: Model, times: Floats, which: Which | None = None) -> Floats:
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
    found = np.where((part < 1.0)[:, None], first, second)
    if between.any():
        x0, x1 = first[:, between], second[:, between]
        found[:, between] = robot.integrate(x0, part[between, None] * robot.difference(x0, x1))
    return np.swapaxes(found, 0, 1)
