"""Where each motion of a batch is between two steps of its own length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["OF_STEPS", "Cursor"]

Array = NDArray[np.float64]
OF_STEPS = "adaptive "
"""How the names of arrays begin that a snapshot carries for steps of their own length."""


@record(frozen=True, slots=True, eq=False)
class Cursor:
    """Where each motion is: arrays with one entry per motion, which are changed in place."""

    time: Array
    """s."""
    row: Array
    """[q, v, work, loss]."""
    rates: Array
    """What [d, w, work, loss] change by in the first stage of the next step, and the error of its contacts; NaN if that
    is not known."""
    length: Array
    """How long the next step is to be, s; NaN before the first one."""
    error: Array
    """The error of the last step, relative to what is allowed."""
    accepted: NDArray[np.int64]
    """How many steps were taken since the motion began, and how many were tried in vain."""
    rejected: NDArray[np.int64]
    smallest: Array
    """The shortest step that did not end where inputs change, s."""

    @classmethod
    def at(cls, time: float, rows: Array, nv: int) -> Cursor:
        """The beginning of a motion."""
        n = len(rows)
        none, unknown = np.zeros(n, np.int64), np.full((n, 2 * nv + 3), np.nan)
        return cls(
            np.full(n, time),
            rows.copy(),
            unknown,
            np.full(n, np.nan),
            np.ones(n),
            none,
            none.copy(),
            np.full(n, np.inf),
        )

    @classmethod
    def of_carried(cls, carried: Mapping[str, NDArray[Any]]) -> Cursor | None:
        """What `carried` told, if it did."""
        if not any(name.startswith(OF_STEPS) for name in carried):
            return None
        return cls(*(np.array(carried[OF_STEPS + field.name]) for field in fields(cls)))

    def carried(self) -> dict[str, NDArray[Any]]:
        """Copies of the arrays, by name."""
        return {OF_STEPS + field.name: getattr(self, field.name).copy() for field in fields(self)}

    def copy(self) -> Cursor:
        return Cursor(*(getattr(self, field.name).copy() for field in fields(self)))

    def put(self, some: NDArray[np.intp], other: Cursor) -> None:
        """Make some motions those of another one."""
        for field in fields(self):
            getattr(self, field.name)[some] = getattr(other, field.name)[some]
