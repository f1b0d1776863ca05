"""An uneven ground under a robot: heights on a grid, given or made up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ModelError, OptionError
from kinetree.inputs import real_array
from kinetree.model.changes.common import Changed, changed, closed
from kinetree.model.changes.world import in_the_world, scenery_of, shape_name, surface_contact, world_of
from kinetree.model.elements import Geometry
from kinetree.model.extras import ShapeSettings, Unused
from kinetree.model.robot import Robot
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["hills", "on_terrain", "with_smooth_terrain"]

Array = NDArray[np.float64]

_WAVES = 24
_BELOW = 1.0
"""m of ground below the lowest point, which other libraries want to know of."""


def on_terrain(
    model: Robot,
    heights: ArrayLike | None,
    *,
    size: Sequence[float],
    spacing: float,
    steepness: float,
    seed: int,
    friction: float | Sequence[float] | None,
    name: str,
) -> Changed:
    """See `Model.on_terrain`."""
    x, y = _size(size)
    apart, steep = _positive("spacing", spacing), _positive("steepness", steepness)
    grid = hills(x, y, apart, steep, seed) if heights is None else _grid(heights)
    low, rise = float(grid.min()), float(np.ptp(grid)) or 1.0
    scenery = scenery_of(model)
    world, name = world_of(model), shape_name(scenery, name, "the terrain")
    shape = Geometry(
        "collision", "heightfield", (x, y, rise, _BELOW), Transform(Mat3.identity(), Vec3(0.0, 0.0, low)), name,
        contact=surface_contact(scenery, friction),
    )  # fmt: skip
    rows, columns = grid.shape
    sentence = f"put on the terrain {name!r}, {rows} x {columns} heights over {x:g} m x {y:g} m, on {world!r}"
    collector = in_the_world(model, sentence, [shape])
    place = 0 if model.floating_base else len(model.bodies[world].geometry)
    extras = collector.extras
    collector.extras = replace(
        extras,
        shapes=(*extras.shapes, ShapeSettings(world, place, asset=name)),
        unused=(*extras.unused, _asset(name, grid, (0.5 * x, 0.5 * y, rise, _BELOW))),
    )
    return closed(collector, floating_base=False)


def with_smooth_terrain(model: Robot) -> Changed:
    """See `Model.with_smooth_terrain`."""
    fields = [
        (body.name, k, shape.name)
        for body in model.bodies.values()
        for k, shape in enumerate(body.geometry)
        if shape.shape == "heightfield"
    ]
    if not fields:
        raise ModelError(f"{model.name!r} has no height field; robot.on_terrain(…) puts it on one")
    settings = {(one.body, one.index): one for one in model.extras.shapes}
    for body, k, name in fields:
        settings[body, k] = replace(settings.get((body, k)) or ShapeSettings(body, k, name), smooth=True)
    extras = replace(model.extras, shapes=tuple(settings.values()))
    return changed(
        replace(model.parts, extras=extras), f"made {len(fields)} height field{'s' * (len(fields) > 1)} smooth"
    )


def hills(x: float, y: float, spacing: float, steepness: float, seed: int) -> Array:
    """Heights of smooth hills (rows, columns), rows from y = -half, of lengths x and y; zero in the middle.

    They are plane waves of random directions and phases, whose lengths are from four spacings to the longer side. The
    root of the mean square of their slope is `steepness`.
    """
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise OptionError(f"seed must be a whole number from 0 on, not {seed!r:.60}") from None
    columns, rows = (max(3, round(length / spacing) + 1) for length in (x, y))
    X, Y = np.meshgrid(np.linspace(-0.5 * x, 0.5 * x, columns), np.linspace(-0.5 * y, 0.5 * y, rows))
    shortest = 4.0 * spacing
    lengths = np.exp(rng.uniform(math.log(shortest), math.log(max(x, y, 2.0 * shortest)), _WAVES))
    directions, phases = rng.uniform(0.0, 2.0 * math.pi, (2, _WAVES))
    k = 2.0 * math.pi / lengths
    waves = [
        np.sin(n * (math.cos(a) * X + math.sin(a) * Y) + b) / n for n, a, b in zip(k, directions, phases, strict=True)
    ]
    # Each wave has the mean squared slope 1/2, and their phases are independent.
    heights: Array = steepness * math.sqrt(2.0 / _WAVES) * np.sum(waves, axis=0)
    centred: Array = heights - heights[rows // 2, columns // 2]
    return centred


def _asset(name: str, grid: Array, size: Sequence[float]) -> Unused:
    """The height field of an MJCF file, whose first row is that of the largest y."""
    rows, columns = grid.shape
    elevation = " ".join(f"{h:.9g}" for h in grid[::-1].ravel())
    attributes = (
        ("name", name),
        ("nrow", str(rows)),
        ("ncol", str(columns)),
        ("size", " ".join(repr(float(length)) for length in size)),
        ("elevation", elevation),
    )
    return Unused("asset", (), (Unused("hfield", attributes),))


def _grid(heights: ArrayLike) -> Array:
    grid = real_array("heights", heights, "(rows, columns)").astype(np.float64)
    if grid.ndim != 2 or min(grid.shape) < 2:
        raise ModelError(f"heights must have the shape (rows, columns), at least 2 x 2 of them, not {grid.shape}")
    if not np.isfinite(grid).all():
        row, column = np.argwhere(~np.isfinite(grid))[0]
        raise ModelError(f"heights[{row}, {column}] is {grid[row, column]}: heights are finite numbers of metres")
    return grid


def _size(size: Any) -> tuple[float, float]:
    given = real_array("size", size, "(2,)").ravel().tolist()
    if len(given) != 2 or not all(0.0 < x < math.inf for x in given):
        raise ModelError(f"size must be the lengths along x and y, two positive numbers of metres, not {size!r:.60}")
    return given[0], given[1]


def _positive(name: str, value: Any) -> float:
    number = real_array(name, value, "()")
    if number.shape or not 0.0 < number < math.inf:
        raise OptionError(f"{name} must be a positive number, not {value!r:.60}")
    return float(number)
