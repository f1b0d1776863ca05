"""A part of a mesh file with one material."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.records import record

__all__ = ["Piece", "checked", "color_bytes", "fans", "joined_corners"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@record(frozen=True, slots=True, eq=False)
class Piece:
    """Triangles of a file that share a material."""

    vertices: Floats
    """(n, 3), in the file's axes, in metres if the file names its unit."""
    faces: Indices
    """(m, 3), counter-clockwise as they are seen from outside."""
    normals: Floats | None = None
    """(n, 3), of any length."""
    uv: Floats | None = None
    """(n, 2), from the lower left of the image."""
    colors: NDArray[np.uint8] | None = None
    """(n, 4), where the file has one colour per vertex."""
    color: tuple[float, ...] | None = None
    """Red, green, blue, opacity from 0 to 1; None if the file has no colour."""
    image: str | NDArray[np.uint8] | None = None
    """The address of an image as the file has it, or the image itself, (height, width, 4)."""
    left_out: int = 0
    """How many triangles more the file has, which are too small to be seen."""


def checked(where: object, pieces: list[Piece]) -> list[Piece]:
    """The pieces with triangles; a `ModelError` without any, or if they are not made of numbers and vertices."""
    whole = [piece for piece in pieces if len(piece.faces)]
    if not whole:
        raise ModelError(f"{where}: the file contains no triangles; export it again as a surface")
    for piece in whole:
        if not np.isfinite(piece.vertices).all():
            raise ModelError(f"{where}: a coordinate of a vertex is not a finite number; export the mesh again")
        if piece.faces.min() < 0 or piece.faces.max() >= len(piece.vertices):
            raise ModelError(
                f"{where}: a face names a vertex that does not exist; the mesh has {len(piece.vertices):,}: export it "
                "again"
            )
    return whole


def color_bytes(colors: Floats) -> NDArray[np.uint8]:
    """Colours (n, 3) or (n, 4) from 0 to 1 as bytes (n, 4); those without an opacity are opaque."""
    rgba = np.full((len(colors), 4), 255, np.uint8)
    rgba[:, : colors.shape[1]] = np.rint(255.0 * np.clip(colors, 0.0, 1.0))
    return rgba


def fans(sizes: Indices) -> Indices:
    """The triangles (m, 3) of polygons with these numbers of corners, as places in the list of all corners."""
    starts = np.cumsum(sizes) - sizes
    counts = np.maximum(sizes - 2, 0)
    owner = np.repeat(np.arange(len(sizes)), counts)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([starts[owner], starts[owner] + step + 1, starts[owner] + step + 2], axis=1)


def joined_corners(columns: list[Indices]) -> tuple[list[Indices], Indices]:
    """Corners with the same indices in all columns as one vertex: these indices of each, and the vertex per corner."""
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        key = key * (int(column.max(initial=0)) + 2) + column + 1
        if len(columns) > 2:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return [column[first] for column in columns], place.reshape(-1)
