"""Logs from files: tables with named columns, and messages of ROS."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, MissingPackageError, OptionError, listed, nearest_names
from kinetree.files import file_path, open_regular, reason
from kinetree.identification.logs.arrays import log_of
from kinetree.identification.logs.log import Log
from kinetree.model import Model, check_robot
from kinetree.number_files.arrays import ArrayFileError, opened_archive
from kinetree.number_files.csv_tables import TableError, check_names, first_cells, is_number, table_numbers
from kinetree.number_files.joint_states import read_messages

__all__ = ["read_log"]

Columns = Mapping[str, NDArray[np.float64]]

_TABLES = (".csv", ".parquet", ".npz")
_MESSAGES = (".mcap", ".bag", ".db3")
_STILL = 1e-2
"""rad, m: a joint that moves less is at rest."""


def read_log(path: str | os.PathLike[str], robot: Model, *, topic: str | None = None) -> Log:
    """A log from a file, with nothing added and nothing mended.

    Tables have a column for each number: "time" in s, "q.NAME" for each coordinate, "tau.NAME" for each degree of
    freedom, and optionally "v.NAME" and "qdd.NAME", with NAME from `robot.q_names` and `robot.v_names`: as
    `Trajectory.to_dataframe` writes them. The columns may be in any order.

        .csv      a line of names, then a line per row
        .parquet  columns of numbers (needs pyarrow)
        .npz      an array for each column; or "time", "q", "tau" and optionally "v" and "qdd" with "q_names" and
                  "v_names", as `Trajectory.save` writes them

    Messages are those of type sensor_msgs/JointState, with the names of the robot's joints, their positions,
    velocities and efforts; the time is that of the message's header. ROS orders joints as it likes.

        .mcap     messages of ROS 1, ROS 2, or JSON with the same fields (needs mcap, and rosbags for those of ROS)
        .bag      ROS 1 (needs rosbags)
        .db3, or a folder with metadata.yaml: ROS 2 (needs rosbags)

    Columns and joints that the robot does not have are not read; `log.remarks` lists them.

    Args:
        path: the file.
        robot: the robot that moved; joints that have no columns must be locked first, `robot.lock([…])`.
        topic: the topic of the messages, such as "/joint_states"; by default the one with such messages.

    Returns:
        The log; print it to see how long it is.

    Raises:
        LogError: columns are missing, a number cannot be read, NaN, times that do not increase, no such topic, or
            several to choose from.
        OptionError: the suffix is not one of these.
        MissingPackageError: the package that reads this format is not installed.

    >>> import kinetree as kt, pathlib, tempfile
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = kt.identification.read_log(motion.save(pathlib.Path(folder) / "motion.npz"), robot)
    >>> len(log), log.v is not None
    (501, True)
    """
    model = check_robot(robot)
    file = file_path("read_log", path)
    suffix = file.suffix.lower()
    if suffix in _TABLES:
        if topic is not None:
            raise OptionError(f"read_log: {file} is a table, and only messages have topics")
        return _of_columns(file, model, read_table(file))
    if suffix in _MESSAGES or (file / "metadata.yaml").exists():
        return _of_messages(file, model, topic)
    kind = "folders without metadata.yaml" if file.is_dir() else repr(suffix) if suffix else "files without a suffix"
    raise OptionError(
        f"read_log: {file}: logs are read from {', '.join(_TABLES + _MESSAGES)} and folders of ROS 2, not from {kind}"
    )


def _of_columns(file: Path, model: Model, columns: Columns) -> Log:
    if "time" not in columns:
        near = nearest_names("time", columns)
        raise LogError(f'read_log: {file} has no column "time", the times of the rows in s: {near}')
    used = {"time"}
    quantities: dict[str, NDArray[np.float64] | None] = {}
    for kind, names in (("q", model.q_names), ("tau", model.v_names), ("v", model.v_names), ("qdd", model.v_names)):
        headings = [f"{kind}.{name}" for name in names]
        absent = [name for name in headings if name not in columns]
        if absent and (kind in ("q", "tau") or len(absent) < len(headings)):
            raise LogError(
                f"read_log: {file} has no column {listed(map(repr, absent), most=4)} for {model.name!r}. "
                "Columns must be named like that, and joints that the log does not have must be locked first: "
                f"robot.lock([…]); {nearest_names(absent[0], columns)}"
            )
        quantities[kind] = None if absent else np.stack([columns[name] for name in headings], axis=1)
        used |= set() if absent else set(headings)
    others = [name for name in columns if name not in used]
    remarks: tuple[str, ...] = (f"columns that were not read: {listed(others, most=8)}",) if others else ()
    remarks += _locked(file, model, {name[2:]: columns[name] for name in others if name.startswith("q.")})
    q, tau = quantities["q"], quantities["tau"]
    assert q is not None
    assert tau is not None
    return log_of(
        model, columns["time"], q, tau, v=quantities["v"], qdd=quantities["qdd"], source=str(file), remarks=remarks
    )  # fmt: skip


def _of_messages(file: Path, model: Model, topic: str | None) -> Log:
    if model.q_names != model.v_names:
        raise LogError(
            f"read_log: {model.name!r} has coordinates that are not angles or lengths of single joints, and messages "
            "of JointState have no place for them; make a table of the log"
        )
    messages = read_messages(file, topic)
    names = list(messages.names)
    absent = [name for name in model.v_names if name not in names]
    if absent:
        raise LogError(
            f"read_log: {file}: the messages of {messages.topic} have no joint {listed(map(repr, absent), most=4)} of "
            f"{model.name!r}. Joints that the log does not have must be locked first; {nearest_names(absent[0], names)}"
        )
    places = [names.index(name) for name in model.v_names]
    if messages.effort is None:
        raise LogError(f"read_log: {file}: the messages of {messages.topic} have no efforts, the torques of the joints")
    others = [name for name in names if name not in model.v_names]
    remarks: tuple[str, ...] = (f"joints that were not read: {listed(others, most=8)}",) if others else ()
    remarks += _locked(file, model, {name: messages.position[:, names.index(name)] for name in others})
    v = None if messages.velocity is None else messages.velocity[:, places]
    q, tau = messages.position[:, places], messages.effort[:, places]
    return log_of(model, messages.time, q, tau, v=v, source=str(file), remarks=remarks)


def _locked(file: Path, model: Model, positions: Columns) -> tuple[str, ...]:
    """Remarks on joints that are fixed in the robot and have positions in the log. Raises a LogError if they move."""
    remarks = []
    fixed = {spec.name for spec in model.parts.joints if spec.kind.nv == 0}
    for name, q in positions.items():
        if name not in fixed:
            continue
        if np.ptp(q) > _STILL:
            raise LogError(
                f"read_log: {file}: {name} moves, from {q.min():.4g} to {q.max():.4g}, but it is locked in "
                f"{model.name!r}; leave it free"
            )
        remarks.append(f"{name} is locked, and at {float(np.median(q)):.4g} in the log: is that where it is locked?")
    return tuple(remarks)


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
