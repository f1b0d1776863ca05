"""Mesh files by their format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinetree.appearance.formats.dae import read_dae
from kinetree.appearance.formats.msh import read_msh
from kinetree.appearance.formats.obj import read_obj
from kinetree.appearance.formats.others import OTHERS, read_other
from kinetree.appearance.formats.piece import Piece, checked
from kinetree.appearance.formats.stl import read_stl
from kinetree.errors import KinetreeError, ModelError

__all__ = ["SUFFIXES", "format_of", "read_pieces"]

SUFFIXES = (".stl", ".obj", ".dae", ".msh", *OTHERS)
"""The endings of files that are read."""
_TYPES = {"model/stl": ".stl", "model/obj": ".obj", "model/vnd.mujoco.msh": ".msh"}


def format_of(path: Path, content_type: str = "") -> str:
    """The format of a mesh file, as the ending that names of such files have.

    Args:
        path: the file.
        content_type: the attribute of MJCF, which overrides the ending of the file's name.

    Raises:
        ModelError: if files of this format are not read.
    """
    found = _TYPES.get(content_type) or path.suffix.lower()
    if found not in SUFFIXES:
        raise ModelError(f"{path}: meshes are read from {', '.join(SUFFIXES)} files; convert this one")
    return found


def read_pieces(
    kind: str, path: Path, data: bytes, companion: Callable[[str], bytes | None], *, first_only: bool = False
) -> list[Piece]:
    """The triangles of a mesh file with its colours.

    Args:
        kind: its format, by `format_of`.
        path: the file.
        data: its content.
        companion: the content of a file that is named in it; None if there is none that may be opened.
        first_only: whether an OBJ file ends with its first object or group that has faces.

    Raises:
        ModelError: if the file is not one of its format.
        MissingPackageError: for a format that trimesh reads, if that is not installed.
    """
    if not data:
        raise ModelError(f"{path}: the file is empty; put the mesh there")
    try:
        with np.errstate(all="ignore"):
            return checked(path, _read(kind, path, data, companion, first_only=first_only))
    except KinetreeError:
        raise
    except (ValueError, OverflowError, IndexError) as error:  # numbers that do not fit together, or are none
        raise ModelError(f"{path}: the file is damaged ({error}); export the mesh again") from None


def _read(
    kind: str, path: Path, data: bytes, companion: Callable[[str], bytes | None], *, first_only: bool
) -> list[Piece]:
    if kind == ".stl":
        return read_stl(path, data)
    if kind == ".obj":
        return read_obj(path, data, companion, first_only=first_only)
    if kind == ".dae":
        return read_dae(path, data)
    if kind == ".msh":
        return read_msh(path, data)
    return read_other(path, kind, data, companion)
