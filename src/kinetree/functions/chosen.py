"""Some of the motions of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["Chosen", "chosen"]

Mask = NDArray[np.bool_]


@record(frozen=True, slots=True)
class Chosen:
    """Some samples, in order; a single motion counts as a batch of one."""

    shape: tuple[int, ...]
    """The axes of the batch."""
    where: tuple[Any, ...]
    """The index of the samples in an array with these axes."""

    def of(self, x: NDArray[Any], core: int | None = None) -> NDArray[Any]:
        """Their parts (m, …) of an array with the axes of the batch; or with `core` axes of its own after others."""
        rest = x.shape[len(self.shape) :] if core is None else x.shape[x.ndim - core :]
        result: NDArray[Any] = np.broadcast_to(x, (*self.shape, *rest))[self.where]
        return result

    def put(self, x: NDArray[Any], values: NDArray[Any]) -> None:
        """Set their parts (m, …) of an array with the axes of the batch."""
        x[self.where] = values

    def by_number(self, numbers: int | NDArray[Any]) -> Iterator[tuple[int, Mask, Chosen]]:
        """Each number that samples have, which of these samples have it, and these alone."""
        own = np.broadcast_to(numbers, self.shape)[self.where]
        for number in np.unique(own):
            mask = own == number
            where = self.where if not self.shape else tuple(k[mask] for k in self.where)
            yield int(number), mask, Chosen(self.shape, where)


def chosen(mask: Mask) -> Chosen:
    """The samples at which a mask (…,) is true."""
    return Chosen(mask.shape, np.nonzero(mask) if mask.shape else (None,))
