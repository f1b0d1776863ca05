"""Which values each sample of a study has: a function of its number alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import DTypeError, OptionError, ShapeError
from kinetree.inputs import flag, framework_of, real_array, repeated
from kinetree.model import Model
from kinetree.records import record
from kinetree.sim.snapshot import digest_of
from kinetree.sweeps.draws import generator, uniform
from kinetree.sweeps.quantities import Quantities
from kinetree.sweeps.variations import Anywhere, Distribution, Grid

__all__ = ["Plan", "planned"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Varied:
    """Quantities that vary together."""

    names: tuple[str, ...]
    nominal: tuple[Array, ...]
    """The value of each without variation."""
    how: Distribution | Grid | Anywhere | Array
    """An array has one value per sample, (samples, *shape)."""
    width: tuple[int, ...]
    """The shape of the values drawn for each sample; of the values of a grid or an array."""
    numbers: Any
    """The ends of a distribution, or the points of a grid."""

    @property
    def name(self) -> str:
        return ", ".join(self.names)

    @property
    def text(self) -> str:
        """Its description in the study's files; arrays by a digest."""
        if isinstance(self.how, np.ndarray):
            return f"one value per sample, {digest_of(self.how)}"
        if isinstance(self.how, Anywhere):
            return "Anywhere()"
        numbers = self.numbers if isinstance(self.numbers, tuple) else (self.numbers,)
        texts = [repr(x.tolist()) if x.size <= 100 else f"numbers {digest_of(x)}" for x in numbers]
        return f"{type(self.how).__name__}({', '.join(texts)}, relative={self.how.relative})"


