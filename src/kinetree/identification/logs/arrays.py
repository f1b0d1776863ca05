"""Logs of arrays, checked: missing values are never filled in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import LogError, listed
from kinetree.identification.logs.log import Log
from kinetree.inputs import real_array
from kinetree.model import Model, check_robot

__all__ = ["log_of"]

Array = NDArray[np.float64]


def log_of(
    robot: Model,
    time: ArrayLike,
    q: ArrayLike,
    tau: ArrayLike,
    *,
    v: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    source: str = "",
    remarks: tuple[str, ...] = (),
) -> Log:
    """A log of arrays: a row per moment.

    Args:
        robot: the robot.
        time: (T,), s, increasing.
        q: configurations (T, nq).
        tau: forces of the motors (T, nv).
        v: velocities (T, nv), if they were measured.
        qdd: accelerations (T, nv), likewise.
        source: where it comes from, for messages.
        remarks: further sentences for its report.

    Raises:
        LogError: fewer than two rows, NaN or infinite numbers (with the row and the column), or times that do not
            increase.
        ShapeError, DTypeError: for arrays that do not fit.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=1.0)
    >>> log = kt.identification.log_of(robot, motion.time, motion.q, motion.tau, v=motion.v)
    >>> len(log), log.is_even
    (1001, True)
    """
    model = check_robot(robot)
    where = f" {source}" if source else ""
    times = real_array("time", time, "(T,)").astype(np.float64)
    if times.ndim != 1 or len(times) < 2:
        raise LogError(f"the log{where} has times of shape {times.shape}; (T,) with at least two rows is needed")
    rows = {
        "q": _rows(model, "q", q, len(times), model.nq, where),
        "tau": _rows(model, "tau", tau, len(times), model.nv, where),
        "v": None if v is None else _rows(model, "v", v, len(times), model.nv, where),
        "qdd": None if qdd is None else _rows(model, "qdd", qdd, len(times), model.nv, where),
    }
    names = {"q": model.q_names, "tau": model.v_names, "v": model.v_names, "qdd": model.v_names}
    faults = _not_finite("time", times[:, None], ("",))
    for name, x in rows.items():
        faults += [] if x is None else _not_finite(name, x, names[name])
    if faults:
        raise LogError(
            f"the log{where} has numbers that are not finite: {listed(faults, most=4, separator='; ')}. Nothing is put "
            "in their place here: leave these rows out, or give the pieces between them one by one"
        )
    back = np.flatnonzero(np.diff(times) <= 0.0)
    if len(back):
        k = int(back[0])
        raise LogError(
            f"the log{where} has times that do not increase, first from row {k} ({times[k]:.9g} s) to row {k + 1} "
            f"({times[k + 1]:.9g} s), and {len(back)} times in all; sort the rows, and find out why they were not"
        )
    return Log(model, times, rows["q"], rows["tau"], rows["v"], rows["qdd"], source, tuple(remarks))  # type: ignore[arg-type]


def _rows(model: Model, name: str, x: ArrayLike, count: int, width: int, where: str) -> Array:
    array = real_array(name, x, f"({count}, {width})").astype(np.float64)
    if array.shape != (count, width):
        raise LogError(
            f"the log{where} has {name} of shape {array.shape}, but {count} times and {model.name!r} need "
            f"({count}, {width})"
        )
    return array


def _not_finite(name: str, x: Array, columns: Sequence[str]) -> list[str]:
    """For each column with numbers that are not finite: how many, and the first one's row."""
    places = []
    for column, bad in zip(columns, ~np.isfinite(x.T), strict=True):
        if bad.any():
            where = f"first in row {int(bad.argmax())} (rows in all: {int(bad.sum())})"
            places.append(f"{name}{'.' + column if column else ''}, {where}")
    return places
