"""Torques that a robot would need for a logged motion, beside those that were measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.dynamics import rnea
from kinetree.identification.logs.log import Log
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Validation", "torques_of", "validated"]

Array = NDArray[np.float64]

_ROWS = 65536


@record(frozen=True, slots=True, eq=False)
class Validation:
    """Root mean squares over all rows of a motion, per degree of freedom (nv,), N·m or N."""

    rows: int
    measured: Array
    """The torques."""
    before: Array
    """Their differences from those of the robot as it was."""
    after: Array
    """Their differences from those of the robot with its new parameters."""


def torques_of(robot: Model, log: Log, *, drives: bool, offsets: Array | None = None) -> Array:
    """The torques (T, nv) of a log's motion, with friction if `drives`."""
    assert log.v is not None
    assert log.qdd is not None
    passive = ["damping", "friction"] if drives else None
    tau = rnea(robot, log.q, log.v, log.qdd, passive=passive) if passive else rnea(robot, log.q, log.v, log.qdd)
    return tau if offsets is None else tau + offsets


def validated(old: Model, new: Model, logs: Sequence[Log], *, drives: bool, offsets: Array | None = None) -> Validation:
    """How far both robots' torques are from those measured."""
    sums, rows = np.zeros((3, old.nv)), 0
    for part in _parts(logs):
        errors = (
            part.tau,
            part.tau - torques_of(old, part, drives=drives),
            part.tau - torques_of(new, part, drives=drives, offsets=offsets),
        )
        sums += [np.einsum("ti,ti->i", x, x) for x in errors]
        rows += len(part)
    measured, before, after = np.sqrt(sums / rows)
    return Validation(rows, measured, before, after)


def _parts(logs: Sequence[Log]) -> Iterator[Log]:
    """The rows of all logs, as many as memory is needed for at a time."""
    for log in logs:
        starts = range(0, max(len(log) - 1, 1), _ROWS)
        for start in starts:
            # A last row alone belongs to the part before it.
            stop = len(log) if start + _ROWS + 1 >= len(log) else start + _ROWS
            yield log.rows(log.time[start], log.time[stop - 1])
