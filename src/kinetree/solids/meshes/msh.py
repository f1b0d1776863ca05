"""MuJoCo's own MSH files: four sizes, then vertices, normals, texture coordinates and faces."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ModelError
from kinetree.solids.meshes.triangles import Triangles, check_size, checked

__all__ = ["read_msh"]

_HEADER = 16


def read_msh(where: object, data: bytes) -> Triangles:
    """The mesh of an MSH file, with the normals and the places in images that it has."""
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
    at, rows = _HEADER, []
    for kind, count, width in (("<f4", vertices, 3), ("<f4", normals, 3), ("<f4", textures, 2), ("<i4", faces, 3)):
        rows.append(np.frombuffer(data, kind, count * width, at).reshape(-1, width))
        at += 4 * count * width
    points, directions, uv, corners = rows
    return checked(
        where,
        points.astype(np.float32),
        corners.astype(np.int64),
        normals=directions.astype(np.float64) if normals else None,
        uv=np.stack([uv[:, 0], 1.0 - uv[:, 1].astype(np.float64)], axis=1) if textures else None,
    )
