"""Tables of numbers with named columns: CSV, Parquet, NumPy."""

from __future__ import annotations

import csv
import warnings
from io import TextIOWrapper
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, MissingPackageError
from kinetree.files import open_regular, reason
from kinetree.inputs import repeated

__all__ = ["read_table"]

Array = NDArray[np.float64]


def read_table(path: Path) -> dict[str, Array]:
    """The columns of a table by name, each (T,). Raises a LogError that names the file and the line."""
    try:
        columns = {".csv": _csv, ".parquet": _parquet, ".npz": _npz}[path.suffix.lower()](path)
    except OSError as error:
        raise LogError(f"read_log: {path} cannot be read: {reason(error)}") from None
    lengths = {len(x) for x in columns.values()}
    if lengths <= {0}:
        raise LogError(f"read_log: {path} has no rows")
    return columns


def _csv(path: Path) -> dict[str, Array]:
    try:
        with TextIOWrapper(open_regular(path), newline="", encoding="utf-8-sig") as file:
            header = [cell.strip() for cell in next(csv.reader(file), [])]
            _check_header(path, header)
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
                    table = np.loadtxt(file, delimiter=",", ndmin=2, dtype=np.float64)
            except ValueError:
                raise _first_fault(path, len(header)) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise LogError(f"read_log: {path} is not CSV text: {error}") from None
    if not table.size:
        raise LogError(f"read_log: {path} has no rows")
    if table.shape[1] != len(header):
        raise _first_fault(path, len(header))
    return dict(zip(header, table.T, strict=True))


def _check_header(path: Path, header: list[str]) -> None:
    if not header:
        raise LogError(f"read_log: {path} is empty")
    if all(_is_number(cell) for cell in header):
        raise LogError(
            f'read_log: {path}:1: the first line must hold the names of the columns, such as "time,q.elbow,tau.elbow", '
            "and has numbers"
        )
    if (twice := repeated(header)) is not None:
        raise LogError(f"read_log: {path}:1: there are two columns {twice!r}")


def _first_fault(path: Path, width: int) -> LogError:
    """What is wrong with the first line that is not a row of numbers."""
    with TextIOWrapper(open_regular(path), newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        next(reader)
        for row in reader:
            if not row:
                continue
            if len(row) != width:
                what = f"{len(row)} cells in this line, but {width} names in the first one"
                return LogError(f"read_log: {path}:{reader.line_num}: {what}")
            bad = next((cell for cell in row if not _is_number(cell)), None)
            if bad is not None:
                what = f"{bad.strip()!r} is not a number" if bad.strip() else "an empty cell, where a number is missing"
                return LogError(f"read_log: {path}:{reader.line_num}: {what}")
    return LogError(f"read_log: {path} is not a table of numbers")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parquet(path: Path) -> dict[str, Array]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingPackageError("reading .parquet files needs pyarrow: pip install 'kinetree[identify]'") from None
    try:
        with open_regular(path) as file:
            table = parquet.read_table(file)
    except ArrowException as error:
        raise LogError(f"read_log: {path} is not a Parquet file: {error}") from None
    columns = {}
    for name in table.column_names:
        numbers = table.column(name).to_numpy()
        if numbers.dtype.kind in "fiu":  # texts and moments of a calendar are no numbers of a log
            columns[name] = numbers.astype(np.float64)
    return columns


def _npz(path: Path) -> dict[str, Array]:
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("time", "q", "tau", "v", "qdd") if name in archive}
            labels = {name: archive[name] for name in ("q_names", "v_names") if name in archive}
    except (ValueError, EOFError, KeyError) as error:
        raise LogError(f"read_log: {path} is not a NumPy archive: {error}") from None
    return _labelled(path, arrays, labels)


def _labelled(
    path: Path, arrays: dict[str, NDArray[np.generic]], labels: dict[str, NDArray[np.generic]]
) -> dict[str, Array]:
    columns: dict[str, Array] = {}
    for name, x in arrays.items():
        wanted = 1 if name == "time" else 2
        if x.ndim != wanted or x.dtype.kind not in "fiu":
            raise LogError(f"read_log: {path}: {name} has shape {x.shape}; a log is one motion, with a row per time")
        if name == "time":
            columns[name] = x.astype(np.float64)
            continue
        names = labels.get("q_names" if name == "q" else "v_names")
        if names is None or names.shape != x.shape[1:]:
            raise LogError(f'read_log: {path}: the names of the columns of {name} are missing; "q_names" and "v_names"')
        columns |= {
            f"{name}.{label}": column for label, column in zip(names.tolist(), x.T.astype(np.float64), strict=True)
        }
    return columns
