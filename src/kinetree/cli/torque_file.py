"""Torques from a file, one row per step.

    .npy   an array: (nv,) constant, or (steps, nv), each row held over one step
    .npz   the array "tau" (rows, nv), and optionally "time" (rows,) in seconds: so a trajectory written by
           `kinetree simulate` can be replayed
    .csv   numbers separated by commas, one row per step; with a header line, columns may be in any order: those named
           like the robot's degrees of freedom, and optionally "time"; joints without a column get no torque

If there are times, each row is held until the next, and the last to the end.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.cli.values import parse_number
from kinetree.errors import OptionError, nearest_names
from kinetree.files import open_regular, reason
from kinetree.inputs import repeated
from kinetree.sim.array_files import ArrayFileError, ArrayReader, opened_archive, opened_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.model import Model

__all__ = ["read_torques"]

Shape = tuple[int, ...]
Check = Callable[[Shape | None, Shape], None]
"""Function of (shape of the times, None if there are none; shape of the torques) that raises if they do not fit."""


def read_torques(path: Path, robot: Model, steps: int, dt: float) -> NDArray[np.float64]:
    """The torques of a file for each of `steps` steps of dt seconds, (steps, nv), or constant, (nv,).

    Raises `OptionError`, which names the file, if it has no torques for this robot.
    """
    readers = {".csv": _read_csv, ".npy": _read_npy, ".npz": _read_npz}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise OptionError(f"{path}: torques are read from .csv, .npy and .npz files")
    time, tau = reader(path, robot, partial(_check_shapes, path, robot, steps, dt))
    if not np.isfinite(tau).all():
        raise OptionError(f"{path}: a torque is not finite (row {int(np.argwhere(~np.isfinite(tau))[0][0]) + 1})")
    return tau if time is None else _hold(path, time, tau, np.arange(steps, dtype=np.float64) * dt, dt)


def _check_shapes(path: Path, robot: Model, steps: int, dt: float, time: Shape | None, tau: Shape) -> None:
    """Raise if arrays of these shapes are not torques for this robot and motion; `time` is None without times."""
    if len(tau) not in (1, 2) or tau[-1] != robot.nv:
        raise OptionError(f"{path}: the torques have shape {tau}, but {robot.name!r} needs rows of {robot.nv}")
    if time is not None and (len(tau) != 2 or time != tau[:1] or time == (0,)):
        raise OptionError(f"{path}: time has shape {time} and tau {tau}; one time per row is expected")
    if time is None and len(tau) == 2 and tau[0] != steps:
        raise OptionError(
            f"{path}: {tau[0]} rows of torques for {steps} steps; give one row per step, times with the rows, or "
            f"another duration or dt ({tau[0] * dt:g} s would fit)"
        )


def _hold(
    path: Path, time: NDArray[np.float64], tau: NDArray[np.float64], moments: NDArray[np.float64], dt: float
) -> NDArray[np.float64]:
    if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise OptionError(f"{path}: the times must be finite and increase from row to row")
    if time[0] > 0.0:
        raise OptionError(
            f"{path}: the first row is at {time[0]:g} s, but the motion begins at 0 s; add a row for its beginning"
        )
    # A row at k dt belongs to step k although both are rounded.
    return tau[np.searchsorted(time, moments + 1e-6 * dt, side="right") - 1]


def _read_npy(path: Path, _robot: Model, check: Check) -> tuple[None, NDArray[np.float64]]:
    with _refused(path), opened_array(path, "array") as file:
        _check_numbers(path, file)
        check(None, file.headers["array"].shape)
        return None, file.read("array").astype(np.float64)


def _read_npz(path: Path, _robot: Model, check: Check) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    with _refused(path), opened_archive(path, ("time", "tau")) as file:
        if "tau" not in file.headers:
            raise OptionError(f'{path}: there is no array "tau" in it')
        _check_numbers(path, file)
        timed = "time" in file.headers
        check(file.headers["time"].shape if timed else None, file.headers["tau"].shape)
        time = file.read("time").astype(np.float64) if timed else None
        return time, file.read("tau").astype(np.float64)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    try:
        yield
    except ArrayFileError as error:
        raise OptionError(f"{path}: this is no NumPy file: {error}") from None
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {reason(error)}") from None


def _check_numbers(path: Path, file: ArrayReader) -> None:
    for name, header in file.headers.items():
        if header.dtype.kind not in "fiu":
            raise OptionError(f"{path}: {name} does not hold real numbers")


def _read_csv(path: Path, robot: Model, check: Check) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    time, tau = _columns(path, robot, _rows(path))
    check(None if time is None else time.shape, tau.shape)
    return time, tau


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """(line number, cells) of each non-empty row."""
    try:
        with _refused(path), TextIOWrapper(open_regular(path), newline="", encoding="utf-8-sig") as file:
            rows = [
                (number, row) for number, row in enumerate(csv.reader(file), 1) if any(cell.strip() for cell in row)
            ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"{path}: this is no CSV text: {error}") from None
    if not rows:
        raise OptionError(f"{path}: the file is empty")
    return rows


def _columns(
    path: Path, robot: Model, rows: list[tuple[int, list[str]]]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    first = rows[0][1]
    if any(parse_number(cell) is not None for cell in first):
        return None, _table(path, rows, robot.nv)
    header = [cell.strip() for cell in first]
    table = _table(path, rows[1:], len(header))
    tau = np.zeros((len(table), robot.nv))
    time, place = None, {name: k for k, name in enumerate(robot.v_names)}
    if (twice := repeated(header)) is not None:
        raise OptionError(f"{path}:1: the column {twice!r} stands there twice")
    for k, name in enumerate(header):
        if name == "time":
            time = table[:, k]
        elif name in place:
            tau[:, place[name]] = table[:, k]
        else:
            raise OptionError(
                f"{path}:1: {robot.name!r} has no degree of freedom {name!r}: {nearest_names(name, ['time', *place])}"
            )
    return time, tau


def _table(path: Path, rows: list[tuple[int, list[str]]], columns: int) -> NDArray[np.float64]:
    table = np.empty((len(rows), columns))
    for k, (number, row) in enumerate(rows):
        if len(row) != columns:
            raise OptionError(f"{path}:{number}: {len(row)} numbers in this line, but {columns} are expected")
        for j, cell in enumerate(row):
            value = parse_number(cell)
            if value is None:
                raise OptionError(f"{path}:{number}: {cell.strip()!r} is not a finite number")
            table[k, j] = value
    return table
