"""Means and standard deviations of all that has been seen so far.

Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance" (1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Moments"]

_LEAST = 1e-2
"""A small number that is added to a deviation, so that numbers which hardly change stay small."""


class Moments:
    """The mean and the variance of rows of numbers, beginning with 0 and 1."""

    def __init__(self, size: int) -> None:
        self.mean: NDArray[np.float64] = np.zeros(size)
        self._variance = np.ones(size)
        self._count = 0.0

    @property
    def std(self) -> NDArray[np.float64]:
        """The standard deviation (n,), and a little more."""
        return np.sqrt(self._variance) + _LEAST

    def add(self, rows: NDArray[Any]) -> None:
        """Take more rows (k, n) into account."""
        k, n = len(rows), self._count
        mean = rows.mean(0, dtype=np.float64)
        variance = rows.var(0, dtype=np.float64)
        change = mean - self.mean
        self.mean = self.mean + change * (k / (n + k))
        self._variance = (n * self._variance + k * variance + change**2 * (n * k / (n + k))) / (n + k)
        self._count = n + k

    def state(self) -> NDArray[np.float64]:
        """All its numbers, to `restore` it."""
        return np.concatenate([self.mean, self._variance, [self._count]])

    def restore(self, state: NDArray[np.float64]) -> None:
        """Go on from a `state`."""
        self.mean, self._variance = np.split(state[:-1].copy(), 2)
        self._count = float(state[-1])
