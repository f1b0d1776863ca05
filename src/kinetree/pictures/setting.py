"""What is around a robot in its picture: floor, light and background."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import OptionError
from kinetree.records import record

__all__ = ["Background", "Floor", "Light", "floor_below"]

Triple = tuple[float, float, float]


@record(frozen=True, slots=True)
class Floor:
    """A plane with a fine grid, on which a robot has a shadow; it fades into the background."""

    height: float = 0.0
    """How far it is from the world's origin, along its normal, m."""
    normal: Triple = (0.0, 0.0, 1.0)
    """The side that is seen; of length 1."""
    color: Triple = (0.93, 0.94, 0.95)
    """Red, green, blue (sRGB), from 0 to 1."""
    lines: Triple = (0.74, 0.77, 0.80)
    """The color of the grid."""


@record(frozen=True, slots=True)
class Light:
    """A key light from one direction, and light from the sky and the floor."""

    direction: Triple = (-0.45, 0.30, 1.0)
    """Where the key light comes from, in the world's axes."""
    key: Triple = (1.02, 0.98, 0.92)
    """What a white surface that faces the key light gets of it: red, green and blue, linear."""
    sky: Triple = (0.42, 0.45, 0.50)
    """What a surface that faces upward gets from the sky."""
    ground: Triple = (0.22, 0.21, 0.20)
    """What a surface that faces downward gets from the floor."""


@record(frozen=True, slots=True)
class Background:
    """Two colors, from above to below: red, green, blue (sRGB), from 0 to 1."""

    top: Triple = (0.80, 0.85, 0.90)
    bottom: Triple = (0.96, 0.97, 0.98)


def floor_below(points: ArrayLike) -> Floor:
    """A level floor under the lowest of some points (…, 3), m; those that are not finite are left out.

    >>> floor_below([[0.0, 0.0, 0.3], [1.0, 0.0, 0.5]]).height
    0.3
    """
    heights = np.asarray(points, dtype=np.float64)[..., 2]
    heights = heights[np.isfinite(heights)]
    if heights.size == 0:
        raise OptionError("there is no floor below nothing: no point is finite")
    return Floor(float(heights.min()))
