"""The pieces of a motion on disk: which there are, their times, parts of their arrays, and how motions ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import TrajectoryFileError
from kinetree.files import reason
from kinetree.number_files.arrays import ArrayFileError, opened_archive
from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence
from kinetree.sim.opened_file import TrajectoryFile, stamp_of

__all__ = ["Pieces", "piece_name", "snapshot_name"]

_Outcomes = tuple[tuple[Occurrence, ...], Mapping[tuple[int, ...], Divergence]]

_FILES = 4
"""Pieces that are kept to read more of them."""


def piece_name(number: int) -> str:
    """The file of a piece."""
    return f"piece-{number:06d}.npz"


def snapshot_name(number: int) -> str:
    """The file of the moment at which a piece begins."""
    return f"snapshot-{number:06d}.npz"


class Pieces:
    """The pieces in a folder, to which a motion that is being computed adds others."""

    def __init__(self, folder: Path, complete: str) -> None:
        """`complete`: the name of the file that is there once nothing is added any more."""
        self._folder, self._complete = folder, folder / complete
        self._head: TrajectoryFile | None = None
        self._files: dict[int, TrajectoryFile] = {}
        self._final_begins: NDArray[np.intp] | None = None
        self._known_outcomes: dict[int, tuple[tuple[int, ...], _Outcomes]] = {}
        self._known_times: dict[int, tuple[tuple[int, ...], NDArray[np.float64]]] = {}

    @property
    def is_complete(self) -> bool:
        """Whether nothing is added any more."""
        return self._complete.exists()

    @property
    def count(self) -> int:
        """How many there are."""
        count = 0
        while self.path(count).exists():
            count += 1
        return count

    def path(self, number: int) -> Path:
        """The file of a piece."""
        return self._folder / piece_name(number)

    def first(self) -> TrajectoryFile:
        """The first piece; shape and names are those of all."""
        if self._head is None:
            if not self.count:
                raise TrajectoryFileError(f"{self._folder} has no piece of the motion yet")
            self._head = TrajectoryFile(self.path(0))
        return self._head

    def opened(self, number: int) -> TrajectoryFile:
        """A piece, of which parts are read. The last few are kept; one that was written again is opened again."""
        kept = self._files.pop(number, None)
        if kept is None or not kept.is_current:
            kept = TrajectoryFile(self.path(number))
        self._files[number] = kept
        if len(self._files) > _FILES:
            del self._files[next(iter(self._files))]
        return kept

    def begins(self) -> NDArray[np.intp]:
        """The first row of each piece, and the number of all rows; looked up once where nothing is added any more."""
        if self._final_begins is not None:
            return self._final_begins
        is_complete = self.is_complete
        begins = np.cumsum([0, *(len(self.times(k)) for k in range(self.count))])
        if is_complete:
            self._final_begins = begins
        return begins

    def times(self, number: int) -> NDArray[np.float64]:
        """The times of a piece, which are kept as long as its file is the same."""
        stamp = stamp_of(self.path(number))
        if self._known_times.get(number, ((), None))[0] != stamp:
            self._known_times[number] = stamp, self._read_times(number)
        return self._known_times[number][1]

    def ended(self) -> NDArray[np.float64]:
        """When each motion ended (…,), s; those that go on, at the last row there is."""
        count = self.count
        return self.opened(count - 1).ended if count else self.first().ended

    def events(self) -> tuple[Occurrence, ...]:
        """What happened in all pieces."""
        return tuple(event for k in range(self.count) for event in self._outcomes(k)[0])

    def diverged(self) -> dict[tuple[int, ...], Divergence]:
        """The motions that could not go on, by index; no pieces are read but those in which a motion ended."""
        count = self.count
        if not count:
            return {}
        starts = np.array([self.times(k)[0] for k in range(count)])
        # One that ends between two pieces is told of in the first of them.
        last = np.searchsorted(starts, np.unique(self.ended()), side="right") - 1
        some = np.unique(np.maximum(np.concatenate((last, last - 1)), 0))  # or before all, if it was resumed
        return {sample: one for k in some.tolist() for sample, one in self._outcomes(k)[1].items()}

    def _outcomes(self, number: int) -> _Outcomes:
        """Events and divergences of a piece, which are kept as long as its file is the same."""
        stamp = stamp_of(self.path(number))
        if self._known_outcomes.get(number, ((), None))[0] != stamp:
            piece = self.opened(number)
            self._known_outcomes[number] = stamp, (piece.events, piece.diverged)
        return self._known_outcomes[number][1]

    def _read_times(self, number: int) -> NDArray[np.float64]:
        path = self.path(number)
        try:
            with opened_archive(path, ["time"]) as archive:
                if "time" not in archive.headers:
                    raise ArrayFileError("it lacks time")
                times: NDArray[np.float64] = archive.read("time")
                return times
        except ArrayFileError as error:
            raise TrajectoryFileError(f"{path} is no trajectory: {error}") from None
        except OSError as error:
            raise TrajectoryFileError(f"{path} cannot be read: {reason(error)}") from None
