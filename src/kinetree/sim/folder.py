"""A motion on disk in pieces, opened lazily."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence
from kinetree.sim.joining import joined, rows_between
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.motion_on_disk import MotionOnDisk, every_array
from kinetree.sim.outcomes import outcomes_in
from kinetree.sim.picking import Rows, Samples, row_numbers, sample_numbers
from kinetree.sim.pieces import Pieces, snapshot_name
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.trajectory import Trajectory
from kinetree.store.folder import ROBOT, ResultFolder

__all__ = ["MotionFolder", "TrajectoryFolder"]

COMPLETE = "complete.json"


class MotionFolder(ResultFolder):
    """Where a motion is kept."""

    kind, function, format, needed = "motion", "simulate", 1, ("robot", "dt", "steps")

    def check(self, about: Mapping[str, Any]) -> None:
        dt, steps = float(about["settings"]["dt"]), int(about["settings"]["steps"])
        if not 0.0 < dt < math.inf or steps < 0:
            raise ValueError(f"dt is {dt:g} s and there are {steps} steps")


class TrajectoryFolder(MotionOnDisk):
    """A motion that `kt.simulate(…, stream=folder)` keeps on disk, in pieces. Nothing is read before it is asked for.

    Each piece is an .npz file of its own, which `kt.Trajectory.load` reads. A folder can be opened while the motion is
    computed, and after it was interrupted: it has the pieces that are whole.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     run = kt.simulate(robot, q=[1.0, 0.5], duration=1.0, every=10, stream=pathlib.Path(place) / "run")
    ...     half = kt.load_trajectory(run.path).read(end=0.5)
    >>> run.robot, len(half.time)
    ('double_pendulum', 51)
    """

    def __init__(self, path: Path, kept: KeptRobot | None = None) -> None:
        self.path = path
        """The folder."""
        self._about = MotionFolder(path).about()
        self._kept = KeptRobot.of_file(path / ROBOT) if kept is None else kept
        self._pieces = Pieces(path, COMPLETE)

    @property
    def robot(self) -> str:
        """The robot's name."""
        return self.settings["robot"]

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the motion and what it was given, as texts by name."""
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
        return self._pieces.first().shape

    @property
    def q_names(self) -> tuple[str, ...]:
        """One name per coordinate."""
        return self._pieces.first().q_names

    @property
    def q_joints(self) -> tuple[str, ...]:
        """The joint that each coordinate belongs to."""
        return self._pieces.first().q_joints

    @property
    def v_names(self) -> tuple[str, ...]:
        """One name per degree of freedom."""
        return self._pieces.first().v_names

    @property
    def recorded(self) -> tuple[str, ...]:
        """The names of the arrays that were recorded besides."""
        return self._pieces.first().recorded

    @property
    def is_complete(self) -> bool:
        """Whether the motion has reached its end."""
        return self._pieces.is_complete

    @property
    def pieces(self) -> int:
        """How many pieces there are."""
        return self._pieces.count

    @property
    def time(self) -> NDArray[np.float64]:
        """The times of all rows (T,), s."""
        times = [self._pieces.times(k) for k in range(self.pieces)]
        return np.concatenate(times) if times else np.empty(0)

    @property
    def ended(self) -> NDArray[np.float64]:
        return self._pieces.ended()

    @property
    def events(self) -> tuple[Occurrence, ...]:
        return self._pieces.events()

    @property
    def diverged(self) -> Mapping[tuple[int, ...], Divergence]:
        return self._pieces.diverged()

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
            TrajectoryFileError: there is no such piece, or it cannot be read.
        """
        return replace(Trajectory.load(self._pieces.path(number)), kept=self._kept)

    def read(self, begin: float = 0.0, end: float = np.inf, every: int = 1) -> Trajectory:
        """The rows with times from `begin` to `end` (s), or every so many of them, and the events of that time.

        Only pieces that have some of it are read.

        Raises:
            OptionError: there are no such rows.
            TrajectoryFileError: a piece cannot be read.
        """
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise OptionError(f"read: every must be a whole number of rows from 1 on, not {every!r:.60}")
        slack = 1e-9 * self.dt
        low, high = begin - slack, end + slack
        found, events, before = [], [], 0
        times = [self._pieces.times(k) for k in range(self.pieces)]
        for k, own in enumerate(times):
            until = times[k + 1][0] if k + 1 < len(times) else np.inf  # an event may be after a piece's last row
            rows = np.flatnonzero((own >= low) & (own <= high))
            rows = rows[(before + rows) % every == 0]
            before += len(own)
            if own[0] <= high and until >= low:
                piece = self.piece(k)
                events += [one for one in piece.events if low <= one.time <= high]
                found += [rows_between(piece, rows)] if rows.size else []
        if not found:
            raise OptionError(f"read: {self.path} has no rows from t = {begin:g} s to {end:g} s")
        return replace(joined(found), events=tuple(events))

    def part(
        self,
        rows: Rows = slice(None),
        samples: NDArray[np.intp] | None = None,
        arrays: Callable[[str], bool] = every_array,
    ) -> Trajectory:
        numbers, which, begins = self._places("part", rows)
        found = joined([
            self._pieces.opened(k).part(numbers[which == k] - begins[k], samples, arrays)
            for k in np.unique(which).tolist()
        ])  # fmt: skip
        return replace(found, **outcomes_in(self, samples, found.time), kept=self._kept)

    def some(self, function: str, names: tuple[str, ...], rows: Rows, samples: Samples | None) -> list[NDArray[Any]]:
        numbers, which, begins = self._places(function, rows)
        some = None if samples is None else sample_numbers(function, samples, self.shape)
        if not len(numbers):  # of no rows, the first piece knows the shape
            return self._pieces.first().some(function, names, numbers, some)
        found: list[NDArray[Any]] = []
        for k in np.unique(which).tolist():
            there = which == k
            own = self._pieces.opened(k).some(function, names, numbers[there] - begins[k], some)
            found = found or [np.empty((*x.shape[:-2], len(numbers), x.shape[-1])) for x in own]
            for whole, part in zip(found, own, strict=True):
                whole[..., there, :] = part
        return found

    def _places(self, function: str, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """(the numbers of rows, the piece that each is in, the first row of each piece)."""
        begins = self._pieces.begins()
        numbers = row_numbers(function, rows, int(begins[-1]))
        return numbers, np.searchsorted(begins, numbers, side="right") - 1, begins

    def snapshot(self) -> Snapshot:
        """The moment from which the motion goes on; after an interruption that of the last whole piece's end.

        Raises:
            OptionError: an event ended the motion within a step.
            TrajectoryFileError: it cannot be read.
        """
        number = self.last_snapshot()
        if number is None or (self.is_complete and number < self.pieces):
            raise OptionError(
                f"{self.path} has no snapshot: an event ended the motion within a step, or it has not begun"
            )
        return Snapshot.load(self.path / snapshot_name(number))

    def last_snapshot(self) -> int | None:
        """How many pieces are before the last snapshot; None if there is none."""
        names = [name for name in os.listdir(self.path) if name.startswith("snapshot-") and name.endswith(".npz")]
        numbers = [int(name[9:-4]) for name in names if name[9:-4].isdecimal()]
        return max(numbers, default=None)
