"""The contents of a panel: lines of one motion, or of several."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["Array", "Line", "Panel", "Seen"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Line:
    """A number over time, of m motions."""

    name: str
    values: Array
    """(m, K)."""
    look: str = ""
    """Its look, if that has a meaning: "kinetic", "potential", "total", "error", "work" or "dissipated"."""
    attitudes: Array | None = None
    """The quaternions (m, K, 4) that the numbers are angles of."""


@record(frozen=True, slots=True, eq=False)
class Panel:
    """Lines on common axes."""

    label: str
    lines: Sequence[Line]
    floor: float = 0.0
    """The smallest range that is shown, so that rounding errors do not fill the panel."""
    part: str = "positions"
    """The word for it in `what`."""


@record(frozen=True, slots=True, eq=False)
class Seen:
    """The motions and moments that are shown."""

    shape: tuple[int, ...]
    """The axes of the batch."""
    samples: NDArray[np.intp]
    """Which m motions, by their numbers among those that were read."""
    rows: NDArray[np.intp]
    """Which K rows."""
    time: Array
    """(K,), s."""
    numbers: NDArray[np.intp]
    """The names of the m motions: their numbers in the batch, also where no others of it were read."""
    count: int
    """How many motions the batch has."""

    @property
    def indices(self) -> list[tuple[int, ...]]:
        """The indices of the m motions in the batch."""
        if not self.shape:
            return [()] * len(self.samples)
        return list(zip(*(axis.tolist() for axis in np.unravel_index(self.samples, self.shape)), strict=True))

    def of(self, x: NDArray[np.generic]) -> Array:
        """Their parts (m, K, *rest) of an array (…, T, *rest)."""
        axes = len(self.shape)
        flat = x.reshape(math.prod(self.shape), *x.shape[axes:])
        parts: Array = flat[np.ix_(self.samples, self.rows)].astype(np.float64)
        return parts
