"""STL files: triangles by their corners."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.solids.meshes.numbers import numbers_in
from kinetree.solids.meshes.triangles import Triangles, checked

__all__ = ["mixed", "read_stl", "stl_corners", "welded"]

_HEADER, _RECORD = 84, 50
_MOST = 200_000
_FARTHEST = 2.0**30
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+\s+\S+\s+\S+)")


def stl_corners(where: object, data: bytes, *, as_mujoco: bool = False) -> NDArray[np.float32]:
    """The corners of the triangles (m, 3, 3) of an STL file.

    Binary files and texts are read, and data after the last triangle are ignored. MuJoCo reads no text and nothing that
    follows, so neither is read `as_mujoco`.
    """
    count = int.from_bytes(data[80:_HEADER], "little", signed=True)
    more = len(data) - _HEADER - _RECORD * count
    if len(data) >= _HEADER and (more == 0 or (more > 0 and count > 0 and not as_mujoco)):
        corners: NDArray[np.float32] = np.frombuffer(data, _FACET, count, _HEADER)["corners"]
        return corners.astype(np.float32, copy=False)
    if not data[:512].lstrip().lower().startswith(b"solid"):
        what = f"its header announces {count:,} triangles" if len(data) >= _HEADER else "it ends inside its header"
        raise ModelError(
            f"{where}: this is not {'a binary' if as_mujoco else 'an'} STL file: {what}, and it is {len(data):,} bytes "
            "long; export it again"
        )
    if as_mujoco:
        raise ModelError(f"{where}: this is a text STL file; MuJoCo reads binary ones: export it as binary STL")
    words = _VERTEX.findall(data.lower())
    if len(words) % 3:
        raise ModelError(f"{where}: {len(words)} corners do not make triangles; is the file cut off?")
    return numbers_in(where, b" ".join(words)).astype(np.float32).reshape(-1, 3, 3)


def read_stl(where: object, data: bytes) -> Triangles:
    """The triangles of a binary STL file; corners at the same place, to the last bit, become one vertex.

    MuJoCo reads at most 200,000 triangles, so no more are read here. Vertices are in the order of the file.
    """
    corners = stl_corners(where, data, as_mujoco=True).reshape(-1, 3)
    if not 1 <= len(corners) // 3 <= _MOST:
        raise ModelError(
            f"{where}: the file has {len(corners) // 3:,} triangles; MuJoCo reads 1 to {_MOST:,}: simplify the mesh"
        )
    first, place = joined(corners.view(np.uint32))
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    vertices = corners[first[order]]
    far = np.abs(vertices).max(axis=1) > _FARTHEST
    if far.any():
        vertex = vertices[int(np.argmax(far))].tolist()
        raise ModelError(f"{where}: a corner is at {vertex}; MuJoCo reads coordinates up to 2^30")
    return checked(where, vertices, rank[place].reshape(-1, 3))


_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
"""Odd numbers whose bits look random."""

Indices = NDArray[np.int64]


def mixed(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for each row (n, 3) of whole numbers; those of different rows are hardly ever the same."""
    a, b, c = (rows[:, k].astype(np.uint64) * factor for k, factor in enumerate(_FACTORS))
    value: NDArray[np.uint64] = a ^ b ^ c
    return value


def joined(rows: NDArray[np.uint32]) -> tuple[Indices, Indices]:
    """Equal rows (n, 3) as one: the first of each (k,), in any order, and the place of each row among these (n,)."""
    # Sorting one integer per row is many times faster than sorting rows; that no two rows share one is checked.
    _, first, place = np.unique(mixed(rows), return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][place.reshape(-1)], rows):
        _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def welded(points: NDArray[Any]) -> tuple[Indices, Indices]:
    """Points (n, 3) at the same place, rounded to 32 bits, as one; the results are those of `joined`."""
    rounded = np.ascontiguousarray(points, dtype=np.float32) + np.float32(0.0)  # of two zeros, the positive one
    return joined(rounded.view(np.uint32))