@record(frozen=True, slots=True, eq=False)
class Plan:
    """The samples of a study."""

    robot: Model
    varied: tuple[Varied, ...]
    seed: int
    each: int
    """How many samples each point of the grid has."""

    @property
    def grid(self) -> dict[str, int]:
        """How many values each grid has, by varied quantity; sample k is at point k // each, whose last index is first
        to change."""
        return {variation.name: len(variation.numbers) for variation in self.varied if isinstance(variation.how, Grid)}

    @property
    def samples(self) -> int:
        """How many there are."""
        return math.prod(self.grid.values()) * self.each

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each varied quantity, by name."""
        return {name: x.shape for one in self.varied for name, x in zip(one.names, one.nominal, strict=True)}

    def values(self, begin: int, end: int) -> dict[str, Array]:
        """The values (end - begin, *shape) of the samples from `begin` to `end`, by name."""
        values: dict[str, Array] = {}
        points = np.arange(begin, end) // self.each
        at = dict(zip(self.grid, np.unravel_index(points, tuple(self.grid.values())) if self.grid else (), strict=True))
        for one in self.varied:
            how = one.how
            if isinstance(how, np.ndarray):
                drawn = np.asarray(how[begin:end])
            elif isinstance(how, Grid):
                drawn = one.numbers[at[one.name]]
            elif isinstance(how, Anywhere):
                drawn = np.array([self.robot.random(generator(self.seed, one.name, k)) for k in range(begin, end)])
            else:
                u = uniform(self.seed, one.name, begin, end, math.prod(one.width)).reshape(-1, *one.width)
                drawn = how.values(u, one.numbers)
            values |= _scaled(one, drawn, end - begin)
        return values

    def middle(self) -> dict[str, Array]:
        """Values (1, *shape) in the middle of all distributions, at the first points of grids and arrays."""
        middle: dict[str, Array] = {}
        for variation in self.varied:
            if isinstance(variation.how, np.ndarray):
                drawn = np.asarray(variation.how[:1])
            elif isinstance(variation.how, Grid):
                drawn = variation.numbers[:1]
            elif isinstance(variation.how, Anywhere):
                drawn = variation.nominal[0][None]
            else:
                drawn = variation.how.values(np.full((1, *variation.width), 0.5), variation.numbers)
            middle |= _scaled(variation, drawn, 1)
        return middle

    def settings(self) -> dict[str, str]:
        """The settings that two studies must have in common to be one, as texts."""
        settings = {f"vary[{variation.name!r}]": variation.text for variation in self.varied}
        return {"samples": str(self.samples), "seed": str(self.seed), "varied": "; ".join(self.shapes), **settings}


def _scaled(one: Varied, drawn: Array, count: int) -> dict[str, Array]:
    """Each of the quantities that vary together, from the values drawn for all."""
    scaled = {}
    for name, nominal in zip(one.names, one.nominal, strict=True):
        rows = drawn.reshape(*drawn.shape, *(1,) * (1 + nominal.ndim - drawn.ndim))
        if getattr(one.how, "relative", False):
            rows = rows * nominal
        scaled[name] = np.array(np.broadcast_to(rows, (count, *nominal.shape)))
    return scaled


def planned(robot: Model, quantities: Quantities, vary: Any, samples: Any, seed: Any) -> Plan:
    """The arguments of a sweep as a plan, checked."""
    if not isinstance(vary, Mapping) or not vary:
        raise DTypeError(
            "kt.sweep: vary must be a dict from names such as 'body.hand.mass' or 'q' to distributions, such "
            f"as kt.sweeps.Uniform(0.5, 1.5), not {vary!r:.60}"
        )
    varied = tuple(_varied(quantities, names, how) for names, how in vary.items())
    if (twice := repeated(name for one in varied for name in one.names)) is not None:
        raise OptionError(f"vary: {twice} is there twice")
    points = math.prod(len(one.numbers) for one in varied if isinstance(one.how, Grid))
    has_grid = any(isinstance(one.how, Grid) for one in varied)
    arrays = [variation for variation in varied if isinstance(variation.how, np.ndarray)]
    if samples is None:
        samples = len(arrays[0].how) if arrays and not has_grid else 1 if has_grid else None  # type: ignore[arg-type]
    each = _whole("samples, how many each point of the grid has," if has_grid else "samples", samples, 1)
    for one in arrays:
        if len(one.how) != points * each:  # type: ignore[arg-type]
            raise ShapeError(
                f"vary: {one.name} has {len(one.how):,} values, but there are {points * each:,} samples"  # type: ignore[arg-type]
            )
    return Plan(robot, varied, _whole("seed", seed, 0), each)


def _whole(name: str, x: Any, least: int) -> int:
    if not isinstance(x, int | np.integer) or isinstance(x, bool) or x < least:
        raise OptionError(f"kt.sweep: {name} must be a whole number from {least} on, not {x!r:.60}")
    return int(x)


def _varied(quantities: Quantities, key: Any, how: Any) -> Varied:
    names = (key,) if isinstance(key, str) else key
    if not isinstance(names, tuple) or not names or not all(isinstance(x, str) for x in names):
        raise DTypeError(f"vary: each key is a name, or a tuple of names that vary together, not {key!r:.60}")
    nominal = tuple(quantities.nominal(name) for name in names)
    label = f"vary: {', '.join(names)}"
    relative = flag(f"{label}: relative", getattr(how, "relative", False))
    if isinstance(how, Anywhere):
        if names != ("q",):
            raise OptionError(f"{label}: Anywhere() is for q alone")
        return Varied(names, nominal, how, nominal[0].shape, None)
    if isinstance(how, Grid):
        numbers: Any = how.points(label)
        width: tuple[int, ...] = numbers.shape[1:]
    elif isinstance(how, Distribution):
        numbers = how.bounds(label)
        width = _broadcast(label, [x.shape for x in numbers])
        if not how.relative:
            width = _broadcast(label, [width, nominal[0].shape])
    else:
        array = real_array(label, how, "(samples, …)") if _is_array(how) else _refused(label, how)
        how = numbers = array.astype(np.float64)
        width = numbers.shape[1:]
    _check_shapes(label, names, nominal, width)
    if relative:
        for name, x in zip(names, nominal, strict=True):
            if not x.any():
                raise OptionError(f"{label}: {name} is zero, so that factors of it (relative=True) change nothing")
    return Varied(names, nominal, how, width, numbers)


def _check_shapes(label: str, names: Sequence[str], nominal: Sequence[Array], width: tuple[int, ...]) -> None:
    for name, x in zip(names, nominal, strict=True):
        if width not in ((), x.shape):
            raise ShapeError(f"{label}: values of shape {width} were given, but {name} has the shape {x.shape}")


def _broadcast(label: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(f"{label}: the shapes {', '.join(map(str, shapes))} do not go together") from None


def _is_array(how: Any) -> bool:
    return isinstance(how, list | tuple) or (isinstance(how, np.ndarray) and how.ndim > 0)


def _refused(label: str, how: Any) -> Any:
    if framework_of(how) is not None:
        real_array(label, how, "(samples, …)")
    raise DTypeError(
        f"{label}: give kt.sweeps.Uniform, LogUniform, Normal, Grid or Anywhere, or an array with one value per "
        f"sample, not {how!r:.60}; a value common to all samples is an argument of its own"
    )
