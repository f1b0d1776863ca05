"""Mesh files by their format, with a limit on their size."""

from __future__ import annotations

from pathlib import Path

from kinetree.errors import ModelError
from kinetree.io.document import shown
from kinetree.io.mjcf.asset_files import read_asset
from kinetree.io.mjcf.meshes.msh import read_msh
from kinetree.io.mjcf.meshes.obj import read_obj
from kinetree.io.mjcf.meshes.stl import read_stl
from kinetree.io.mjcf.meshes.triangles import Triangles

__all__ = ["read_mesh"]

_READERS = {"stl": read_stl, "obj": read_obj, "msh": read_msh}
_TYPES = {"model/stl": "stl", "model/obj": "obj", "model/vnd.mujoco.msh": "msh"}


def read_mesh(path: Path, content_type: str = "") -> Triangles:
    """Read a mesh file as MuJoCo does: binary STL, OBJ or MSH; no other file is opened.

    Args:
        path: the file, which the caller has found to be inside the folders that may be read.
        content_type: the attribute of that name, which overrides the ending of the file's name.

    Raises:
        ModelError: if the file cannot be read, is too large, or does not contain a mesh.
    """
    if content_type and content_type not in _TYPES:
        raise ModelError(
            f'{path}: content_type="{shown(content_type)}" is not one of MuJoCo\'s: {", ".join(map(repr, _TYPES))}'
        )
    name = _TYPES.get(content_type) or path.suffix[1:].lower()
    reader = _READERS.get(name)
    if reader is None:
        raise ModelError(
            f"{path}: MuJoCo reads meshes from STL, OBJ and MSH files, not from {shown(path.suffix) or 'this one'!r}; "
            "convert the file, or name its format by content_type"
        )
    data = read_asset(path, "mesh")
    if not data:
        raise ModelError(f"{path}: the file is empty")
    return reader(path, data)
