"""Normals of triangles by which they are shaded: smooth, but not across sharp edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["creased", "face_normals", "unit"]

_SHARP = math.cos(math.radians(35.0))
"""The cosine of the angle from which the edge between two faces is sharp."""
_MANY = 48
"""A corner of more faces than this has their common normal, or each its own."""

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def face_normals(vertices: NDArray[Any], faces: NDArray[Any]) -> Floats:
    """(m, 3), as long as twice the area of each."""
    a, b, c = (vertices[faces[:, k]].astype(np.float64) for k in range(3))
    normals: Floats = np.cross(b - a, c - a)
    return normals


def creased(vertices: NDArray[Any], faces: NDArray[Any], welds: Indices) -> tuple[Indices, Indices, Floats]:
    """Vertices that are split where faces meet at a sharp edge, and their normals.

    Args:
        vertices: (n, 3).
        faces: (m, 3).
        welds: (n,) which vertices count as one place when normals are averaged.

    Returns:
        Which vertex each of the new ones was (k,), the faces (m, 3) of new vertices, and the normals (k, 3).
    """
    normals = face_normals(vertices, faces)
    corners = welds[faces].reshape(-1)
    count = int(welds.max(initial=-1)) + 1
    weighted = np.repeat(normals, 3, axis=0)
    sums: Floats = np.stack([np.bincount(corners, weighted[:, k], count) for k in range(3)], axis=1)
    smooth = unit(sums)
    own = np.repeat(unit(normals), 3, axis=0)
    is_sharp_corner = np.einsum("ij,ij->i", smooth[corners], own) < _SHARP
    is_sharp = np.bincount(corners, is_sharp_corner, count) > 0
    chosen = smooth[corners]
    at = np.nonzero(is_sharp[corners])[0]
    if len(at):
        chosen[at] = _averaged(corners[at], own[at], weighted[at])
    # Corners of one vertex with the same normal stay one.
    original = faces.reshape(-1).astype(np.int64)
    split = np.zeros(len(original), np.int64)
    if len(at):
        rounded = np.rint(chosen[at] * 512.0).astype(np.int64) + 512
        split[at] = 1 + (rounded[:, 0] * 1025 + rounded[:, 1]) * 1025 + rounded[:, 2]
    _, first, place = np.unique(original * (1 << 31) + split, return_index=True, return_inverse=True)
    return original[first], place.reshape(-1, 3), chosen[first]


def _averaged(places: Indices, own: Floats, weighted: Floats) -> Floats:
    """For each corner of a face: the sum of the normals of the faces there that are not across a sharp edge."""
    order = np.argsort(places, kind="stable")
    _, start, counts = np.unique(places[order], return_index=True, return_counts=True)
    result = own.copy()
    for size in np.unique(counts):
        if size > _MANY:
            continue
        rows = order[start[counts == size][:, None] + np.arange(size)]
        directions = own[rows]
        is_near = np.einsum("aik,ajk->aij", directions, directions) >= _SHARP
        result[rows.reshape(-1)] = (is_near.astype(np.float64) @ weighted[rows]).reshape(-1, 3)
    return unit(result, otherwise=own)


def unit(vectors: Floats, otherwise: Floats | None = None) -> Floats:
    """The vectors (n, 3) at length 1; one of zeros becomes the vertical, or the vector in its row of `otherwise`."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    usual = np.array([0.0, 0.0, 1.0]) if otherwise is None else otherwise
    result: Floats = np.where(lengths > 1e-30, vectors / np.where(lengths > 1e-30, lengths, 1.0), usual)
    return result
