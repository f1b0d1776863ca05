"""The file of a trajectory, opened lazily."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import TrajectoryFileError
from kinetree.files import open_regular, reason
from kinetree.model import Model
from kinetree.sim.array_files import ArrayFileError, Header, damage_reported
from kinetree.sim.member_parts import MemberParts
from kinetree.sim.picking import Rows, Samples, row_numbers, sample_numbers
from kinetree.sim.shown import Shown
from kinetree.sim.trajectory_file import opened_trajectory, small_fields

__all__ = ["TrajectoryFile", "stamp_of"]

_GAP = 2**16
"""Bytes between two rows up to which they are read together."""
_SPAN = 2**22
"""Bytes that are read together at most, unless one row has more."""


class TrajectoryFile(Shown):
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
            self._header: Header = archive.headers["q"]
            info = archive.members["q"]
        self.robot: str = fields["robot"]
        self.integrator: str = fields["integrator"]
        self.dt: float = fields["dt"]
        self.time: NDArray[np.float64] = fields["time"]
        self.q_names: tuple[str, ...] = fields["q_names"]
        self.q_joints: tuple[str, ...] = fields["q_joints"]
        self.q_units: tuple[str, ...] = fields["q_units"]
        self.v_names: tuple[str, ...] = fields["v_names"]
        self._kept = fields["kept"]
        with self._opened() as file, damage_reported("'q'"):
            self._parts = MemberParts(file, info)
            self._stamp = _stamp(os.fstat(file.fileno()))

    @property
    def model(self) -> Model | None:
        """The robot itself, as `Trajectory.model` has it.

        Raises:
            ModelError, TrajectoryFileError: as for `Trajectory.model`.
        """
        return None if self._kept is None else self._kept.model

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of a batch; () for one motion."""
        return self._header.shape[:-2]

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was opened."""
        return stamp_of(self.path) == self._stamp

    def __repr__(self) -> str:
        batch = f"{self.shape} motions, " if self.shape else ""
        return f"<TrajectoryFile {str(self.path)!r} of {self.robot!r}: {batch}{len(self.time):,} rows>"

    def configurations(self, rows: Rows = slice(None), samples: Samples | None = None) -> NDArray[np.float64]:
        """Configurations at some moments, as `Trajectory.configurations` gives them.

        Args:
            rows: K rows, as a slice or as numbers; by default all.
            samples: m motions of the batch, by their numbers counted through all its axes, or by their indices; by
                default all.

        Returns:
            q (m, K, nq), or (*shape, K, nq) if no samples are named.

        Raises:
            OptionError: there are no such rows or samples.
            TrajectoryFileError: they cannot be read, are not finite, or the file has changed since it was opened.
        """
        numbers = row_numbers("configurations", rows, len(self.time))
        if samples is None:
            found = self._read(np.arange(int(np.prod(self.shape))), numbers)
            return found.reshape(*self.shape, len(numbers), self._header.shape[-1])
        return self._read(sample_numbers("configurations", samples, self.shape), numbers)

    def _read(self, samples: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """(m, K, nq). The file is read from its beginning to its end, whatever the order of the samples and rows."""
        width = self._header.shape[-1]
        found = np.empty((len(samples), len(rows), width))
        own, back = np.unique(rows, return_inverse=True)
        try:
            with self._opened() as file:
                if _stamp(os.fstat(file.fileno())) != self._stamp:
                    raise ArrayFileError("it has changed since it was opened")
                for k in np.argsort(samples, kind="stable"):
                    found[k] = self._rows(file, int(samples[k]), own)[back]
        except ArrayFileError as error:
            raise TrajectoryFileError(f"{self.path} cannot be read: {error}") from None
        if not np.isfinite(found).all():
            raise TrajectoryFileError(f"{self.path} is no trajectory: 'q' holds a number that is not finite")
        return found

    def _rows(self, file: BinaryIO, sample: int, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Some rows of a motion, which increase, (K, nq)."""
        count, width = self._header.shape[-2:]
        if self._header.fortran_order:
            raise ArrayFileError("'q' is in it column by column; kt.Trajectory.load reads it as a whole")
        size = width * self._header.dtype.itemsize
        found = np.empty((len(rows), width), self._header.dtype)
        if not found.size:
            return found
        for begin, end in _together(rows * size, size):
            first, last = int(rows[begin]), int(rows[end - 1])
            place = self._header.size + (sample * count + first) * size
            with damage_reported("'q'"):
                piece = self._parts.read(file, place, place + (last + 1 - first) * size)
            found[begin:end] = piece.view(self._header.dtype).reshape(-1, max(width, 1))[
                rows[begin:end] - first, :width
            ]
        return found

    def _opened(self) -> BinaryIO:
        try:
            return open_regular(self.path)
        except OSError as error:
            raise TrajectoryFileError(f"{self.path} cannot be read: {reason(error)}") from None


def _together(places: NDArray[np.intp], size: int) -> list[tuple[int, int]]:
    """Which rows (begin, end) are read together, of rows of `size` bytes at increasing places."""
    found: list[tuple[int, int]] = []
    begin = 0
    for k in range(1, len(places) + 1):
        if k == len(places) or places[k] - places[k - 1] > _GAP + size or places[k] + size - places[begin] > _SPAN:
            found.append((begin, k))
            begin = k
    return found


def stamp_of(path: Path) -> tuple[int, ...]:
    """What tells a file from another one that took its place. Raises `TrajectoryFileError` if there is none."""
    try:
        return _stamp(os.stat(path))
    except OSError as error:
        raise TrajectoryFileError(f"{path} cannot be read: {reason(error)}") from None


def _stamp(seen: os.stat_result) -> tuple[int, ...]:
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns
