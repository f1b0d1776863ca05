"""Mesh files by their format, and those of STL and MSH as pieces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.formats.dae import read_dae
from kinetree.appearance.formats.others import OTHERS, read_other
from kinetree.appearance.formats.piece import Indices, Piece, checked, color_bytes, fans, joined_corners
from kinetree.errors import KinetreeError, ModelError
from kinetree.records import record
from kinetree.solids.meshes import FORMATS, ObjFile, mixed, numbers_in, read_msh, stl_corners, welded

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
    suffix = FORMATS.get(content_type) or path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ModelError(f"{path}: meshes are read from {', '.join(SUFFIXES)} files; convert this one")
    return suffix


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
    except (ValueError, OverflowError, IndexError) as error:  # numbers that do not fit together, or are not numbers
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
    triangles = np.concatenate(kept)
    triangles = triangles[_first_of_each(triangles)]
    cells, faces = np.unique(triangles, return_inverse=True)
    middles = np.stack([cells // _CELLS**2, cells // _CELLS % _CELLS, cells % _CELLS], axis=1) + 0.5
    return Piece(low + middles * (size / _CELLS), faces.reshape(-1, 3), left_out=len(corners) - len(triangles))


def _first_of_each(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row (n, 3) of cells occurs first; two with the same mixture, which is unlikely, count as one."""
    return np.unique(mixed(rows), return_index=True)[1]


_MOST_IN_LIBRARIES = 16 * 2**20
"""Bytes of all material libraries of a file, each read once; one has thousands."""


@record(slots=True)
class Material:
    """The part of an entry of a material library that is used."""

    color: tuple[float, ...] | None = None
    opacity: float = 1.0
    image: str | None = None


def read_obj(
    where: object, data: bytes, companion: Callable[[str], bytes | None], *, first_only: bool = False
) -> list[Piece]:
    """The triangles of an OBJ file, one piece per material.

    Args:
        where: the file, for messages.
        data: its content.
        companion: the content of a file that is named in it; None if it is missing.
        first_only: whether the faces after those of the first object or group with some are left out.
    """
    file = ObjFile(where, data.replace(b"\\\n", b" "))
    if not len(file.of(b"v")):
        raise ModelError(f"{where}: the file has no vertices; is it another format?")
    numbers, uv, normals = file.table(b"v", 6), file.table(b"vt", 2), file.table(b"vn", 3)
    vertices, colors = numbers[:, :3], color_bytes(numbers[:, 3:]) if numbers.shape[1] == 6 else None
    faces = file.faces(3, first_only=first_only)
    for column, table in zip(faces.corners.T, (vertices, uv, normals), strict=True):
        bad = column >= len(table)
        if table is vertices:
            bad |= column < 0
        file.refuse(bad, faces.lines, faces.sizes, f"a face names a vertex that does not exist; there are {len(table)}")
    materials = _libraries(where, file, companion)
    names, owner = _groups(file, faces.lines)
    order = np.argsort(owner, kind="stable")
    corner_order = np.argsort(np.repeat(owner, faces.sizes), kind="stable")
    owner, sizes = owner[order], faces.sizes[order]
    # They are in the order of their groups, so the vertices and the triangles of each follow one another.
    (group, *used), place = joined_corners([np.repeat(owner, sizes), *faces.corners[corner_order].T])
    begins = np.searchsorted(group, np.arange(len(names) + 1))
    triangles = np.bincount(owner, sizes - 2, len(names)).astype(np.int64)
    corners = place[fans(sizes)] - np.repeat(begins[:-1], triangles)[:, None]
    pieces, face = [], 0
    for name, first, end, count in zip(names, begins.tolist(), begins[1:].tolist(), triangles.tolist(), strict=False):
        vertex, texel, normal = (column[first:end] for column in used)
        material = materials.get(name, Material())
        pieces.append(
            Piece(
                vertices[vertex],
                corners[face : face + count],
                normals=normals[normal] if len(normals) and (normal >= 0).all() else None,
                uv=uv[texel] if len(uv) and (texel >= 0).all() else None,
                colors=None if colors is None else colors[vertex],
                color=None if material.color is None else (*material.color, material.opacity),
                image=material.image,
            )
        )
        face += count
    return pieces


def _groups(file: ObjFile, faces: Indices) -> tuple[list[str], Indices]:
    """The materials of faces, in the order in which they are first used, and which of them each face has."""
    lines = file.of(b"usemtl")
    known: dict[str, int] = {"": 0}
    number = np.array([0, *(known.setdefault(_name(file.rest(k, b"usemtl")), len(known)) for k in lines.tolist())])
    owner = number[np.searchsorted(lines, faces)]
    used, first, place = np.unique(owner, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(used), np.int64)
    rank[order] = np.arange(len(used))
    names = list(known)
    return [names[used[k]] for k in order.tolist()], rank[place.reshape(-1)]


def _libraries(where: object, file: ObjFile, companion: Callable[[str], bytes | None]) -> dict[str, Material]:
    """The materials of all libraries that a file names."""
    materials: dict[str, Material] = {}
    room = _MOST_IN_LIBRARIES
    for name in dict.fromkeys(file.rest(k, b"mtllib") for k in file.of(b"mtllib").tolist()):
        data = companion(_name(name)) or b""
        room -= len(data)
        if room < 0:
            raise ModelError(f"{where}: its material libraries have more than {_MOST_IN_LIBRARIES >> 20} MiB")
        materials |= _materials(where, data)
    return materials


def _name(word: bytes) -> str:
    return word.decode("utf-8", "replace")


def _materials(where: object, data: bytes) -> dict[str, Material]:
    materials: dict[str, Material] = {}
    current = Material()
    for line in data.splitlines():
        word, _, rest = line.strip().partition(b" ")
        if word == b"newmtl":
            current = materials.setdefault(_name(rest.strip()), Material())
        elif word == b"Kd":
            given = rest.split()[:3]
            current.color = tuple(numbers_in(where, b" ".join(given)).tolist()) if len(given) == 3 else None
        elif word == b"d":
            current.opacity = float(numbers_in(where, (rest.split() or [b"1"])[-1])[0])
        elif word == b"map_Kd":
            # A name may have blanks in it, unless options come before it.
            name = rest.strip()
            current.image = _name(name.rpartition(b" ")[2] if name.startswith(b"-") else name)
    return materials
