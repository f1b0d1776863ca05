"""The corners of a box around a mesh, from STL and OBJ files; nothing else in them is used."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.files import read_regular

__all__ = ["mesh_corners"]

_LARGEST = 64 * 2**20
_LARGEST_TEXT = 8 * 2**20
"""Text takes longer to read than numbers in bytes."""
_NUMBERS = rb"[ \t]+([-+.\deE]+)[ \t]+([-+.\deE]+)[ \t]+([-+.\deE]+)"
_OBJ = re.compile(rb"^v" + _NUMBERS, re.MULTILINE)
_STL = re.compile(rb"\bvertex" + _NUMBERS)
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


@lru_cache(maxsize=512)
def mesh_corners(path: Path) -> NDArray[np.float64] | None:
    """The eight corners, (8, 3), in the mesh's own unit; None if they are not known."""
    try:
        data = read_regular(path, _LARGEST)
    except OSError:
        return None
    suffix = path.suffix.lower()
    try:
        points = _of_stl(data) if suffix == ".stl" else _of_text(_OBJ, data) if suffix == ".obj" else None
    except ValueError:
        return None
    if points is None or not len(points) or not np.isfinite(points).all():
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array(list(product(*zip(low, high, strict=True))), dtype=np.float64)


def _of_stl(data: bytes) -> NDArray[np.float64] | None:
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 + _TRIANGLE.itemsize * count > 84:
        triangles = np.frombuffer(data, _TRIANGLE, count, 84)
        return triangles["corners"].reshape(-1, 3).astype(np.float64)
    return _of_text(_STL, data)


def _of_text(pattern: re.Pattern[bytes], data: bytes) -> NDArray[np.float64] | None:
    rows = pattern.findall(data) if len(data) <= _LARGEST_TEXT else []
    return np.array(rows).astype(np.float64) if rows else None
