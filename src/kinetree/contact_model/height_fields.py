"""The height fields of MJCF files as collisions see them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from kinetree.collision import HeightField
from kinetree.errors import ModelError
from kinetree.io.mjcf.elevations import read_elevations
from kinetree.model import Geometry

__all__ = ["MOST_HEIGHTS", "height_field_of"]

MOST_HEIGHTS = 2**16
"""Programs look at every height."""


def height_field_of(shape: Geometry, asset: Mapping[str, str], *, is_smooth: bool) -> HeightField:
    """The height field that a shape shows; its size is that of the shape, elevations are those of its asset.

    Raises:
        ModelError: if it is not of an MJCF file, cannot be read, or has too many heights.
    """
    if not asset:
        raise ModelError("height fields touch in robots of MJCF files only; put planes and boxes in its place")
    x, y, top, base = shape.size
    if not (x > 0.0 and y > 0.0):
        raise ModelError(f"its height field is {x:g} m by {y:g} m large; both lengths are positive")
    stamp = (0, 0)
    if shape.mesh_path is not None:
        try:
            stat = os.stat(shape.mesh_path)
        except OSError:
            raise ModelError(
                f"the file of its height field, {shape.mesh_path}, is gone since the robot was loaded; put it back"
            ) from None
        stamp = stat.st_mtime_ns, stat.st_size
    heights = _heights(shape.mesh_path, stamp, tuple(asset.items()), top)
    return HeightField(heights, 0.5 * x, 0.5 * y, base, is_smooth)


@lru_cache(maxsize=16)
def _heights(
    path: Path | None, _stamp: tuple[int, int], attributes: tuple[tuple[str, str], ...], top: float
) -> tuple[tuple[float, ...], ...]:
    asset = dict(attributes)
    data = read_elevations(path or f"hfield {asset.get('name', '')!r}", asset, path)
    rows, columns = data.shape
    if rows < 2 or columns < 2 or data.size > MOST_HEIGHTS:
        raise ModelError(
            f"its height field has {rows} x {columns} heights; there must be at least 2 x 2, and at most "
            f"{MOST_HEIGHTS:,}, since every one of them is looked at: make the image smaller"
        )
    return tuple(tuple(row) for row in (data.astype(float) * top).tolist())
