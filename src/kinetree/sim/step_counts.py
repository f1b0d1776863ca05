"""Counts of the steps that an integrator with error control took."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["StepCounts"]


@record(frozen=True, slots=True, eq=False)
class StepCounts:
    """The steps of a motion, or of each of a batch (…,), since it began.

    Attributes:
        accepted: how many were taken.
        rejected: how many were tried, but had too large an error.
        smallest: the shortest that was taken, s; those that end where torques or forces change do not count.
    """

    accepted: NDArray[np.int64]
    rejected: NDArray[np.int64]
    smallest: NDArray[np.float64]

    def __repr__(self) -> str:
        accepted, rejected = int(self.accepted.sum()), int(self.rejected.sum())
        shortest = float(self.smallest.min(initial=np.inf))
        return f"<StepCounts: {accepted:,} accepted, {rejected:,} rejected, the smallest {shortest:.3g} s>"

    def __getitem__(self, some: Any) -> StepCounts:
        """The counts of some motions of a batch."""
        return StepCounts(*(np.asarray(x[some]) for x in (self.accepted, self.rejected, self.smallest)))
