"""Mesh files by their format, with a limit on the size of the files that a robot file names."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinetree.errors import ModelError
from kinetree.files import read_regular, reason
from kinetree.solids.meshes.obj import read_obj
from kinetree.solids.meshes.stl import read_stl
from kinetree.solids.meshes.triangles import Triangles, check_size, checked

__all__ = ["FORMATS", "read_asset", "read_mesh", "read_msh"]

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


MAX_BYTES = 64 * 2**20
FORMATS = {"model/stl": ".stl", "model/obj": ".obj", "model/vnd.mujoco.msh": ".msh"}
"""The formats that MuJoCo reads, as the endings of files, by the attribute `content_type`."""
_READERS = {".stl": read_stl, ".obj": read_obj, ".msh": read_msh}


def read_mesh(path: Path, content_type: str = "") -> Triangles:
    """Read a mesh file as MuJoCo does: binary STL, OBJ or MSH; no other file is opened.

    Args:
        path: the file, which the caller has found to be inside the folders that may be read.
        content_type: the attribute of that name, which overrides the ending of the file's name.

    Raises:
        ModelError: if the file cannot be read, is too large, or does not contain a mesh.
    """
    if content_type and content_type not in FORMATS:
        raise ModelError(
            f"{path}: content_type={content_type!r} is not one of MuJoCo's: {', '.join(map(repr, FORMATS))}"
        )
    reader = _READERS.get(FORMATS.get(content_type) or path.suffix.lower())
    if reader is None:
        raise ModelError(
            f"{path}: MuJoCo reads meshes from STL, OBJ and MSH files, not from {path.suffix or 'this one'!r}; "
            "convert the file, or name its format by content_type"
        )
    data = read_asset(path, "mesh")
    if not data:
        raise ModelError(f"{path}: the file is empty")
    return reader(path, data)


def read_asset(path: Path, what: str) -> bytes:
    """Read a file, `what` says which kind of asset it is in messages; a `ModelError` says why it cannot be read."""
    try:
        return read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: the {what} cannot be read: {reason(error)}") from None
