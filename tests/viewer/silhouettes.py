"""Silhouettes: which pixels of a picture show something, and how far two of them are apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.ndimage import distance_transform_edt


def silhouette(picture: NDArray[np.uint8], background: NDArray[np.uint8], tolerance: int = 12) -> NDArray[np.bool_]:
    """(height, width): where a picture differs from its background, a colour (3,) or a picture of the same size."""
    difference = np.abs(picture.astype(int) - np.asarray(background, int))
    return (difference > tolerance).any(axis=-1)


def shown(picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """(height, width): where a picture differs from the colour of its upper left corner."""
    return silhouette(picture, picture[0, 0])


def mask(triangles: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.bool_]:
    """(height, width): pixels that triangles, (n, 3, 2) columns and rows, cover."""
    image = Image.new("1", size)
    draw = ImageDraw.Draw(image)
    for corners in triangles - 0.5:  # Pillow's pixels are centred at whole numbers
        draw.polygon([tuple(corner) for corner in corners.tolist()], fill=1)
    return np.asarray(image, bool)


def outside(points: NDArray[np.float64], shape: NDArray[np.bool_]) -> float:
    """How many pixels the farthest of points (n, 2), columns and rows, is from a silhouette."""
    distances = distance_transform_edt(~shape)
    columns, rows = np.floor(points).astype(int).T
    height, width = shape.shape
    assert ((columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)).all(), "points beyond the picture"
    return float(distances[rows, columns].max())


def apart(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """How many pixels any pixel of one silhouette is at most from the other; the same of what is not covered.

    So a hole in one where the other has none counts, if it is wider than what is returned. It is infinite from an empty
    silhouette to any other.
    """
    if not (one.any() and other.any()):
        return np.inf
    ways = [(one, other), (other, one), (~one, ~other), (~other, ~one)]
    return max(float(distance_transform_edt(~there)[here].max()) for here, there in ways)
