"""A motion that is shown: a trajectory in memory, or one on disk of which only some moments and motions are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.pictures.drawn_robot import OfRobot

__all__ = ["RecordedMotion"]


class RecordedMotion(OfRobot, Protocol):
    """What `Trajectory` and `TrajectoryFolder` have in common."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of a batch; () for one motion."""

    @property
    def time(self) -> NDArray[np.float64]:
        """(T,), s."""

    def configurations(
        self,
        rows: slice | Sequence[int] | NDArray[np.intp] = ...,
        samples: Sequence[int | tuple[int, ...]] | NDArray[np.intp] | None = ...,
    ) -> NDArray[np.float64]:
        """q (m, K, nq) of some motions and moments, or (*shape, K, nq) of all motions."""

    def rates(
        self,
        rows: slice | Sequence[int] | NDArray[np.intp] = ...,
        samples: Sequence[int | tuple[int, ...]] | NDArray[np.intp] | None = ...,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(v, qdd) of the same, with nv in place of nq; accelerations that were not recorded are NaN."""
