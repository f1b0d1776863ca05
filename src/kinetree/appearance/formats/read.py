"""Mesh files by their format, and those of STL and MSH as pieces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.formats.dae import read_dae
from kinetree.appearance.formats.obj import read_obj
from kinetree.appearance.formats.others import OTHERS, read_other
from kinetree.appearance.formats.piece import Piece, checked
from kinetree.errors import KinetreeError, ModelError
from kinetree.solids.meshes import FORMATS, mixed, read_msh, stl_corners, welded

__all__ = ["SUFFIXES", "format_of", "read_pieces"]

SUFFIXES = (".stl", ".obj", ".dae", ".msh", *OTHERS)
"""The endings of files that are read."""
_MANY = 2_000_000
"""Triangles of an STL file from which corners in the same cell of a grid become one, so that memory suffices."""
_CELLS = 320
_AT_ONCE = 500_000


def format_of(path: Path, content_type: str = "") -> str:
    """The format of a mesh file, as the ending that names of such files have.

    Args:
        path: the file.
        content_type: the attribute of MJCF, which overrides the ending of the file's name.

    Raises:
        ModelError: if files of this format are not read.
    """
    found = FORMATS.get(content_type) or path.suffix.lower()
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
        companion: the content of a file that is named in it; None if it is missing or may not be opened.
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
        corners = stl_corners(path, data)
        if len(corners) > _MANY:
            return [_coarse(corners)]
        corners = corners.reshape(-1, 3)
        first, place = welded(corners)
        return [Piece(corners[first].astype(np.float64), place.reshape(-1, 3))]
    if kind == ".obj":
        return read_obj(path, data, companion, first_only=first_only)
    if kind == ".dae":
        return read_dae(path, data)
    if kind == ".msh":
        mesh = read_msh(path, data)
        return [Piece(mesh.vertices, mesh.faces, mesh.normals, mesh.uv)]
    return read_other(path, kind, data, companion)


def _coarse(corners: NDArray[np.float32]) -> Piece:
    """The triangles whose corners are in three cells of a grid, one of each kind; a cell's vertex is its middle."""
    parts = [corners[k : k + _AT_ONCE] for k in range(0, len(corners), _AT_ONCE)]
    with np.errstate(all="ignore"):
        low = np.min([part.min(axis=(0, 1)) for part in parts], axis=0).astype(np.float64)
        high = np.max([part.max(axis=(0, 1)) for part in parts], axis=0).astype(np.float64)
    size = float((high - low).max()) or 1.0
    kept = []
    for part in parts:
        cell = np.clip((part - low) * (_CELLS / size), 0, _CELLS - 1).astype(np.int64)
        key = (cell[..., 0] * _CELLS + cell[..., 1]) * _CELLS + cell[..., 2]
        first = key.argmin(axis=1)[:, None]
        key = np.take_along_axis(key, (first + np.arange(3)) % 3, axis=1)  # the same order for each that is the same
        key = key[(key[:, 0] != key[:, 1]) & (key[:, 1] != key[:, 2]) & (key[:, 2] != key[:, 0])]
        kept.append(key[_first_of_each(key)])
    found = np.concatenate(kept)
    found = found[_first_of_each(found)]
    cells, faces = np.unique(found, return_inverse=True)
    middles = np.stack([cells // _CELLS**2, cells // _CELLS % _CELLS, cells % _CELLS], axis=1) + 0.5
    return Piece(low + middles * (size / _CELLS), faces.reshape(-1, 3), left_out=len(corners) - len(found))


def _first_of_each(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row (n, 3) of cells occurs first; two with the same mixture, which is unlikely, count as one."""
    return np.unique(mixed(rows), return_index=True)[1]
