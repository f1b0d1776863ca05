"""A motion on disk, read only when it is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError, TrajectoryFileError
from kinetree.files import file_path
from kinetree.model import Model
from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.motion_folder import MotionFolder, PieceEnd
from kinetree.sim.outcomes import picked
from kinetree.sim.picking import Rows, Samples, row_numbers, sample_numbers
from kinetree.sim.shown import Shown
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.trajectory import Trajectory
from kinetree.sim.trajectory_file import PER_MOTION, RECORDED
from kinetree.store.folder import ROBOT

__all__ = ["TrajectoryFolder", "load_trajectory"]

Array = NDArray[np.float64]


def _every_array(name: str) -> bool:  # noqa: ARG001
    return True


class TrajectoryFolder(Shown):
    """A motion that `kt.simulate` keeps on disk, in pieces, for a `kt.sim.Recording` with a folder as `stream`.

    Nothing is read before it is asked for.

    "rows" in the folder is a group of arrays in Zarr's format, one per field of a `kt.Trajectory`, time first. A folder
    can be opened while the motion is computed, and after it was interrupted: it has the pieces that are whole.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     recording = kt.sim.Recording(every=10, stream=pathlib.Path(place) / "run")
    ...     run = kt.simulate(robot, q=[1.0, 0.5], duration=1.0, record=recording)
    ...     half = kt.load_trajectory(run.path).read(end=0.5)
    >>> run.robot, len(half.time)
    ('double_pendulum', 51)
    """

    def __init__(self, path: Path, kept: KeptRobot | None = None) -> None:
        self.path = path
        """The folder."""
        self._folder = MotionFolder(path)
        self._about = self._folder.description
        self._kept = KeptRobot.of_file(path / ROBOT) if kept is None else kept

    @property
    def robot(self) -> str:
        """The robot's name."""
        return self.settings["robot"]

    @property
    def model(self) -> Model | None:
        """The robot itself, made again from its text form in the folder; None if the folder does not have it.

        Raises:
            ModelError, TrajectoryFileError: as for `Trajectory.model`.
        """
        return None if self._kept is None else self._kept.model

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings and inputs of the motion, as texts by name."""
        found: Mapping[str, str] = self._about["settings"]
        return found

    @property
    def dt(self) -> float:
        """The length of a step, s."""
        return float(self.settings["dt"])

    @property
    def steps(self) -> int:
        """How many steps the whole motion is to have."""
        return int(self.settings["steps"])

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of a batch; () for one motion."""
        return self._folder.shape

    @property
    def q_names(self) -> tuple[str, ...]:
        """One name per coordinate."""
        return tuple(self._about["q_names"])

    @property
    def q_joints(self) -> tuple[str, ...]:
        """The joint that each coordinate belongs to."""
        return tuple(self._about["q_joints"])

    @property
    def q_units(self) -> tuple[str, ...]:
        """One unit per coordinate."""
        return tuple(self._about["q_units"])

    @property
    def v_names(self) -> tuple[str, ...]:
        """One name per degree of freedom."""
        return tuple(self._about["v_names"])

    @property
    def recorded(self) -> tuple[str, ...]:
        """The names of the additional arrays that were recorded."""
        return self._last.recorded

    @property
    def is_complete(self) -> bool:
        """Whether the motion has reached its end."""
        return bool(self.pieces) and self._last.is_last

    @property
    def pieces(self) -> int:
        """How many pieces there are."""
        return self._folder.count()

    @property
    def time(self) -> Array:
        """The times of all rows (T,), s."""
        return self._times(slice(None))

    @property
    def ended(self) -> Array:
        """When each motion of a batch ended (…,), s, as `Trajectory.ended` has it; those that go on, at the last row.

        Raises:
            TrajectoryFileError: it cannot be read.
        """
        return self._last.ended

    @property
    def events(self) -> tuple[Occurrence, ...]:
        """The events selected by `until=`, in the order of time.

        Raises:
            TrajectoryFileError: it cannot be read.
        """
        return tuple(event for end in self._ends() for event in end.events)

    @property
    def diverged(self) -> Mapping[tuple[int, ...], Divergence]:
        """The motions of a batch that could not go on, when and why; by index, such as (3,).

        Raises:
            TrajectoryFileError: it cannot be read.
        """
        return {sample: one for end in self._ends() for sample, one in end.diverged.items()}

    def __repr__(self) -> str:
        pieces = self.pieces
        state = ("complete" if self.is_complete else "not complete") + (self._early_ends("; ") if pieces else "")
        return f"<TrajectoryFolder {str(self.path)!r} of {self.robot!r}: {pieces} pieces, {state}>"

    def __iter__(self) -> Iterator[Trajectory]:
        """The pieces, one after the other."""
        for k in range(self.pieces):
            yield self.piece(k)

    def piece(self, number: int) -> Trajectory:
        """A piece, by its number from 0 on.

        Raises:
            TrajectoryFileError: the piece does not exist, or cannot be read.
        """
        end = self._folder.end(number)
        begin = self._folder.end(number - 1).rows if number else 0
        rows = row_numbers("piece", slice(begin, end.rows), self._folder.rows())
        return replace(self._part(rows, end), events=end.events, diverged=end.diverged)

    def read(self, begin: float = 0.0, end: float = np.inf, every: int = 1) -> Trajectory:
        """The rows with times from `begin` to `end` (s), or every so many of them, and the events of that time.

        Only chunks that have some of it are read.

        Raises:
            OptionError: the motion has no such rows.
            TrajectoryFileError: a chunk cannot be read.
        """
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise OptionError(f"read: every must be a whole number of rows from 1 on, not {every!r:.60}")
        slack = 1e-9 * self.dt
        low, high = begin - slack, end + slack
        time = self.time
        rows = np.flatnonzero((time >= low) & (time <= high))
        rows = rows[rows % every == 0]
        if not rows.size:
            raise OptionError(f"read: {self.path} has no rows from t = {begin:g} s to {end:g} s")
        return replace(self.part(rows), events=tuple(event for event in self.events if low <= event.time <= high))

    def part(
        self,
        rows: Rows = slice(None),
        samples: NDArray[np.intp] | None = None,
        arrays: Callable[[str], bool] = _every_array,
    ) -> Trajectory:
        """Some moments of some motions, with their recorded quantities.

        Args:
            rows: K rows that follow each other, as a slice or as numbers; by default all.
            samples: the numbers of m motions, counted through all axes of the batch; by default all.
            arrays: says by its name whether an array with a row per moment is read, "q" or "recorded.NAME"; the others
                are NaN, which takes no memory.

        Returns:
            The motion, or a batch (m,), or (*shape) if no samples are named.

        Raises:
            OptionError: the motion has no such rows.
            TrajectoryFileError: they cannot be read, or are not finite.
        """
        return self._part(row_numbers("part", rows, self._folder.rows()), self._last, samples, arrays)

    def _part(
        self,
        numbers: NDArray[np.intp],
        end: PieceEnd,
        samples: NDArray[np.intp] | None = None,
        arrays: Callable[[str], bool] = _every_array,
    ) -> Trajectory:
        """Rows up to the end of a piece."""
        axes = (*(self.shape if samples is None else samples.shape), len(numbers))

        def read(name: str) -> NDArray[Any]:
            if not arrays(name):
                return np.broadcast_to(np.nan, (*axes, *self._folder.at_one_moment(name)))
            return self._folder.take(name, numbers, samples)

        time, counts, ended = self._times(numbers), end.step_counts, self.ended
        events, diverged = self.events, self.diverged
        if samples is not None:
            where = np.unravel_index(samples, self.shape)
            ended, (events, diverged) = ended[where], picked(self.shape, where, events, diverged)
            counts = counts and counts[where]
        fields: dict[str, Any] = {name: read(name) for name in PER_MOTION}
        return Trajectory(
            robot=self.robot, integrator=self.settings["integrator"], dt=self.dt, substeps=end.substeps, time=time,
            q_names=self.q_names, q_joints=self.q_joints, q_units=self.q_units, v_names=self.v_names,
            recorded={name: read(RECORDED + name) for name in end.recorded}, units=end.units, step_counts=counts,
            ended=np.asarray(np.minimum(ended, time[-1])),
            events=tuple(event for event in events if time[0] <= event.time <= time[-1]),
            diverged={sample: one for sample, one in diverged.items() if one.time <= time[-1]},
            kept=self._kept, **fields,
        )  # fmt: skip

    def configurations(self, rows: Rows = slice(None), samples: Samples | None = None) -> Array:
        """Configurations at some moments, as `Trajectory.configurations` gives them.

        Args:
            rows: K rows, as a slice or as numbers; by default all that there are now.
            samples: m motions of the batch, by their numbers counted through all its axes, or by their indices; by
                default all.

        Returns:
            q (m, K, nq), or (*shape, K, nq) if no samples are named.

        Raises:
            OptionError: the motion has no such rows or samples.
            TrajectoryFileError: they cannot be read, or are not finite.
        """
        return self._some("configurations", "q", rows, samples)

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
        return self._some("rates", "v", rows, samples), self._some("rates", "qdd", rows, samples)

    def snapshot(self) -> Snapshot:
        """The moment from which the motion goes on; after an interruption that of the last whole piece's end.

        Raises:
            OptionError: an event ended the motion within a step.
            TrajectoryFileError: it cannot be read.
        """
        last = self._folder.last_snapshot()
        if last is None or (self.is_complete and last[0] < self.pieces):
            raise OptionError(
                f"{self.path} has no snapshot: an event ended the motion within a step, or it has not begun"
            )
        return last[1]

    @property
    def _last(self) -> PieceEnd:
        """The end of the last piece."""
        if not (count := self.pieces):
            raise TrajectoryFileError(f"{self.path} has no piece of the motion yet")
        return self._folder.end(count - 1)

    def _ends(self) -> Iterator[PieceEnd]:
        return map(self._folder.end, range(self.pieces))

    def _times(self, rows: Rows) -> Array:
        numbers = row_numbers("time", rows, self._folder.rows())
        times = self._folder.take("time", numbers) if len(numbers) else np.empty(0)
        if not (np.diff(times)[np.diff(numbers) > 0] > 0.0).all():
            raise TrajectoryFileError(f"{self.path} is not a trajectory: 'time' does not increase")
        return times

    def _some(self, function: str, name: str, rows: Rows, samples: Samples | None) -> Array:
        """Some rows of an array, (m, K, n), or (*shape, K, n) if no samples are named."""
        numbers = row_numbers(function, rows, self._folder.rows())
        some = None if samples is None else sample_numbers(function, samples, self.shape)
        return self._folder.take(name, numbers, some)


def load_trajectory(path: str | os.PathLike[str]) -> TrajectoryFolder | Trajectory:
    """The motion in a folder that `kt.simulate` writes, or in a file of `Trajectory.save`.

    Of a folder nothing is read before it is asked for; a file is read at once, as by `kt.Trajectory.load`. Both have
    `time`, `shape`, `configurations` and `rates`.

    Args:
        path: the folder or the file.

    Returns:
        The motion.

    Raises:
        TrajectoryFileError: the folder or file does not exist, or holds no motion.
        DTypeError: `path` is not a path.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     recording = kt.sim.Recording(stream=pathlib.Path(place) / "run")
    ...     _ = kt.simulate(robot, q=[1.0, 0.5], duration=0.1, record=recording)
    ...     motion = kt.load_trajectory(pathlib.Path(place) / "run")
    ...     motion.is_complete, motion.time.shape, motion.configurations(rows=[0, 50]).shape
    (True, (101,), (2, 2))
    """
    place = file_path("load_trajectory", path, what="folder or file")
    return TrajectoryFolder(place) if place.is_dir() else Trajectory.load(place)
