"""One image for a mesh whose parts have several, or colours as well as images: an atlas.

Each image has a cell of a grid, with its edge repeated around it, so that colours between pixels at its edge are its
own; each colour has a small square below the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.images import Image, smaller
from kinetree.records import record

__all__ = ["Painted", "atlas"]

_LARGEST = 512
"""Rows and columns that are kept of an image."""
_TOGETHER = 1024
"""Rows and columns of all images of a mesh, about."""
_EDGE = 2
"""Pixels by which the edge of an image is repeated around it."""
_SQUARE = 4
"""Pixels of a side of the square of a colour."""
_OUTSIDE = 1e-3
"""How far places may be outside an image that is not repeated."""

Floats = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Painted:
    """The colours and image of a part of a mesh."""

    colors: NDArray[np.uint8]
    """(n, 4) of its vertices."""
    uv: Floats | None
    """(n, 2), from the lower left of the image."""
    image: Image | None


def atlas(parts: Sequence[Painted]) -> tuple[Floats, Image] | None:
    """The places of all vertices in one image, and the image.

    A single image is kept as it is, and may be repeated.

    Returns:
        None without images, if one of several is repeated, or if a part without one has several colours.
    """
    images = {id(one.image): one.image for one in parts if one.image is not None}
    if not images:
        return None
    if len(images) == 1 and all(one.uv is not None and one.image is not None for one in parts):
        (image,) = images.values()
        return np.concatenate([one.uv for one in parts if one.uv is not None]), smaller(image, _LARGEST)
    if not all(_fits(one) for one in parts):
        return None
    columns = math.ceil(math.sqrt(len(images)))
    cells = [smaller(image, min(_LARGEST, _TOGETHER // columns)) for image in images.values()]
    height, width = (max(cell.shape[k] for cell in cells) + 2 * _EDGE for k in (0, 1))
    colors = list(dict.fromkeys(tuple(one.colors[0].tolist()) for one in parts if one.image is None))
    in_row = columns * width // _SQUARE
    grid = -(-len(cells) // columns) * height
    sheet = np.zeros((grid + -(-len(colors) // in_row) * _SQUARE, columns * width, 4), np.uint8)
    corners = {}
    for k, (key, cell) in enumerate(zip(images, cells, strict=True)):
        y, x = k // columns * height, k % columns * width
        framed = np.pad(cell, ((_EDGE, _EDGE), (_EDGE, _EDGE), (0, 0)), mode="edge")
        sheet[y : y + framed.shape[0], x : x + framed.shape[1]] = framed
        corners[key] = x + _EDGE, y + _EDGE, cell.shape[1], cell.shape[0]
    squares = {}
    for k, color in enumerate(colors):
        y, x = grid + k // in_row * _SQUARE, k % in_row * _SQUARE
        sheet[y : y + _SQUARE, x : x + _SQUARE] = color
        squares[color] = x + _SQUARE / 2, y + _SQUARE / 2
    found = []
    for one in parts:
        if one.image is None or one.uv is None:
            pixels = np.tile(np.array(squares[tuple(one.colors[0].tolist())]), (len(one.colors), 1))
        else:
            left, top, across, down = corners[id(one.image)]
            u, v = np.clip(one.uv, 0.0, 1.0).T
            pixels = np.stack([left + u * across, top + (1.0 - v) * down], axis=1)
        found.append(np.stack([pixels[:, 0] / sheet.shape[1], 1.0 - pixels[:, 1] / sheet.shape[0]], axis=1))
    return np.concatenate(found), sheet


def _fits(one: Painted) -> bool:
    if one.image is None or one.uv is None:
        return bool((one.colors == one.colors[0]).all())
    return bool(one.uv.min() >= -_OUTSIDE and one.uv.max() <= 1.0 + _OUTSIDE)
