"""Points at the same place as one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["joined", "mixed", "welded"]

_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
"""Odd numbers whose bits look random."""

Indices = NDArray[np.int64]


def mixed(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for each row (n, 3) of whole numbers; those of different rows are hardly ever the same."""
    a, b, c = (rows[:, k].astype(np.uint64) * factor for k, factor in enumerate(_FACTORS))
    value: NDArray[np.uint64] = a ^ b ^ c
    return value


def joined(rows: NDArray[np.uint32]) -> tuple[Indices, Indices]:
    """Equal rows (n, 3) as one: the first of each (k,), in any order, and the place of each row among these (n,)."""
    # Sorting one integer per row is many times faster than sorting rows; that no two rows share one is checked.
    _, first, place = np.unique(mixed(rows), return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][place.reshape(-1)], rows):
        _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def welded(points: NDArray[Any]) -> tuple[Indices, Indices]:
    """Points (n, 3) at the same place, rounded to 32 bits, as one; the results are those of `joined`."""
    rounded = np.ascontiguousarray(points, dtype=np.float32) + np.float32(0.0)  # of two zeros, the positive one
    return joined(rounded.view(np.uint32))
