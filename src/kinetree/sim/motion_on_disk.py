"""What files and folders of motions have in common: nothing of them is read before it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.model import Model
from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.picking import Rows, Samples
from kinetree.sim.shown import Shown
from kinetree.sim.trajectory import Trajectory

__all__ = ["MotionOnDisk", "every_array"]

Array = NDArray[np.float64]


def every_array(name: str) -> bool:  # noqa: ARG001
    """All arrays of a motion, for `part`."""
    return True


class MotionOnDisk(Shown, ABC):
    """A motion, or a batch, of which parts are read."""

    _kept: KeptRobot | None

    @property
    def model(self) -> Model | None:
        """The robot itself, made again from its text form beside the motion; None for those of older versions.

        Raises:
            ModelError, TrajectoryFileError: as for `Trajectory.model`.
        """
        return None if self._kept is None else self._kept.model

    @property
    @abstractmethod
    def ended(self) -> Array:
        """When each motion of a batch ended (…,), s, as `Trajectory.ended` has it; those that go on, at the last row.

        Raises:
            TrajectoryFileError: it cannot be read.
        """

    @property
    @abstractmethod
    def events(self) -> tuple[Occurrence, ...]:
        """What happened, of what was to be watched by `until=`, in the order of time.

        Raises:
            TrajectoryFileError: it cannot be read.
        """

    @property
    @abstractmethod
    def diverged(self) -> Mapping[tuple[int, ...], Divergence]:
        """The motions of a batch that could not go on, when and why; by index, such as (3,).

        Raises:
            TrajectoryFileError: it cannot be read.
        """

    def configurations(self, rows: Rows = slice(None), samples: Samples | None = None) -> Array:
        """Configurations at some moments, as `Trajectory.configurations` gives them.

        Args:
            rows: K rows, as a slice or as numbers; by default all that there are now.
            samples: m motions of the batch, by their numbers counted through all its axes, or by their indices; by
                default all.

        Returns:
            q (m, K, nq), or (*shape, K, nq) if no samples are named.

        Raises:
            OptionError: there are no such rows or samples.
            TrajectoryFileError: they cannot be read, are not finite, or the file has changed since it was opened.
        """
        (q,) = self.some("configurations", ("q",), rows, samples)
        return q

    def rates(self, rows: Rows = slice(None), samples: Samples | None = None) -> tuple[Array, Array]:
        """Velocities and accelerations at some moments, as `Trajectory.rates` gives them.

        Args:
            rows: as for `configurations`.
            samples: likewise.

        Returns:
            (v, qdd), each (m, K, nv), or (*shape, K, nv) if no samples are named.

        Raises:
            OptionError, TrajectoryFileError: as for `configurations`.
        """
        v, qdd = self.some("rates", ("v", "qdd"), rows, samples)
        return v, qdd

    @abstractmethod
    def part(
        self,
        rows: Rows = slice(None),
        samples: NDArray[np.intp] | None = None,
        arrays: Callable[[str], bool] = every_array,
    ) -> Trajectory:
        """Some moments of some motions, with what was recorded of them.

        Args:
            rows: K rows that follow each other, as a slice or as numbers; by default all.
            samples: the numbers of m motions, counted through all axes of the batch; by default all.
            arrays: says by its name whether an array with a row per moment is read, "q" or "recorded.NAME"; the others
                are NaN, which takes no memory.

        Returns:
            The motion, or a batch (m,), or (*shape) if no samples are named.

        Raises:
            OptionError: there are no such rows.
            TrajectoryFileError: they cannot be read, are not finite, or the file has changed since it was opened.
        """

    @abstractmethod
    def some(self, function: str, names: tuple[str, ...], rows: Rows, samples: Samples | None) -> list[NDArray[Any]]:
        """Some rows of some arrays, each (m, K, n), or (*shape, K, n) if no samples are named."""
