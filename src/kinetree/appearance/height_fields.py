"""Height fields as triangles: their upper side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.appearance.normals import creased
from kinetree.appearance.surface import Color, Surface, colored
from kinetree.errors import ModelError
from kinetree.io.mjcf.elevations import read_elevations
from kinetree.model import Geometry

__all__ = ["height_field"]

_MOST = 192
"""Rows and columns that are drawn; of larger ones, every second, third, …"""


def height_field(shape: Geometry, asset: Mapping[str, str], color: Color) -> Surface:
    """The surface of a height field of an MJCF file.

    Raises:
        ModelError: if it is not of an MJCF file, or cannot be read.
    """
    if not asset:
        raise ModelError("height fields are drawn of MJCF files only; put a mesh in its place")
    x, y, top, _ = shape.size
    data = read_elevations(shape.mesh_path or f"hfield {asset.get('name', '')!r}", asset, shape.mesh_path)
    step = max(1, -(-max(data.shape) // _MOST))
    rows, columns = (np.unique(np.append(np.arange(0, n, step), n - 1)) for n in data.shape)
    if len(rows) < 2 or len(columns) < 2:
        raise ModelError(
            f"its height field has {data.shape[0]} x {data.shape[1]} heights; at least 2 x 2 make a surface"
        )
    across, along = x * (columns / columns[-1] - 0.5), y * (rows / rows[-1] - 0.5)
    heights = top * data[np.ix_(rows, columns)].astype(np.float64)
    grid = np.stack([*np.meshgrid(across, along), heights], axis=2).reshape(-1, 3)
    corner = (np.arange(len(rows) - 1)[:, None] * len(columns) + np.arange(len(columns) - 1)).reshape(-1)
    right, above = corner + 1, corner + len(columns)
    faces = np.concatenate([np.stack([corner, right, above + 1], 1), np.stack([corner, above + 1, above], 1)])
    source, faces, normals = creased(grid, faces, np.arange(len(grid)))
    return colored(grid[source], faces, normals, color)
