"""Tables of numbers with named columns: CSV, Parquet, NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, MissingPackageError
from kinetree.files import open_regular, reason
from kinetree.number_files.arrays import ArrayFileError, opened_archive
from kinetree.number_files.csv_tables import TableError, check_names, first_cells, is_number, table_numbers

__all__ = ["read_table"]

Array = NDArray[np.float64]

_ARRAYS: tuple[str, ...] = ("time", "q", "tau", "v", "qdd")
_LABELS: tuple[str, ...] = ("q_names", "v_names")


def read_table(path: Path) -> dict[str, Array]:
    """The columns of a table by name, each (T,). Raises a LogError that names the file and the line."""
    try:
        columns = {".csv": _csv, ".parquet": _parquet, ".npz": _npz}[path.suffix.lower()](path)
    except OSError as error:
        raise LogError(f"read_log: {path} cannot be read: {reason(error)}") from None
    rows = {name: len(x) for name, x in columns.items()}
    if not any(rows.values()):
        raise LogError(f"read_log: {path} has no rows")
    if odd := [name for name, count in rows.items() if count != next(iter(rows.values()))]:
        first = next(iter(rows))
        raise LogError(f"read_log: {path}: {first} has {rows[first]:,} rows, but {odd[0]} has {rows[odd[0]]:,}")
    return columns


def _csv(path: Path) -> dict[str, Array]:
    try:
        line, names = first_cells(path)
        if all(is_number(cell) for cell in names):
            raise TableError(
                f':{line}: the first line must hold the names of the columns, such as "time,q.elbow,tau.elbow", and '
                "has numbers"
            )
        check_names(line, names)
        table = table_numbers(path, len(names), after=line)
    except TableError as error:
        raise LogError(f"read_log: {path}{error}") from None
    return dict(zip(names, table.T, strict=True))


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
        if numbers.dtype.kind in "fiu":  # texts and moments of a calendar are not numbers of a log
            columns[name] = numbers.astype(np.float64)
    return columns


def _npz(path: Path) -> dict[str, Array]:
    try:
        with opened_archive(path, (), prefix="") as file:
            arrays = {name: file.read(name) for name in _ARRAYS if name in file.headers}
            labels = {name: file.read(name) for name in _LABELS if name in file.headers}
            single = {name: file.read(name) for name in file.headers if name.partition(".")[0] in _ARRAYS[1:]}
    except ArrayFileError as error:
        raise LogError(f"read_log: {path} is not a NumPy archive: {error}") from None
    columns = {name: x.astype(np.float64) for name, x in single.items() if x.ndim == 1 and x.dtype.kind in "fiu"}
    return columns | _labelled(path, arrays, labels)


def _labelled(
    path: Path, arrays: dict[str, NDArray[np.generic]], labels: dict[str, NDArray[np.generic]]
) -> dict[str, Array]:
    columns: dict[str, Array] = {}
    for name, x in arrays.items():
        axes = 1 if name == "time" else 2
        if x.ndim != axes or x.dtype.kind not in "fiu":
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
