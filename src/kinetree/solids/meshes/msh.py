"""MuJoCo's own MSH files: four sizes, then vertices, normals, texture coordinates and faces."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ModelError
from kinetree.solids.meshes.triangles import Triangles, check_size, checked

__all__ = ["read_msh"]

_HEADER = 16


def read_msh(where: object, data: bytes) -> Triangles:
    """The vertices and faces of an MSH file; normals and texture coordinates are only counted."""
    if len(data) < _HEADER:
        raise ModelError(f"{where}: the file is {len(data)} bytes long, shorter than an MSH file's header")
    vertices, normals, textures, faces = (int(x) for x in np.frombuffer(data, "<i4", 4))
    if min(vertices, normals, textures, faces) < 0 or normals not in (0, vertices) or textures not in (0, vertices):
        raise ModelError(
            f"{where}: an MSH file's header cannot say {vertices} vertices, {normals} normals, {textures} texture "
            f"coordinates and {faces} faces; the second and third are 0 or as many as the first: is it an MSH file?"
        )
    needed = _HEADER + 12 * (vertices + normals + faces) + 8 * textures
    if len(data) != needed:
        raise ModelError(
            f"{where}: by its header, this MSH file has {needed:,} bytes, but it is {len(data):,} long; is it cut off?"
        )
    check_size(where, vertices, faces)
    points = np.frombuffer(data, "<f4", 3 * vertices, _HEADER).astype(np.float32).reshape(-1, 3)
    at = _HEADER + 12 * (vertices + normals) + 8 * textures
    corners = np.frombuffer(data, "<i4", 3 * faces, at).astype(np.int64).reshape(-1, 3)
    return checked(where, points, corners)
