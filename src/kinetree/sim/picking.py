"""Rows and samples of a motion, chosen by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError

__all__ = ["Rows", "Samples", "row_numbers", "sample_numbers"]

Rows = slice | Sequence[int] | NDArray[np.intp]
Samples = Sequence[int | tuple[int, ...]] | NDArray[np.intp]


def row_numbers(function: str, rows: Rows, count: int) -> NDArray[np.intp]:
    """The numbers of rows, from 0 on. Raises OptionError.

    >>> row_numbers("read", slice(None, None, 4), 10)
    array([0, 4, 8])
    >>> row_numbers("read", [-1, 3], 10)
    array([9, 3])
    """
    if isinstance(rows, slice):
        return np.arange(count, dtype=np.intp)[rows]
    return _whole(function, "rows", rows, count)


def sample_numbers(function: str, samples: Samples, shape: tuple[int, ...]) -> NDArray[np.intp]:
    """The numbers of samples, counted through all axes of a batch. Raises OptionError.

    >>> sample_numbers("read", [(1, 0), (0, 2)], (2, 3))
    array([3, 2])
    """
    count = int(np.prod(shape))
    if isinstance(samples, np.ndarray) or not any(isinstance(k, tuple) for k in samples):
        return _whole(function, "samples", samples, count)
    try:
        places = np.array(list(samples), dtype=np.intp)
        if places.shape[1:] != (len(shape),):
            raise ValueError
        if not shape:
            return np.zeros(len(places), dtype=np.intp)
        result: NDArray[np.intp] = np.ravel_multi_index(tuple(places.T), shape).astype(np.intp)
    except (ValueError, TypeError, OverflowError):
        raise OptionError(f"{function}: samples must be indices of the batch {shape}, not {samples!r:.60}") from None
    return result


def _whole(function: str, name: str, numbers: Any, count: int) -> NDArray[np.intp]:
    given = np.asarray(numbers)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise OptionError(f"{function}: {name} must be a list of whole numbers, not {numbers!r:.60}")
    given = given.astype(np.intp)
    outside = given[(given < -count) | (given >= count)]
    if outside.size:
        raise OptionError(f"{function}: there are {count:,} {name}, numbered from 0, and so no {int(outside[0]):,}")
    result: NDArray[np.intp] = np.where(given < 0, given + count, given)
    return result
