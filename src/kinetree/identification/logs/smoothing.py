"""A log's filter, applied to functions of the velocity as well."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["Smoothing"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Smoothing:
    """A filter of all measured rows, some of which a log keeps."""

    v: Array
    """(M, nv): the velocities at all M measured rows, smoothed."""
    lowpass: Callable[[Array], Array]
    """From signals (M, …) to smooth ones."""
    kept: NDArray[np.intp]
    """(T,): the rows that the log keeps."""
