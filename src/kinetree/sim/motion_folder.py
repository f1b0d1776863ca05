"""The folder of a motion that is written while it is computed, in pieces: the format, written and read.

motion.json            the motion's description, and the names of its coordinates; robot.json (store/folder.py)
rows/                  a row per moment, in Zarr's format, one array per field, (T, …) each
pieces/NUMBER.json     the number of rows at a piece's end, and the events in it; it is written after its rows
snapshot-NUMBER.npz    the moment at the end of so many pieces, from which the motion goes on; written after those

Rows beyond the end of the last piece are not part of the motion. Pieces after the last snapshot are computed again, to
the same bits.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import TrajectoryFileError
from kinetree.files import read_json, reason, write_file
from kinetree.records import record
from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence
from kinetree.sim.outcomes import outcomes_content, outcomes_of
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.step_counts import StepCounts
from kinetree.sim.trajectory import Trajectory
from kinetree.sim.trajectory_file import FINITE, PER_MOTION, RECORDED, STEP_COUNTS
from kinetree.store.arrays import StoredArray, write_group
from kinetree.store.folder import ResultFolder, is_count

__all__ = ["MotionFolder", "PieceEnd"]

_NAMES = ("q_names", "q_joints", "q_units", "v_names")
_ROWS, _PIECES = "rows", "pieces"
_LONGEST_PIECE = 2**27
"""Bytes of the description of a piece; an event has 200 or so."""


@record(frozen=True, slots=True, eq=False)
class PieceEnd:
    """The data at the end of a piece."""

    rows: int
    """How many there are by then, from the beginning of the motion."""
    is_last: bool
    substeps: int
    """The most parts of a step until then."""
    ended: NDArray[np.float64]
    step_counts: StepCounts | None
    recorded: tuple[str, ...]
    units: Mapping[str, str]
    events: tuple[Occurrence, ...]
    """Events of this piece, as are the motions that diverged."""
    diverged: Mapping[tuple[int, ...], Divergence]


class MotionFolder(ResultFolder):
    """Where a motion is kept."""

    kind: ClassVar[str] = "motion"
    function: ClassVar[str] = "simulate"
    format: ClassVar[int] = 2
    needed: ClassVar[tuple[str, ...]] = ("robot", "dt", "steps", "integrator")

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._arrays: dict[str, StoredArray] = {}
        self._ends: dict[int, tuple[tuple[int, ...], PieceEnd]] = {}
        self._final: int | None = None
        self._rows = 0

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """The contents of `about`: "settings", the "shape" of the batch, the number of "rows" if nothing ends it early,
        in chunks of how many, and the names."""
        return self.about()

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of a batch; () for one motion."""
        return tuple(self.description["shape"])

    def check(self, about: Mapping[str, Any]) -> None:
        dt, steps = float(about["settings"]["dt"]), int(about["settings"]["steps"])
        if not 0.0 < dt < math.inf or steps < 0:
            raise ValueError(f"dt is {dt:g} s and there are {steps} steps")
        for name in _NAMES:
            if not _are_texts(about.get(name)):
                raise ValueError(f"{name} must be a list of texts, not {about.get(name)!r:.60}")
        for name in ("rows", "chunk"):
            if not is_count(about.get(name)):
                raise ValueError(f"{name} must be a whole number from 1 on, not {about.get(name)!r:.60}")
        if not isinstance(shape := about.get("shape"), list) or not all(is_count(n, 0) for n in shape):
            raise ValueError(f"shape must be the lengths of axes, not {shape!r:.60}")

    def count(self) -> int:
        """How many pieces there are; a motion that is being computed gets others."""
        if self._final is not None:
            return self._final
        place = self.path / _PIECES
        names = os.listdir(place) if place.is_dir() else []
        count = sum(name.endswith(".json") and name[:-5].isdecimal() for name in names)
        if count and self.end(count - 1).is_last:
            self._final = count
        return count

    def end(self, number: int) -> PieceEnd:
        """The end of a piece, which is kept as long as its file is the same. Raises `TrajectoryFileError`."""
        place = self.path / _piece_name(number)
        try:
            state = os.stat(place)
            stamp = state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
            if self._ends.get(number, ((), None))[0] != stamp:
                self._ends[number] = stamp, self._end_of(read_json(place, _LONGEST_PIECE))
        except OSError as error:
            raise TrajectoryFileError(f"{place} cannot be read: {reason(error)}") from None
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise TrajectoryFileError(f"{place} is not a piece of this motion: {reason(error)}") from None
        return self._ends[number][1]

    def _end_of(self, content: Any) -> PieceEnd:
        rows, counts, recorded = content["rows"], content["step_counts"], content["recorded"]
        if not is_count(rows) or rows > self.description["rows"]:
            raise ValueError(f"it has {rows!r:.60} rows of {self.description['rows']}")
        if not is_count(content["substeps"]) or not _are_texts(recorded):
            raise ValueError("it is not a description of a piece")

        def per_motion(x: Any, dtype: str) -> NDArray[Any]:
            return np.array(x, dtype).reshape(self.shape)

        return PieceEnd(
            rows, content["is_last"] is True, content["substeps"], per_motion(content["ended"], "f8"),
            counts and StepCounts(*(per_motion(counts[name], kind) for name, kind in STEP_COUNTS.items())),
            tuple(recorded), **outcomes_of(content),
        )  # fmt: skip

    def rows(self) -> int:
        """How many rows there are. Raises `TrajectoryFileError` if fewer are on disk, which may be somebody else's."""
        count = self.count()
        rows = self.end(count - 1).rows if count else 0
        if rows > self._rows and not self._array("time").may_have(rows):
            raise TrajectoryFileError(f"{self.path} has fewer rows than the {rows:,} of its pieces")
        self._rows = rows
        return rows

    def take(self, name: str, rows: NDArray[np.intp], some: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """Some rows of a field (*shape, K, …), or (m, K, …) of `some` motions of a batch. Raises `TrajectoryFileError`.

        "time" is (K,).
        """
        axes = 0 if name == "time" else len(self.shape)
        rows_there = self._array(name).take(rows, axes, some)
        if name in FINITE and not np.isfinite(rows_there).all():
            raise TrajectoryFileError(f"{self.path} is not a trajectory: {name!r} holds a number that is not finite")
        return np.ascontiguousarray(np.moveaxis(rows_there, 0, axes if some is None else 1))

    def at_one_moment(self, name: str) -> tuple[int, ...]:
        """The shape of a field at one moment of one motion."""
        return self._array(name).shape[1 + len(self.shape) :]

    def _array(self, name: str) -> StoredArray:
        if name not in self._arrays:
            array, batch = self.array(_ROWS, name), () if name == "time" else self.shape
            sizes = dict.fromkeys(("v", "qdd", "tau"), len(self.description["v_names"]))
            sizes["q"] = len(self.description["q_names"])
            own = array.shape[1 + len(batch) :]
            fits = name.startswith(RECORDED) or (
                own == ((sizes[name],) if name in sizes else ()) and array.dtype == float
            )
            if array.shape[1 : 1 + len(batch)] != batch or not fits:
                raise TrajectoryFileError(
                    f"{array.path} holds an array {array.shape} of {array.dtype}, which is not that of this motion"
                )
            self._arrays[name] = array
        return self._arrays[name]

    def write(self, number: int, motion: Trajectory, *, is_last: bool) -> None:
        """Write a piece, and the snapshot at its end if it has one. Raises `SaveError`."""
        before = self.end(number - 1) if number else None
        begin, substeps = (before.rows, before.substeps) if before else (0, 1)
        axes, about, counts = len(motion.shape), self.description, motion.step_counts
        fields = {"time": motion.time} | {name: np.moveaxis(getattr(motion, name), axes, 0) for name in PER_MOTION}
        fields |= {f"{RECORDED}{name}": np.moveaxis(x, axes, 0) for name, x in motion.recorded.items()}
        for name, x in fields.items():
            if name not in self._arrays:
                own = [f"motion_{k}" for k in range(axes)] if name != "time" else []
                own += [f"{name}_{k}" for k in range(x.ndim - 1 - len(own))]
                unit = "s" if name == "time" else motion.units.get(name.removeprefix(RECORDED), "")
                shape, place = (about["rows"], *x.shape[1:]), self.place(_ROWS, name)
                self._arrays[name] = StoredArray.made(
                    place, shape, about["chunk"], x.dtype, ["time", *own], unit, root=self.path
                )
            self._arrays[name].append(begin, x)
        if not number:
            write_group(self.path / _ROWS, {"robot": motion.robot})
        content = {
            "rows": begin + len(motion.time),
            "is_last": is_last,
            "substeps": max(substeps, motion.substeps),
            "ended": motion.ended.tolist(),
            "step_counts": counts and {name: getattr(counts, name).tolist() for name in STEP_COUNTS},
            "recorded": [*motion.recorded],
        }
        content |= outcomes_content(motion.units, motion.events, motion.diverged)
        self.write_json(_piece_name(number), content)
        if motion.end is not None:
            write_file(self._snapshot(number + 1), motion.end.write, within=self.path)
            with suppress(OSError):
                self._snapshot(number).unlink()

    def forget(self, number: int) -> None:
        """Remove the pieces from a number on, from the last one."""
        for k in reversed(range(number, self.count())):
            (self.path / _piece_name(k)).unlink()

    def last_snapshot(self) -> tuple[int, Snapshot] | None:
        """The number of pieces before the last snapshot, and that snapshot; None without a snapshot."""
        names = [name for name in os.listdir(self.path) if name.startswith("snapshot-") and name.endswith(".npz")]
        number = max((int(name[9:-4]) for name in names if name[9:-4].isdecimal()), default=None)
        return None if number is None else (number, Snapshot.load(self._snapshot(number)))

    def _snapshot(self, number: int) -> Path:
        return self.path / f"snapshot-{number:06d}.npz"


def _piece_name(number: int) -> str:
    return f"{_PIECES}/{number:06d}.json"


def _are_texts(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(x, str) for x in names)
