"""Binary STL files: triangles by their corners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.solids.meshes.triangles import Faces, Triangles, checked

__all__ = ["read_stl"]

_HEADER, _RECORD = 84, 50
_MOST = 200_000
_FARTHEST = 2.0**30
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(where: object, data: bytes) -> Triangles:
    """The triangles of a binary STL file; corners at the same place, to the last bit, become one vertex.

    MuJoCo reads no STL text and at most 200,000 triangles, so neither is read here.
    """
    count = int.from_bytes(data[80:_HEADER], "little", signed=True)
    if len(data) < _HEADER or len(data) != _HEADER + _RECORD * count:
        if data[:512].lstrip().lower().startswith(b"solid"):
            raise ModelError(f"{where}: this is a text STL file; MuJoCo reads binary ones: export it as binary STL")
        what = f"its header announces {count:,} triangles" if len(data) >= _HEADER else "it ends inside its header"
        raise ModelError(
            f"{where}: this is not a binary STL file: {what}, and it is {len(data):,} bytes long; export it again"
        )
    if not 1 <= count <= _MOST:
        raise ModelError(f"{where}: the file has {count:,} triangles; MuJoCo reads 1 to {_MOST:,}: simplify the mesh")
    facets = np.frombuffer(data, _FACET, count, _HEADER)
    corners = np.ascontiguousarray(facets["corners"]).reshape(-1, 3).astype(np.float32, copy=False)
    vertices, faces = _merged(corners)
    far = np.abs(vertices).max(axis=1) > _FARTHEST
    if far.any():
        shown = vertices[int(np.argmax(far))].tolist()
        raise ModelError(f"{where}: a corner is at {shown}; MuJoCo reads coordinates up to 2^30")
    return checked(where, vertices, faces)


def _merged(corners: NDArray[np.float32]) -> tuple[NDArray[np.float32], Faces]:
    """Vertices in the order in which they first occur, and the faces that use them."""
    bits = corners.view(np.uint32)
    # Sorting one integer per corner is many times faster than sorting rows; that no two rows share one is checked.
    x, y, z = (bits[:, k].astype(np.uint64) for k in range(3))
    key = (
        (x * np.uint64(0x9E3779B97F4A7C15)) ^ (y * np.uint64(0xC2B2AE3D27D4EB4F)) ^ (z * np.uint64(0x165667B19E3779F9))
    )
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(bits[first][place.reshape(-1)], bits):
        _, first, place = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return corners[first[order]], rank[place.reshape(-1)].reshape(-1, 3)
