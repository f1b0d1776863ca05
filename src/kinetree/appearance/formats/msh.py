"""MuJoCo's own MSH files, with their normals and texture coordinates."""

from __future__ import annotations

import numpy as np

from kinetree.appearance.formats.piece import Piece
from kinetree.solids.meshes.msh import read_msh as read_triangles

__all__ = ["read_msh"]

_HEADER = 16


def read_msh(where: object, data: bytes) -> list[Piece]:
    """The triangles of an MSH file."""
    mesh = read_triangles(where, data)
    vertices, normals, textures, _ = (int(x) for x in np.frombuffer(data, "<i4", 4))
    at = _HEADER + 12 * vertices
    directions = np.frombuffer(data, "<f4", 3 * normals, at).reshape(-1, 3).astype(np.float64)
    uv = np.frombuffer(data, "<f4", 2 * textures, at + 12 * normals).reshape(-1, 2).astype(np.float64)
    if len(uv):
        uv[:, 1] = 1.0 - uv[:, 1]
    return [Piece(mesh.vertices, mesh.faces, directions if normals else None, uv if textures else None)]
