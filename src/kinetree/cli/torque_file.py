"""Torques from a file, as a row a step.

    .npy   an array: (nv,) constant, or (steps, nv), a row held over each step
    .npz   the array "tau" (rows, nv), with "time" (rows,) in seconds if it is there: so a trajectory written by
           `kinetree simulate` can be played again
    .csv   numbers separated by commas, a row a step; with a header line, columns may be in any order: those named as
           the robot's degrees of freedom, and "time" if there is one; joints without a column get no torque

With times each row is held until the next; the last is held to the end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.cli.values import parse_number
from kinetree.errors import OptionError, nearest_names
from kinetree.inputs import repeated
from kinetree.sim.trajectory import UNREADABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.model import Model

__all__ = ["read_torques"]


def read_torques(path: Path, robot: Model, steps: int, dt: float) -> NDArray[np.float64]:
    """The torques of a file for each of `steps` steps of dt seconds, (steps, nv), or constant, (nv,).

    Raises `OptionError`, which names the file, if it holds no torques for this robot.
    """
    readers = {".csv": _read_csv, ".npy": _read_npy, ".npz": _read_npz}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise OptionError(f"{path}: torques are read from .csv, .npy and .npz files")
    time, tau = reader(path, robot)
    if tau.ndim not in (1, 2) or tau.shape[-1] != robot.nv:
        raise OptionError(f"{path}: the torques have shape {tau.shape}, but {robot.name!r} needs rows of {robot.nv}")
    if not np.isfinite(tau).all():
        raise OptionError(f"{path}: a torque is not finite (row {int(np.argwhere(~np.isfinite(tau))[0][0]) + 1})")
    if time is None:
        if tau.ndim == 2 and len(tau) != steps:
            raise OptionError(
                f"{path}: {len(tau)} rows of torques for {steps} steps; give a row a step, times with the rows, or "
                f"another duration or dt ({len(tau) * dt:g} s would fit)"
            )
        return tau
    return _hold(path, time, tau, np.arange(steps, dtype=np.float64) * dt, dt)


def _hold(
    path: Path, time: NDArray[np.float64], tau: NDArray[np.float64], moments: NDArray[np.float64], dt: float
) -> NDArray[np.float64]:
    if time.shape != tau.shape[:1] or tau.ndim != 2 or len(time) == 0:
        raise OptionError(f"{path}: time has shape {time.shape} and tau {tau.shape}; a time a row is expected")
    if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise OptionError(f"{path}: the times must be finite and increase from row to row")
    if time[0] > 0.0:
        raise OptionError(
            f"{path}: the first row is at {time[0]:g} s, but the motion begins at 0 s; add a row for its beginning"
        )
    # A row at k dt belongs to step k though both are rounded.
    return tau[np.searchsorted(time, moments + 1e-6 * dt, side="right") - 1]


def _read_npy(path: Path, _robot: Model) -> tuple[None, NDArray[np.float64]]:
    with _loaded(path) as array:
        return None, _array(path, "the array", array)


def _read_npz(path: Path, _robot: Model) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    with _loaded(path) as archive:
        if not isinstance(archive, np.lib.npyio.NpzFile) or "tau" not in archive:
            raise OptionError(f'{path}: there is no array "tau" in it')
        time = _array(path, "time", archive["time"]) if "time" in archive else None
        return time, _array(path, "tau", archive["tau"])


@contextmanager
def _loaded(path: Path) -> Iterator[Any]:
    try:
        # Opened here, because np.load leaves a file that it refuses open.
        with path.open("rb") as file:
            yield np.load(file, allow_pickle=False)
    except UNREADABLE as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"{path}: this is no NumPy file: {error}") from None


def _array(path: Path, what: str, array: object) -> NDArray[np.float64]:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise OptionError(f"{path}: {what} does not hold real numbers")
    return array.astype(np.float64)


def _read_csv(path: Path, robot: Model) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [
                (number, row) for number, row in enumerate(csv.reader(file), 1) if any(cell.strip() for cell in row)
            ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise OptionError(f"{path}: this is no CSV text: {error}") from None
    if not rows:
        raise OptionError(f"{path}: the file is empty")
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
