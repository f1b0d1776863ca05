"""The file of a trajectory, opened lazily."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError, TrajectoryFileError
from kinetree.files import open_regular, reason
from kinetree.number_files.arrays import ArrayFileError
from kinetree.sim.array_parts import ArrayParts
from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence
from kinetree.sim.motion_on_disk import MotionOnDisk, every_array
from kinetree.sim.outcomes import outcomes_in
from kinetree.sim.picking import Rows, Samples, row_numbers, sample_numbers
from kinetree.sim.trajectory import Trajectory
from kinetree.sim.trajectory_file import (
    FINITE,
    PER_MOTION,
    RECORDED,
    opened_trajectory,
    outcome_fields,
    small_fields,
)

__all__ = ["TrajectoryFile", "stamp_of"]

Array = NDArray[np.float64]
_CHANGED = "it has changed since it was opened"


class TrajectoryFile(MotionOnDisk):
    """A trajectory in a file, of which nothing is read before it is asked for; `kt.load_trajectory` opens it.

    A file of 1,000 motions may not fit into the memory; `configurations` reads those of some moments or motions. In a
    packed file, which `Trajectory.save` writes, all that is before them is unpacked on the way, a little at a time, so
    a first reading takes a while; later ones begin near what is wanted.

    Attributes:
        path: the file.
        robot: the robot's name.
        integrator: its name.
        dt: the length of a step, s.
        shape: the axes of a batch; () for one motion.
        time: (T,), s.
        q_names: one name per coordinate.
        q_joints: the joint that each coordinate belongs to.
        q_units: one unit per coordinate.
        v_names: one name per degree of freedom.
        recorded: the names of the arrays that were recorded besides.

    >>> import kinetree as kt, tempfile, pathlib
    >>> motions = kt.simulate(kt.zoo.load("double_pendulum"), q=[[1.0, 0.5], [0.3, 0.2]], duration=0.1)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = kt.load_trajectory(motions.save(pathlib.Path(place) / "run"))
    ...     second = file.configurations(rows=slice(None, None, 10), samples=[1])
    >>> file.shape, file.time.shape, second.shape
    ((2,), (101,), (1, 11, 2))
    """

    def __init__(self, path: Path) -> None:
        """Raises `TrajectoryFileError`."""
        self.path = path
        with opened_trajectory(path) as archive:
            fields = small_fields(path, archive)
            self._shape = archive.headers["q"].shape[:-2]
            self._headers, self._members = archive.headers, archive.members
        self.robot: str = fields["robot"]
        self.integrator: str = fields["integrator"]
        self.dt: float = fields["dt"]
        self.time: NDArray[np.float64] = fields["time"]
        self.q_names: tuple[str, ...] = fields["q_names"]
        self.q_joints: tuple[str, ...] = fields["q_joints"]
        self.q_units: tuple[str, ...] = fields["q_units"]
        self.v_names: tuple[str, ...] = fields["v_names"]
        self.recorded: tuple[str, ...] = tuple(
            name.removeprefix(RECORDED) for name in self._headers if name.startswith(RECORDED)
        )
        self._fields, self._kept = fields, fields["kept"]
        self._arrays: dict[str, ArrayParts] = {}
        self._read_outcomes: dict[str, Any] | None = None
        self._stamp = stamp_of(path)

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of a batch; () for one motion."""
        return self._shape

    @property
    def ended(self) -> Array:
        found: Array = self._outcomes["ended"]
        return found

    @property
    def events(self) -> tuple[Occurrence, ...]:
        found: tuple[Occurrence, ...] = self._outcomes["events"]
        return found

    @property
    def diverged(self) -> Mapping[tuple[int, ...], Divergence]:
        found: Mapping[tuple[int, ...], Divergence] = self._outcomes["diverged"]
        return found

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was opened."""
        return stamp_of(self.path) == self._stamp

    def __repr__(self) -> str:
        batch = f"{self.shape} motions, " if self.shape else ""
        rows = f"{len(self.time):,} rows{self._early_ends('; ')}"
        return f"<TrajectoryFile {str(self.path)!r} of {self.robot!r}: {batch}{rows}>"

    def read(self, samples: Samples) -> Trajectory:
        """Some motions of a batch, with everything that was recorded of them.

        Args:
            samples: m motions, by their numbers counted through all axes of the batch, or by their indices.

        Returns:
            A batch (m,).

        Raises:
            OptionError: there are no such samples, or the file is that of one motion.
            TrajectoryFileError: they cannot be read, are not finite, or the file has changed since it was opened.
        """
        if not self.shape:
            raise OptionError("read: this is the file of one motion, which kt.Trajectory.load reads")
        return self.part(samples=sample_numbers("read", samples, self.shape))

    def part(
        self,
        rows: Rows = slice(None),
        samples: NDArray[np.intp] | None = None,
        arrays: Callable[[str], bool] = every_array,
    ) -> Trajectory:
        numbers = row_numbers("part", rows, len(self.time))
        axes = (*(self.shape if samples is None else samples.shape), len(numbers))

        def read(name: str) -> NDArray[Any]:
            if not arrays(name):
                return np.broadcast_to(np.nan, (*axes, *self._headers[name].shape[len(self.shape) + 1 :]))
            return self._read(name, samples, numbers)

        time, counts = self.time[numbers], self._outcomes["step_counts"]
        if counts is not None and samples is not None:
            counts = counts[np.unravel_index(samples, self.shape)]
        return Trajectory(
            **self._fields | self._outcomes | outcomes_in(self, samples, time)
            | {name: read(name) for name in PER_MOTION} | {"time": time, "step_counts": counts},
            recorded={name: read(RECORDED + name) for name in self.recorded},
        )  # fmt: skip

    def some(self, function: str, names: tuple[str, ...], rows: Rows, samples: Samples | None) -> list[NDArray[Any]]:
        numbers = row_numbers(function, rows, len(self.time))
        some = None if samples is None else sample_numbers(function, samples, self.shape)
        return [self._read(name, some, numbers) for name in names]

    @property
    def _outcomes(self) -> dict[str, Any]:
        """What became of each motion, which is read once."""
        if self._read_outcomes is None:
            if not self.is_current:
                raise TrajectoryFileError(f"{self.path} cannot be read: {_CHANGED}")
            with opened_trajectory(self.path) as archive:
                self._read_outcomes = outcome_fields(archive, float(self.time[-1]))
        return self._read_outcomes

    def _read(self, name: str, samples: NDArray[np.intp] | None, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Some rows of an array, (m, K, …) of some motions, (*shape, K, …) of all."""
        flat = np.arange(math.prod(self.shape)) if samples is None else samples
        try:
            with self._opened() as file:
                if _stamp(os.fstat(file.fileno())) != self._stamp:
                    raise ArrayFileError(_CHANGED)
                if name not in self._arrays:
                    self._arrays[name] = ArrayParts(
                        name, self._headers[name], len(self.shape), file, self._members[name]
                    )
                found = self._arrays[name].read(file, flat, rows)
        except ArrayFileError as error:
            raise TrajectoryFileError(f"{self.path} cannot be read: {error}") from None
        if name in FINITE and not np.isfinite(found).all():
            raise TrajectoryFileError(f"{self.path} is no trajectory: {name!r} holds a number that is not finite")
        return found if samples is not None else found.reshape(*self.shape, *found.shape[1:])

    def _opened(self) -> BinaryIO:
        try:
            return open_regular(self.path)
        except OSError as error:
            raise TrajectoryFileError(f"{self.path} cannot be read: {reason(error)}") from None


def stamp_of(path: Path) -> tuple[int, ...]:
    """What tells a file from another one that took its place. Raises `TrajectoryFileError` if there is none."""
    try:
        return _stamp(os.stat(path))
    except OSError as error:
        raise TrajectoryFileError(f"{path} cannot be read: {reason(error)}") from None


def _stamp(seen: os.stat_result) -> tuple[int, ...]:
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns
