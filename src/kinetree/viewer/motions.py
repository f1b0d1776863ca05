"""Motions as a page reads them: the samples and moments that are seen, and never all of a large batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.model import Model
from kinetree.pictures.recorded import RecordedMotion

__all__ = ["Frames"]

Array = NDArray[np.float64]

_SMOOTH = 1.0 / 30.0
"""Rows that are farther apart, s, have moments between them."""
_BLOCK, _BLOCKS = 16 * 2**20, 3
"""Bytes that are read together, and how many such blocks are kept."""


class Frames:
    """Configurations of a motion at any time, of any samples."""

    def __init__(self, motion: RecordedMotion, robot: Model) -> None:
        self.motion, self.robot = motion, robot
        self.time: Array = np.asarray(motion.time)
        self.count = int(np.prod(motion.shape, dtype=np.int64))
        """How many samples there are."""
        self._blocks: OrderedDict[tuple[tuple[int, ...], int], Array] = OrderedDict()

    def row(self, t: float) -> int:
        """The last row that is not after t."""
        return int(np.clip(np.searchsorted(self.time, t + 1e-9, side="right") - 1, 0, len(self.time) - 1))

    def q_at(self, t: float, samples: Sequence[int]) -> Array:
        """(samples, nq) at a time; between rows that are far apart it is on the straight way from one to the next."""
        row = self.row(t)
        later = min(row + 1, len(self.time) - 1)
        between = self.time[later] - self.time[row]
        here = self.q_of(row, samples)
        if between <= _SMOOTH or t <= self.time[row]:
            return here
        share = min((t - self.time[row]) / between, 1.0)
        return self.robot.integrate(here, share * self.robot.difference(here, self.q_of(later, samples)))

    def q_of(self, row: int, samples: Sequence[int]) -> Array:
        """(samples, nq) of a row."""
        rows = max(1, _BLOCK // (8 * max(1, self.robot.nq) * len(samples)))
        key = (tuple(samples), row // rows)
        if key not in self._blocks:
            start = key[1] * rows
            self._blocks[key] = self._read(slice(start, min(start + rows, len(self.time))), samples)
            while len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(key)
        block: Array = self._blocks[key]
        return block[:, row - key[1] * rows]

    def some(self, most: int = 12) -> Array:
        """(k, nq): a few moments of the first sample, spread over the motion."""
        rows: list[int] = np.unique(np.linspace(0, len(self.time) - 1, most).astype(int)).tolist()
        found: Array = self._read(rows, [0])[0]
        return found

    def _read(self, rows: slice | Sequence[int], samples: Sequence[int]) -> Array:
        """(samples, rows, nq)."""
        if not self.motion.shape:
            return self.motion.configurations(rows)[np.newaxis]
        return self.motion.configurations(rows, list(samples))

    def rates_at(self, t: float, sample: int) -> tuple[Array, Array]:
        """(v, qdd) (nv,) of a sample: as recorded, or, of a motion on disk, from the rows beside this one."""
        row = self.row(t)
        if hasattr(self.motion, "v") and hasattr(self.motion, "qdd"):
            place = (*np.unravel_index(sample, self.motion.shape), row) if self.motion.shape else (row,)
            qdd = np.asarray(self.motion.qdd[place])
            return np.asarray(self.motion.v[place]), qdd if np.isfinite(qdd).all() else np.zeros(self.robot.nv)
        if len(self.time) < 3:
            return np.zeros(self.robot.nv), np.zeros(self.robot.nv)
        middle = min(max(row, 1), len(self.time) - 2)
        before, here, after = (self.q_of(k, [sample])[0] for k in (middle - 1, middle, middle + 1))
        first = self.robot.difference(before, here) / (self.time[middle] - self.time[middle - 1])
        second = self.robot.difference(here, after) / (self.time[middle + 1] - self.time[middle])
        return 0.5 * (first + second), 2.0 * (second - first) / (self.time[middle + 1] - self.time[middle - 1])
