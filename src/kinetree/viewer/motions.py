"""Motions as a page reads them: the moments that are seen, and never all of a large batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.model import Model

__all__ = ["Frames"]

Array = NDArray[np.float64]

_SMOOTH = 1.0 / 30.0
"""Rows that are farther apart, s, have moments between them."""


class Frames:
    """Configurations of a motion at any time."""

    def __init__(self, motion: Any, robot: Model) -> None:
        self.motion, self.robot = motion, robot
        self.time: Array = np.asarray(motion.time)
        self.shape: tuple[int, ...] = tuple(motion.shape)

    @property
    def count(self) -> int:
        """How many samples there are."""
        return int(np.prod(self.shape, dtype=np.int64))

    def row(self, t: float) -> int:
        """The last row that is not after t."""
        return int(np.clip(np.searchsorted(self.time, t + 1e-9, side="right") - 1, 0, len(self.time) - 1))

    def q_at(self, t: float, samples: Sequence[int]) -> Array:
        """(samples, nq) at a time; between rows that are far apart it is on the straight way from one to the next."""
        row = self.row(t)
        later = min(row + 1, len(self.time) - 1)
        between = self.time[later] - self.time[row]
        if between <= _SMOOTH or t <= self.time[row]:
            return self.q_of([row], samples)[:, 0]
        first, second = np.moveaxis(self.q_of([row, later], samples), 1, 0)
        share = min((t - self.time[row]) / between, 1.0)
        return self.robot.integrate(first, share * self.robot.difference(first, second))

    def q_of(self, rows: Sequence[int], samples: Sequence[int]) -> Array:
        """(samples, rows, nq)."""
        places: Any = [int(k) for k in samples]
        if len(self.shape) > 1:
            places = [tuple(int(k) for k in np.unravel_index(one, self.shape)) for one in places]
        if not self.shape:
            return self._read(rows, None)[None]
        return self._read(rows, places)

    def _read(self, rows: Sequence[int], samples: Any) -> Array:
        if hasattr(self.motion, "configurations"):
            found: Array = self.motion.configurations(list(rows), samples)
            return found
        if samples is None:
            return np.asarray(self.motion.q)[rows]
        return np.stack([self.motion.q[one][rows] for one in samples])

    def rates_at(self, t: float, sample: int) -> tuple[Array, Array]:
        """(v, qdd) (nv,) of a sample at a time: as recorded, or from the rows beside it if these were not kept."""
        row = self.row(t)
        if getattr(self.motion, "v", None) is not None:
            place = (*np.unravel_index(sample, self.shape), row) if self.shape else (row,)
            qdd = np.asarray(self.motion.qdd[place])
            return np.asarray(self.motion.v[place]), qdd if np.isfinite(qdd).all() else np.zeros(self.robot.nv)
        low, high = max(row - 1, 0), min(row + 1, len(self.time) - 1)
        if low == high:
            return np.zeros(self.robot.nv), np.zeros(self.robot.nv)
        first, here, second = self.q_of([low, row, high], [sample])[0]
        span = self.time[high] - self.time[low]
        v = self.robot.difference(first, second) / span
        if low in (row, high - 1) or high == row:
            return v, np.zeros(self.robot.nv)
        change = self.robot.difference(here, second) - self.robot.difference(first, here)
        return v, change / (0.5 * span) ** 2

    def some(self, most: int = 12) -> Array:
        """(k, nq): a few moments of the first sample, spread over the motion."""
        rows = np.unique(np.linspace(0, len(self.time) - 1, most).astype(int))
        found: Array = self.q_of(rows.tolist(), [0])[0]
        return found
