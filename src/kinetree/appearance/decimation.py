"""Meshes with fewer triangles.

Many triangles are first brought down by joining the vertices in each cell of a grid; then edges are collapsed
by the quadric error (Garland and Heckbert, 1997) by the package fast_simplification. Without it, the grid does all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.normals import face_normals

__all__ = ["decimated", "on_grid"]

_FEWER = 6
"""By how much edges are collapsed at most: with more to do, the package spoils smooth parts in favour of small ones."""

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def decimated(vertices: Floats, faces: Indices, most: int) -> tuple[Floats, Indices]:
    """A mesh of about `most` triangles or fewer; one that has no more is returned as it is."""
    if len(faces) <= most:
        return vertices, faces
    collapse = _collapse()
    target = most if collapse is None else _FEWER * most
    if len(faces) > target:
        vertices, faces = on_grid(vertices, faces, target)
    if collapse is None or len(faces) <= most:
        return vertices, faces
    points, triangles = collapse(vertices.astype(np.float32), faces.astype(np.int32), 1.0 - most / len(faces))
    return points.astype(np.float64), triangles.astype(np.int64)


def on_grid(vertices: Floats, faces: Indices, most: int) -> tuple[Floats, Indices]:
    """The mesh whose vertices in each cell of a grid, on the same side of a wall, are one, at their mean.

    Cells grow until there are few enough triangles. Sides are those of the axis that a vertex's normal is nearest to.
    """
    side = _sides(vertices, faces)
    low = vertices.min(axis=0)
    size = float((vertices.max(axis=0) - low).max()) or 1.0
    cells = max(8.0, np.sqrt(0.35 * most))
    for _ in range(40):
        cell = np.floor((vertices - low) * (cells / size)).astype(np.int64)
        width = int(cells) + 2
        key, place = np.unique(((cell[:, 0] * width + cell[:, 1]) * width + cell[:, 2]) * 6 + side, return_inverse=True)
        place = place.reshape(-1)
        found = place[faces]
        is_whole = (found[:, 0] != found[:, 1]) & (found[:, 1] != found[:, 2]) & (found[:, 2] != found[:, 0])
        found = _without_doubles(found[is_whole], len(key))
        if len(found) <= most:
            break
        cells *= 0.8
    counts = np.bincount(place, minlength=len(key))
    points = np.stack([np.bincount(place, vertices[:, k], len(key)) / counts for k in range(3)], axis=1)
    return points, found


def _sides(vertices: Floats, faces: Indices) -> Indices:
    """Which of the six directions of the axes the normal of each vertex is nearest to."""
    weighted, corners = np.repeat(face_normals(vertices, faces), 3, axis=0), faces.reshape(-1)
    normals = np.stack([np.bincount(corners, weighted[:, k], len(vertices)) for k in range(3)], axis=1)
    axis = np.abs(normals).argmax(axis=1)
    directions: Indices = 2 * axis + (np.take_along_axis(normals, axis[:, None], axis=1)[:, 0] < 0.0)
    return directions


def _without_doubles(faces: Indices, count: int) -> Indices:
    ordered = np.sort(faces, axis=1)
    if count < 2_000_000:
        _, first = np.unique((ordered[:, 0] * count + ordered[:, 1]) * count + ordered[:, 2], return_index=True)
    else:
        _, first = np.unique(ordered, axis=0, return_index=True)
    distinct: Indices = faces[np.sort(first)]
    return distinct


def _collapse() -> Callable[[NDArray[np.float32], NDArray[np.int32], float], tuple[NDArray[Any], NDArray[Any]]] | None:
    try:
        from fast_simplification import simplify
    except ImportError:
        return None
    return simplify  # type: ignore[no-any-return]
