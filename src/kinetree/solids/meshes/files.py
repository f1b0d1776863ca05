"""Mesh files by their format, with a limit on the size of the files that a robot file names."""

from __future__ import annotations

from pathlib import Path

from kinetree.errors import ModelError
from kinetree.files import read_regular, reason
from kinetree.solids.meshes.msh import read_msh
from kinetree.solids.meshes.obj import read_obj
from kinetree.solids.meshes.stl import read_stl
from kinetree.solids.meshes.triangles import Triangles

__all__ = ["FORMATS", "read_asset", "read_mesh"]

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
