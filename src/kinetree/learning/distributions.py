"""Distributions of numbers that differ from world to world and from episode to episode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree import random
from kinetree.errors import OptionError
from kinetree.records import record

__all__ = ["Choice", "Distribution", "Integers", "Normal", "Uniform"]

Array = Any  # of NumPy: a number or an array


@record(frozen=True, slots=True)
class Uniform:
    """Numbers between two bounds.

    Args:
        low: the lower bound: one number, or an array in the shape of the drawn values.
        high: the upper bound.
        relative: whether one factor is drawn instead, by which the robot's own value is multiplied.

    >>> import kinetree as kt
    >>> masses = kt.learning.Uniform(0.8, 1.2, relative=True)
    >>> friction = kt.learning.Uniform([0.4, 0.005, 0.0001], [1.2, 0.005, 0.0001])
    """

    low: ArrayLike
    high: ArrayLike
    relative: bool = False

    def __post_init__(self) -> None:
        low, high = _bounds(self, self.low, self.high)
        if np.any(low > high):
            raise OptionError(f"{self}: the lower bound is above the upper one")

    @property
    def range(self) -> tuple[Array, Array]:
        """The smallest and the largest number."""
        return np.asarray(self.low, np.float64), np.asarray(self.high, np.float64)

    def draw(self, key: Any, shape: tuple[int, ...]) -> Any:
        """An array of this shape; for a relative one, one factor."""
        return random.uniform(key, () if self.relative else shape, np.asarray(self.low), np.asarray(self.high))


@record(frozen=True, slots=True)
class Normal:
    """Numbers around a mean, with a standard deviation.

    Args:
        mean: one number, or an array in the shape of the drawn values.
        std: the standard deviation, likewise.
        relative: as for `Uniform`.

    >>> import kinetree as kt
    >>> gains = kt.learning.Normal(1.0, 0.05, relative=True)
    """

    mean: ArrayLike
    std: ArrayLike
    relative: bool = False

    def __post_init__(self) -> None:
        _, std = _bounds(self, self.mean, self.std)
        if np.any(std < 0.0):
            raise OptionError(f"{self}: a standard deviation is not negative")

    @property
    def range(self) -> tuple[Array, Array]:
        """Four standard deviations around the mean."""
        mean, std = np.asarray(self.mean, np.float64), np.asarray(self.std, np.float64)
        return mean - 4.0 * std, mean + 4.0 * std

    def draw(self, key: Any, shape: tuple[int, ...]) -> Any:
        """As for `Uniform`."""
        return random.normal(key, () if self.relative else shape, np.asarray(self.mean), np.asarray(self.std))


@record(frozen=True, slots=True)
class Integers:
    """Whole numbers from `low` to `high`, without `high` itself, as NumPy's: a delay, or which object there is.

    >>> import kinetree as kt
    >>> delay = kt.learning.Integers(0, 3)
    """

    low: int
    high: int
    relative = False

    def __post_init__(self) -> None:
        low, high = _bounds(self, self.low, self.high)
        if low.shape or high.shape or low >= high or low != np.floor(low) or high != np.floor(high):
            raise OptionError(f"{self}: low and high are whole numbers, and low is below high")

    @property
    def range(self) -> tuple[Array, Array]:
        """The smallest and the largest number."""
        return np.float64(self.low), np.float64(self.high - 1)

    def draw(self, key: Any, shape: tuple[int, ...]) -> Any:
        """An array of this shape."""
        return random.integers(key, self.low, self.high, shape) * 1.0


@record(frozen=True, slots=True)
class Choice:
    """One of several values, each as likely as the others.

    >>> import kinetree as kt
    >>> planets = kt.learning.Choice([[0.0, 0.0, -9.81], [0.0, 0.0, -1.62]])
    """

    values: ArrayLike
    relative = False

    def __post_init__(self) -> None:
        if not np.shape(self.values)[:1] or not np.size(self.values):
            raise OptionError(f"{self}: values are an array with one value per row")
        _bounds(self, self.values)

    @property
    def range(self) -> tuple[Array, Array]:
        """The smallest and the largest number in each place."""
        values = np.asarray(self.values, np.float64)
        return values.min(axis=0), values.max(axis=0)

    def draw(self, key: Any, shape: tuple[int, ...]) -> Any:
        """One of the values."""
        values = np.asarray(self.values, np.float64)
        if values.shape[1:] != shape:
            raise OptionError(f"{self}: a value has shape {values.shape[1:]}, but {shape} is needed")
        return random.choice(key, values)


Distribution = Uniform | Normal | Integers | Choice


def _bounds(distribution: Any, *numbers: Any) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """The numbers as arrays, if all are finite."""
    arrays = []
    for x in numbers:
        try:
            arrays.append(np.asarray(x, np.float64))
        except (TypeError, ValueError):
            raise OptionError(f"{type(distribution).__name__}: {x!r:.60} is not a number or an array of them") from None
        if not np.isfinite(arrays[-1]).all():
            raise OptionError(f"{type(distribution).__name__}: {x!r:.60} is not finite")
    return arrays
