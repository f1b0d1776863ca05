"""Triangles that are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["Color", "Surface", "colored"]

Color = tuple[int, int, int, int]
"""Red, green, blue (sRGB) and opacity, up to 255."""


@record(frozen=True, slots=True, eq=False)
class Surface:
    """Triangles with colours; counter-clockwise as they are seen from outside."""

    vertices: NDArray[np.float32]
    """(n, 3), m. A corner at which faces meet at an edge that is to look sharp is there once for each side."""
    faces: NDArray[np.int32]
    """(m, 3)."""
    normals: NDArray[np.float32]
    """(n, 3), of length 1, one per vertex."""
    colors: NDArray[np.uint8]
    """(n, 4), one per vertex: red, green, blue (sRGB) and opacity. With a texture, these are its colours there."""
    uv: NDArray[np.float32] | None = None
    """(n, 2): where each vertex is in the texture, from the lower left."""
    texture: NDArray[np.uint8] | None = None
    """(height, width, 4), the upper row first."""


def colored(vertices: NDArray[Any], faces: NDArray[Any], normals: NDArray[Any], color: Sequence[int]) -> Surface:
    """A surface in one colour."""
    return Surface(
        np.asarray(vertices, dtype=np.float32),
        np.asarray(faces, dtype=np.int32),
        np.asarray(normals, dtype=np.float32),
        np.tile(np.array(color, dtype=np.uint8), (len(vertices), 1)),
    )
