"""The .npz file of a trajectory: an array for each field."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from kinetree.errors import TrajectoryFileError
from kinetree.files import reason
from kinetree.number_files.arrays import ArrayFileError, ArrayReader, Header, is_excessive, opened_archive
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.outcomes import outcomes_content, outcomes_of
from kinetree.sim.snapshot import text_array, text_of
from kinetree.sim.step_counts import StepCounts
from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["FINITE", "PER_MOTION", "RECORDED", "STEP_COUNTS", "read_fields", "write_trajectory"]

_ROWS, _Q, _V = "rows", "coordinates", "degrees of freedom"

_NUMBERS = {
    "time": (_ROWS,), "q": (_ROWS, _Q), "v": (_ROWS, _V), "qdd": (_ROWS, _V), "tau": (_ROWS, _V),
    "kinetic": (_ROWS,), "potential": (_ROWS,), "work": (_ROWS,), "dissipated": (_ROWS,), "dt": (),
}  # fmt: skip
_TEXTS = {"robot": (), "integrator": (), "q_names": (_Q,), "q_joints": (_Q,), "q_units": (_Q,), "v_names": (_V,)}
_COUNTS = {"substeps": ()}
_SHAPES: dict[str, tuple[str, ...]] = {**_NUMBERS, **_TEXTS, **_COUNTS}
_NAMES = [field.name for field in fields(TrajectoryArrays) if field.name in _SHAPES]
PER_MOTION = ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated")
"""Fields that have the axes of a batch before their own."""
FINITE = ("time", "q", "v", "dt")
"""Fields without infinite numbers and NaN."""
RECORDED = "recorded."
"""The prefix of the names of recorded arrays."""
_ENDED, _OUTCOMES = "ended", "outcomes"
"""When each motion ended; units, events and divergences, as text."""
_KEPT = "model"
"""The robot, as text."""
STEP_COUNTS = {"accepted": "i8", "rejected": "i8", "smallest": "f8"}
"""Counts of the steps, if their length followed from their error; and the types of these numbers."""


def write_trajectory(file: BinaryIO, motion: TrajectoryArrays) -> None:
    """Write the fields, and the arrays recorded by name, to a file."""
    values = {name: getattr(motion, name) for name in _NAMES}
    arrays: dict[str, Any] = {
        name: np.asarray(value, dtype=str) if name in _TEXTS else np.asarray(value) for name, value in values.items()
    }
    arrays |= {f"{RECORDED}{name}": np.asarray(x) for name, x in motion.recorded.items()}
    arrays[_ENDED] = motion.ended
    if motion.step_counts is not None:
        arrays |= {name: getattr(motion.step_counts, name) for name in STEP_COUNTS}
    arrays[_OUTCOMES] = text_array(json.dumps(outcomes_content(motion.units, motion.events, motion.diverged)))
    if motion.kept is not None:
        arrays[_KEPT] = text_array(motion.kept.text)
    np.savez_compressed(file, **arrays)
    # A robot at rest shrinks so much that its file would be refused as one that is made to fill the memory.
    if file.seekable() and is_excessive(sum(array.nbytes for array in arrays.values()), file.tell()):
        file.seek(0)
        file.truncate()
        np.savez(file, **arrays)


def read_fields(path: Path) -> dict[str, Any]:
    """The fields in a file, checked. Raises `TrajectoryFileError`."""
    try:
        with opened_archive(path, [*_NAMES, _KEPT, _ENDED, _OUTCOMES, *STEP_COUNTS], RECORDED) as archive:
            missing = [name for name in _NAMES if name not in archive.headers]
            if missing:
                raise ArrayFileError(f"it lacks {', '.join(missing)}")
            _check_headers(archive.headers)
            values = {name: _value(name, archive.read(name)) for name in _NAMES}
            shape = archive.headers["q"].shape[:-2]
            values |= _outcomes(archive, shape, float(values["time"][-1]))
            values |= {"step_counts": _step_counts(archive, shape), "kept": _kept(archive)}
            more = [name for name in archive.headers if name.startswith(RECORDED)]
            values["recorded"] = {name.removeprefix(RECORDED): _value(name, archive.read(name)) for name in more}
    except ArrayFileError as error:
        raise TrajectoryFileError(f"{path} is not a trajectory: {error}") from None
    except (OSError, ValueError) as error:
        raise TrajectoryFileError(f"{path} cannot be read: {reason(error)}") from None
    _check_values(path, values)
    return values


def _check_headers(headers: Mapping[str, Header]) -> None:
    """Types, and shapes that fit together."""
    sizes: dict[str, tuple[int, str]] = {}
    batch = headers["q"].shape[:-2]
    for name, header in headers.items():
        shape, kind = header.shape, header.dtype.kind
        if name in (_KEPT, _ENDED, _OUTCOMES, *STEP_COUNTS):
            continue
        if name.startswith(RECORDED):
            if (kind, header.dtype.itemsize) not in (("f", 8), ("i", 8), ("b", 1)):
                raise ArrayFileError(f"{name!r} is of type {header.dtype}, not float64, int64 or bool")
            if shape[: len(batch) + 1] != headers["q"].shape[:-1]:
                raise ArrayFileError(
                    f"{name!r} has the shape {shape}, which does not go with {headers['q'].shape} of 'q'"
                )
            continue
        if name in _NUMBERS and (kind, header.dtype.itemsize) != ("f", 8):
            raise ArrayFileError(f"{name!r} is of type {header.dtype}, not float64")
        if name in _COUNTS and kind not in "iu":
            raise ArrayFileError(f"{name!r} is of type {header.dtype}, not an integer")
        # Before there were text fields without entries, those were written as numbers.
        if name in _TEXTS and kind != "U" and shape != (0,):
            raise ArrayFileError(f"{name!r} is of type {header.dtype}, not text")
        if name in PER_MOTION and shape[: len(batch)] == batch:
            shape = shape[len(batch) :]
        if len(shape) != len(_SHAPES[name]):
            raise ArrayFileError(f"{name!r} has the shape {header.shape}, but {len(_SHAPES[name])} axes are expected")
        for size, axis in zip(shape, _SHAPES[name], strict=True):
            expected, first = sizes.setdefault(axis, (size, name))
            if size != expected:
                raise ArrayFileError(f"{name!r} has {size} {axis}, but {first!r} has {expected}")
    if sizes[_ROWS][0] == 0:
        raise ArrayFileError("it has no rows")


def _outcomes(archive: ArrayReader, shape: tuple[int, ...], last: float) -> dict[str, Any]:
    """When motions ended, and why; older files have nothing about that, as all went on to the end."""
    outcomes: dict[str, Any] = {"ended": np.full(shape, last), "units": {}, "events": (), "diverged": {}}
    if _ENDED in archive.headers:
        outcomes["ended"] = archive.read(_ENDED)
        if outcomes["ended"].shape != shape or outcomes["ended"].dtype != np.float64:
            raise ArrayFileError(f"{_ENDED!r} has the shape {outcomes['ended'].shape}, and {shape} is expected")
    if _OUTCOMES in archive.headers:
        try:
            outcomes |= outcomes_of(json.loads(text_of(archive.read(_OUTCOMES))))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise ArrayFileError(f"{_OUTCOMES!r} is damaged: {reason(error)}") from None
    return outcomes


def _step_counts(archive: ArrayReader, shape: tuple[int, ...]) -> StepCounts | None:
    """The counts of steps, if the file has them."""
    missing = [name for name in STEP_COUNTS if name not in archive.headers]
    if len(missing) == len(STEP_COUNTS):
        return None
    if missing:
        raise ArrayFileError(f"it lacks {', '.join(missing)}")
    for name, kind in STEP_COUNTS.items():
        header = archive.headers[name]
        if f"{header.dtype.kind}{header.dtype.itemsize}" != kind or header.shape != shape:
            raise ArrayFileError(f"{name!r} has the shape {header.shape} of {header.dtype}, and {shape} is expected")
    return StepCounts(*(archive.read(name) for name in STEP_COUNTS))


def _kept(archive: ArrayReader) -> KeptRobot | None:
    """The robot, if the file has it; nothing of it is read yet."""
    if _KEPT not in archive.headers:
        return None
    try:
        return KeptRobot(None, text_of(archive.read(_KEPT)))
    except ValueError as error:
        raise ArrayFileError(f"{_KEPT!r} is damaged: {reason(error)}") from None


def _value(name: str, array: np.ndarray[Any, Any]) -> Any:
    if name in _TEXTS:
        codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if array.dtype.kind == "U" and (codes > sys.maxunicode).any():
            raise ArrayFileError(f"{name!r} holds numbers that are not characters")
        texts = tuple(str(x) for x in array.ravel())
        return texts if array.ndim else texts[0]
    if array.ndim == 0:
        return array.item()
    own = array.dtype.newbyteorder("=") if name.startswith(RECORDED) else np.float64
    return array.astype(own, order="K", copy=False)


def _check_values(path: Path, values: Mapping[str, Any]) -> None:
    def refuse(what: str) -> NoReturn:
        raise TrajectoryFileError(f"{path} is not a trajectory: {what}")

    for name in FINITE:
        bad = np.argwhere(~np.isfinite(np.atleast_1d(values.get(name, 0.0))))
        if len(bad):
            row = int(bad[0][-len(_SHAPES[name]) or 0])
            refuse(f"{name!r} holds a number that is not finite (row {row})")
    late = np.diff(values["time"]) <= 0.0
    if late.any():
        refuse(f"'time' does not increase from row {int(np.argmax(late))} to the next")
    if values["dt"] <= 0.0:
        refuse(f"'dt' is {values['dt']:g}, not a positive number of seconds")
    if values["substeps"] < 1:
        refuse(f"'substeps' is {values['substeps']}, not a number of parts")
