"""How a quantity varies from sample to sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError
from kinetree.inputs import real_array
from kinetree.records import record
from kinetree.sweeps.draws import normal_quantile

__all__ = ["Anywhere", "Distribution", "Grid", "LogUniform", "Normal", "Uniform", "Variation"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Uniform:
    """Any number from `low` to `high`, all equally likely.

    Bounds are numbers, or arrays of the quantity's shape. Each element of a quantity gets a number of its own. With
    `relative=True` the numbers are factors of the quantity's nominal value, and a quantity of several elements gets one
    factor for all of them, unless the bounds are arrays.

    >>> import kinetree as kt
    >>> kt.sweeps.Uniform(0.8, 1.2, relative=True)
    Uniform(low=0.8, high=1.2, relative=True)
    """

    low: ArrayLike
    high: ArrayLike
    relative: bool = False

    def bounds(self, name: str) -> tuple[Array, Array]:
        low, high = (_numbers(name, x) for x in (self.low, self.high))
        if (low > high).any():
            raise OptionError(f"{name}: the lower end of {self!r:.200} is above the upper one")
        return low, high

    def values(self, u: Array, bounds: tuple[Array, Array]) -> Array:
        low, high = bounds
        return low + (high - low) * u


@record(frozen=True, slots=True, eq=False)
class LogUniform:
    """A positive number from `low` to `high`, whose logarithm is distributed evenly; otherwise as `Uniform`.

    >>> import kinetree as kt
    >>> kt.sweeps.LogUniform(0.01, 10.0)
    LogUniform(low=0.01, high=10.0, relative=False)
    """

    low: ArrayLike
    high: ArrayLike
    relative: bool = False

    def bounds(self, name: str) -> tuple[Array, Array]:
        low, high = (_numbers(name, x) for x in (self.low, self.high))
        if not ((low > 0.0) & (low <= high)).all():
            raise OptionError(f"{name}: the ends of {self!r:.200} must be positive, the lower one first")
        return low, high

    def values(self, u: Array, bounds: tuple[Array, Array]) -> Array:
        low, high = bounds
        exponents = np.broadcast_to(np.log(high / low), u.shape[1:]) * u
        # one by one, since NumPy's exponential may round differently at the ends of arrays
        factors = np.array([math.exp(x) for x in exponents.ravel()]).reshape(u.shape)
        values: Array = np.clip(low * factors, low, high)
        return values


@record(frozen=True, slots=True, eq=False)
class Normal:
    """A number of a normal distribution, by its mean and standard deviation; otherwise as `Uniform`.

    >>> import kinetree as kt
    >>> kt.sweeps.Normal(1.0, 0.05, relative=True)
    Normal(mean=1.0, deviation=0.05, relative=True)
    """

    mean: ArrayLike
    deviation: ArrayLike
    relative: bool = False

    def bounds(self, name: str) -> tuple[Array, Array]:
        mean, deviation = (_numbers(name, x) for x in (self.mean, self.deviation))
        if (deviation < 0.0).any():
            raise OptionError(f"{name}: the standard deviation of {self!r:.200} must not be negative")
        return mean, deviation

    def values(self, u: Array, bounds: tuple[Array, Array]) -> Array:
        mean, deviation = bounds
        return mean + deviation * normal_quantile(u)


@record(frozen=True, slots=True, eq=False)
class Grid:
    """Each of some values (n,) or (n, *shape), with each of the values of all other grids: the last one changes first.

    Single numbers stand for all elements of a quantity. With `relative=True` they are factors of its nominal value.

    >>> import kinetree as kt
    >>> kt.sweeps.Grid([0.5, 1.0, 2.0])
    Grid(values=[0.5, 1.0, 2.0], relative=False)
    """

    values: ArrayLike
    relative: bool = False

    def points(self, name: str) -> Array:
        """(n,) or (n, *shape)."""
        points = _numbers(name, self.values)
        if points.ndim == 0 or not len(points):
            raise OptionError(f"{name}: a grid is a list of one or more values, not {self.values!r:.60}")
        return points


@record(frozen=True, slots=True)
class Anywhere:
    """A random configuration within the limits, as of `robot.random`: any angle, any orientation; for "q" alone.

    >>> import kinetree as kt
    >>> kt.sweeps.Anywhere()
    Anywhere()
    """


Distribution = Uniform | LogUniform | Normal
Variation = Distribution | Grid | Anywhere


def _numbers(name: str, x: Any) -> Array:
    numbers = real_array(name, x, "(…)").astype(np.float64)
    if not np.isfinite(numbers).all():
        raise OptionError(f"{name}: its values must be finite, and {x!r:.60} is not")
    return numbers
