"""Torques, or commands of actuators, from a file, one row per step.

    .npy   an array: (n,) constant, or (steps, n), each row held over one step
    .npz   the array "tau" or "ctrl" (rows, n), and optionally "time" (rows,) in seconds: so a trajectory written by
           `kinetree simulate` can be replayed
    .csv   numbers separated by commas, one row per step; with a header line, columns may be in any order: those named
           like the robot's degrees of freedom or actuators, and optionally "time"; what has no column is zero

If there are times, each row is held until the next, and the last to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import OptionError, nearest_names
from kinetree.files import reason
from kinetree.functions.actuators import actuation_of_robot
from kinetree.number_files.arrays import ArrayFileError, ArrayReader, opened_archive, opened_array
from kinetree.number_files.csv_tables import TableError, check_names, first_cells, is_number, table_numbers
from kinetree.records import record
from kinetree.sim.endings import actuator_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.model import Model

__all__ = ["read_commands", "read_torques"]

Shape = tuple[int, ...]
Check = Callable[[Shape | None, Shape], None]
"""Function of (shape of the times, None without times; shape of the rows) that raises if they do not fit."""


@record(frozen=True, slots=True)
class _Columns:
    """The degrees of freedom or actuators that the numbers of a row belong to."""

    robot: str
    names: Sequence[str]
    what: str
    """"torques" or "commands"."""
    one: str
    """The word for one of them: "degree of freedom" or "actuator"."""
    arrays: Sequence[str]
    """The names that the array may have in a file of several; the first is the usual one."""


def read_torques(path: Path, robot: Model, steps: int, dt: float) -> NDArray[np.float64]:
    """The torques of a file for each of `steps` steps of dt seconds, (steps, nv), or constant, (nv,).

    Raises `OptionError`, which names the file, if it has no torques for this robot.
    """
    return _read(path, _Columns(robot.name, robot.v_names, "torques", "degree of freedom", ("tau",)), steps, dt)


def read_commands(path: Path, robot: Model, steps: int, dt: float) -> NDArray[np.float64]:
    """The commands of a file for the robot's actuators, likewise (steps, nu) or (nu,)."""
    actuation_of_robot(robot)  # raises if there are none
    names = actuator_names(robot)
    return _read(path, _Columns(robot.name, names, "commands", "actuator", ("ctrl", "recorded.ctrl")), steps, dt)


def _read(path: Path, columns: _Columns, steps: int, dt: float) -> NDArray[np.float64]:
    """The rows of a file for each of `steps` steps of dt seconds, (steps, n), or constant, (n,)."""
    readers = {".csv": _read_csv, ".npy": _read_npy, ".npz": _read_npz}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise OptionError(f"{path}: {columns.what} are read from .csv, .npy and .npz files")
    time, rows = reader(path, columns, partial(_check_shapes, path, columns, steps, dt))
    if not np.isfinite(rows).all():
        row = int(np.argwhere(~np.isfinite(rows))[0][0]) + 1
        raise OptionError(f"{path}: a {columns.what.removesuffix('s')} is not finite (row {row})")
    return rows if time is None else _hold(path, time, rows, np.arange(steps, dtype=np.float64) * dt, dt)


def _check_shapes(path: Path, columns: _Columns, steps: int, dt: float, time: Shape | None, rows: Shape) -> None:
    """Raise if arrays of these shapes do not fit the robot and the motion; `time` is None without times."""
    name, n = columns.arrays[0], len(columns.names)
    if len(rows) not in (1, 2) or rows[-1] != n:
        raise OptionError(f"{path}: the {columns.what} have shape {rows}, but {columns.robot!r} needs rows of {n}")
    if time is not None and (len(rows) != 2 or time != rows[:1] or time == (0,)):
        raise OptionError(f"{path}: time has shape {time} and {name} {rows}; one time per row is expected")
    if time is None and len(rows) == 2 and rows[0] != steps:
        raise OptionError(
            f"{path}: {rows[0]} rows of {columns.what} for {steps} steps; give one row per step, times with the rows, "
            f"or another duration or dt ({rows[0] * dt:g} s would fit)"
        )


def _hold(
    path: Path, time: NDArray[np.float64], rows: NDArray[np.float64], moments: NDArray[np.float64], dt: float
) -> NDArray[np.float64]:
    if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise OptionError(f"{path}: the times must be finite and increase from row to row")
    if time[0] > 0.0:
        raise OptionError(
            f"{path}: the first row is at {time[0]:g} s, but the motion begins at 0 s; add a row for its beginning"
        )
    # A row at k dt belongs to step k although both are rounded.
    return rows[np.searchsorted(time, moments + 1e-6 * dt, side="right") - 1]


def _read_npy(path: Path, _columns: _Columns, check: Check) -> tuple[None, NDArray[np.float64]]:
    with _refused(path), opened_array(path, "array") as file:
        _check_numbers(path, file)
        check(None, file.headers["array"].shape)
        return None, file.read("array").astype(np.float64)


def _read_npz(path: Path, columns: _Columns, check: Check) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    with _refused(path), opened_archive(path, ("time", *columns.arrays)) as file:
        name = next((name for name in columns.arrays if name in file.headers), None)
        if name is None:
            raise OptionError(f'{path}: there is no array "{columns.arrays[0]}" in it')
        _check_numbers(path, file)
        timed = "time" in file.headers
        check(file.headers["time"].shape if timed else None, file.headers[name].shape)
        time = file.read("time").astype(np.float64) if timed else None
        return time, file.read(name).astype(np.float64)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    try:
        yield
    except ArrayFileError as error:
        raise OptionError(f"{path}: this is not a NumPy file: {error}") from None
    except TableError as error:
        raise OptionError(f"{path}{error}") from None
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {reason(error)}") from None


def _check_numbers(path: Path, file: ArrayReader) -> None:
    for name, header in file.headers.items():
        if header.dtype.kind not in "fiu":
            raise OptionError(f"{path}: {name} does not hold real numbers")


def _read_csv(path: Path, columns: _Columns, check: Check) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    with _refused(path):
        line, names = first_cells(path)
        if any(is_number(cell) for cell in names):
            rows = table_numbers(path, len(columns.names), finite=True)
            check(None, rows.shape)
            return None, rows
        check_names(line, names)
        place = {name: k for k, name in enumerate(columns.names)}
        if unknown := [name for name in names if name != "time" and name not in place]:
            raise OptionError(
                f"{path}:{line}: {columns.robot!r} has no {columns.one} {unknown[0]!r}: "
                f"{nearest_names(unknown[0], ['time', *place])}"
            )
        table = table_numbers(path, len(names), after=line, finite=True)
    time, rows = None, np.zeros((len(table), len(columns.names)))
    for name, column in zip(names, table.T, strict=True):
        if name == "time":
            time = column
        else:
            rows[:, place[name]] = column
    check(None if time is None else time.shape, rows.shape)
    return time, rows
