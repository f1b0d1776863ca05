"""A camera that has everything in its picture, as large as possible."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.display import Size
from kinetree.errors import OptionError, ShapeError
from kinetree.pictures.camera import Camera, checked_size

__all__ = ["VIEW", "corners_of", "framing"]

VIEW = (-1.0, 0.7, -0.45)
"""The usual direction of view: a robot's front, its left side, and a little from above."""
_LEAST = 0.02
"""A robot smaller than this, in m, is seen as if it had this size."""


def framing(
    points: ArrayLike,
    size: Size = (1280, 720),
    *,
    direction: tuple[float, float, float] = VIEW,
    field_of_view: float = 0.6,
    margin: float = 0.08,
) -> Camera:
    """The camera nearest to points, among all that look in a direction and have them all in the picture.

    Args:
        points: (…, 3), m; or (2, 3), the low and the high corner of a box. Points that are not finite are left out.
        size: width and height of the picture, pixels.
        direction: where the camera looks, in the world's axes.
        field_of_view: angle between the upper and the lower border, rad.
        margin: the part of the picture that stays free at each border, from 0 to less than 0.5.

    Raises:
        ShapeError: the last axis of `points` does not have length 3.
        OptionError: no point is finite, or another argument is out of range.

    >>> camera = framing([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]], direction=(0.0, 1.0, 0.0))
    >>> camera.position[1] < -1.0
    True
    """
    if not 0.0 <= margin < 0.5:
        raise OptionError(f"margin must be a part of the picture, from 0 to less than 0.5, not {margin!r:.40}")
    width, height = checked_size(size)
    rows = _points(points)
    if not np.any(direction):
        raise OptionError("direction must say where the camera looks, not (0, 0, 0)")
    toward = Camera((0.0, 0.0, 0.0), direction, field_of_view=field_of_view)
    x, y, z = toward.axes() @ rows.T
    # A point is between two opposite borders if |x − c_x| ≤ t (z − c_z). For all points at once, this bounds c_z by
    # the two points that the borders touch first, and c_x is in the middle between them.
    t_y = math.tan(0.5 * field_of_view) * (1.0 - 2.0 * margin)
    t_x = t_y * width / height
    place = np.array([_middle(x, t_x * z), _middle(y, t_y * z), min(_depth(x, z, t_x), _depth(y, z, t_y))])
    ahead = np.array([place[0], place[1], 0.5 * (z.min() + z.max())])
    position, target = place @ toward.axes(), ahead @ toward.axes()
    near = max(0.1 * float(z.min() - place[2]), 1e-4 * float(z.max() - place[2]))
    return Camera(_triple(position), _triple(target), field_of_view=field_of_view, near=near)


def _depth(x: NDArray[np.float64], z: NDArray[np.float64], t: float) -> float:
    """The largest depth of a camera at which all points are between two opposite borders."""
    return -float(np.max(x - t * z) + np.max(-x - t * z)) / (2.0 * t)


def _middle(x: NDArray[np.float64], t_z: NDArray[np.float64]) -> float:
    return 0.5 * float(np.max(x - t_z) - np.max(-x - t_z))


def _points(given: ArrayLike) -> NDArray[np.float64]:
    """(n, 3): the points that are finite, or the corners of a box around them if they are at one place."""
    x = np.asarray(given, dtype=np.float64)
    if x.ndim < 2 or x.shape[-1] != 3:
        raise ShapeError(f"points must be an array of shape (…, 3), or the two corners of a box, not {x.shape}")
    x = corners_of(*x) if x.shape == (2, 3) else x.reshape(-1, 3)
    x = x[np.isfinite(x).all(axis=1)]
    if len(x) == 0:
        raise OptionError("there is nothing to be seen: no point is finite")
    low, high = x.min(axis=0), x.max(axis=0)
    if float(np.max(high - low)) < _LEAST:
        middle = 0.5 * (low + high)
        return corners_of(middle - 0.5 * _LEAST, middle + 0.5 * _LEAST)
    return x


def corners_of(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """(8, 3): the corners of a box."""
    return np.stack(np.meshgrid(*np.column_stack((low, high)), indexing="ij"), axis=-1).reshape(-1, 3)


def _triple(x: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(x[0]), float(x[1]), float(x[2])
