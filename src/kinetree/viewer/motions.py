"""Motions as a page reads them: the samples and moments that are seen, and never all of a large batch."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree.model import Model

if TYPE_CHECKING:
    from kinetree.sim.shown import RecordedMotion

__all__ = ["Frames"]

Array = NDArray[np.float64]

_SMOOTH = 1.0 / 30.0
"""Rows that are farther apart, s, have moments between them."""
_BLOCK, _BLOCKS = 16 * 2**20, 3
"""Bytes that are read together, and how many such blocks are kept."""


class Frames:
    """Configurations of a motion at any time, of any samples; threads may share it."""

    def __init__(self, motion: RecordedMotion, robot: Model) -> None:
        self.motion = motion
        self.robot = robot
        self.time: Array = np.asarray(motion.time)
        self.count: int = int(np.prod(motion.shape, dtype=np.int64))
        """How many samples there are."""
        self.is_in_memory: bool = hasattr(motion, "q")
        """Whether all of it was read already."""
        self._lock = threading.Lock()
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
        number, rows = self._block(row, samples)
        key = (tuple(samples), number)
        with self._lock:
            block = self._blocks.get(key)
        if block is None:
            start = number * rows
            block = self._read(slice(start, min(start + rows, len(self.time))), samples)
        with self._lock:
            self._blocks[key] = block
            self._blocks.move_to_end(key)
            while len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        return block[:, row - number * rows]

    def holds(self, t: float, samples: Sequence[int]) -> bool:
        """Whether nothing has to be read to show these samples at a time."""
        with self._lock:
            return self.is_in_memory or (tuple(samples), self._block(self.row(t), samples)[0]) in self._blocks

    def _block(self, row: int, samples: Sequence[int]) -> tuple[int, int]:
        """(the number of the block that a row is in, how many rows it has)."""
        rows = max(1, _BLOCK // (8 * max(1, self.robot.nq) * len(samples)))
        return row // rows, rows

    def some(self, most: int = 12) -> Array:
        """(k, nq): a few moments of the first sample, spread over the motion."""
        rows: list[int] = np.unique(np.linspace(0, len(self.time) - 1, most).astype(int)).tolist()
        configurations: Array = self._read(rows, [0])[0]
        return configurations

    def _read(self, rows: slice | Sequence[int], samples: Sequence[int]) -> Array:
        """(samples, rows, nq)."""
        if not self.motion.shape:
            return self.motion.configurations(rows)[np.newaxis]
        return self.motion.configurations(rows, list(samples))

    def rates_at(self, t: float, sample: int) -> tuple[Array, Array]:
        """(v, qdd) (nv,) of a sample at the last row that is not after t.

        Accelerations that were not recorded are the slope of v next to that row.
        """
        row = self.row(t)
        first, last = max(row - 1, 0), min(row + 1, len(self.time) - 1)
        rows, here = slice(first, last + 1), row - first
        if self.motion.shape:
            v, qdd = (x[0] for x in self.motion.rates(rows, [sample]))
        else:
            v, qdd = self.motion.rates(rows)
        if not np.isfinite(qdd[here]).all():
            qdd[here] = (v[-1] - v[0]) / (self.time[last] - self.time[first]) if last > first else 0.0
        return v[here], qdd[here]
