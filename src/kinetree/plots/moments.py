"""The moments that a picture shows: as many as it has columns, until motions end; and those that two have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.plots.choice import Choice
from kinetree.plots.series import Array, Seen
from kinetree.sim.trajectory import Trajectory

__all__ = ["common_rows", "seen_of", "shown_rows", "until_ended"]

_POINTS = 4000
"""A few thousand points are more than a picture has columns."""
_NUMBERS = 1_000_000
"""Motions times moments of a number whose quantiles are drawn."""
_FEWEST = 12


def seen_of(motion: Trajectory, choice: Choice, rows: NDArray[np.intp] | None = None) -> Seen:
    """The chosen motions at some moments, by default as many as can be distinguished."""
    count = int(np.prod(motion.shape))
    samples = np.arange(count) if choice.samples is None else choice.samples
    shown = shown_rows(np.arange(len(motion.time)) if rows is None else rows, len(samples))
    return Seen(motion.shape, samples, shown, motion.time[shown], samples, count)


def shown_rows(rows: NDArray[np.intp], samples: int) -> NDArray[np.intp]:
    """As many of the rows as can be distinguished in a picture of so many motions, the first and the last among them.

    >>> shown_rows(np.arange(10_000), 1).size, shown_rows(np.arange(4000), 1).size
    (3334, 4000)
    """
    most = min(_POINTS, max(_FEWEST, _NUMBERS // max(1, samples)))
    stride = max(1, -(-(len(rows) - 1) // (most - 1)))
    shown: NDArray[np.intp] = rows[np.unique(np.append(np.arange(0, len(rows), stride), len(rows) - 1))]
    return shown


def until_ended(motion: Trajectory, seen: Seen, values: Array) -> Array:
    """Numbers (m, K) of the motions that are seen, NaN from when each has ended on."""
    ended = np.broadcast_to(motion.ended, motion.shape).reshape(-1)[seen.samples]
    numbers: Array = np.where(seen.time > ended[:, None] + 1e-9 * motion.dt, np.nan, values)
    return numbers


def common_rows(first: Array, second: Array, dt: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows (K,) of two motions that are at the same times.

    >>> common_rows(np.arange(5) * 0.1, np.arange(9) * 0.2, 0.1)
    (array([0, 2, 4]), array([0, 1, 2]))
    """
    after = np.searchsorted(second, first - 1e-6 * dt)
    rows = np.flatnonzero(after < len(second))
    rows = rows[np.abs(second[after[rows]] - first[rows]) <= 1e-6 * dt]
    return rows, after[rows]
