"""The last steps of the motions of a batch: what the states within them follow from."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["PairSteps"]

Array = NDArray[np.float64]
_STAGES = 7


@record(frozen=True, slots=True, eq=False)
class PairSteps:
    """One step of each of m motions, in displacements from its beginning."""

    time: Array
    """When each begins (m,), s."""
    end: Array
    length: Array
    start: Array
    """q at the beginning (m, nq)."""
    y: Array
    """[d, w, work, loss, 0] at the beginning (m, 2 nv + 3)."""
    rates: Array
    """ẏ of each stage (m, stages, 2 nv + 3), with the error of contacts in the last place."""

    @classmethod
    def none(cls, motions: int, nq: int, nv: int) -> PairSteps:
        """Steps at no time."""
        width = 2 * nv + 3
        nowhere = np.full(motions, np.inf)
        return cls(
            nowhere, nowhere.copy(), np.ones(motions), np.zeros((motions, nq)), np.zeros((motions, width)),
            np.zeros((motions, _STAGES, width)),
        )  # fmt: skip

    def of(self, some: Any) -> PairSteps:
        """The steps of some motions."""
        return PairSteps(*(getattr(self, field.name)[some] for field in fields(self)))

    def put(self, some: NDArray[np.intp], steps: PairSteps) -> None:
        """Replace those of some motions."""
        for field in fields(self):
            getattr(self, field.name)[some] = getattr(steps, field.name)
