"""OBJ files, with the colours and images of their material libraries (MTL)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.appearance.formats.piece import Indices, Piece, color_bytes, fans, joined_corners
from kinetree.errors import ModelError
from kinetree.records import record
from kinetree.solids.meshes import ObjFile, numbers_in

__all__ = ["read_obj"]

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
    chosen = file.of(b"usemtl")
    known: dict[str, int] = {"": 0}
    number = np.array([0, *(known.setdefault(_name(file.rest(k, b"usemtl")), len(known)) for k in chosen.tolist())])
    owner = number[np.searchsorted(chosen, faces)]
    used, first, place = np.unique(owner, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(used), np.int64)
    rank[order] = np.arange(len(used))
    names = list(known)
    return [names[used[k]] for k in order.tolist()], rank[place.reshape(-1)]


def _libraries(where: object, file: ObjFile, companion: Callable[[str], bytes | None]) -> dict[str, Material]:
    """The materials of all libraries that a file names."""
    found: dict[str, Material] = {}
    room = _MOST_IN_LIBRARIES
    for name in dict.fromkeys(file.rest(k, b"mtllib") for k in file.of(b"mtllib").tolist()):
        data = companion(_name(name)) or b""
        room -= len(data)
        if room < 0:
            raise ModelError(f"{where}: its material libraries have more than {_MOST_IN_LIBRARIES >> 20} MiB")
        found |= _materials(where, data)
    return found


def _name(word: bytes) -> str:
    return word.decode("utf-8", "replace")


def _materials(where: object, data: bytes) -> dict[str, Material]:
    found: dict[str, Material] = {}
    current = Material()
    for line in data.splitlines():
        word, _, rest = line.strip().partition(b" ")
        if word == b"newmtl":
            current = found.setdefault(_name(rest.strip()), Material())
        elif word == b"Kd":
            given = rest.split()[:3]
            current.color = tuple(numbers_in(where, b" ".join(given)).tolist()) if len(given) == 3 else None
        elif word == b"d":
            current.opacity = float(numbers_in(where, (rest.split() or [b"1"])[-1])[0])
        elif word == b"map_Kd":
            # A name may have blanks in it, unless options come before it.
            name = rest.strip()
            current.image = _name(name.rpartition(b" ")[2] if name.startswith(b"-") else name)
    return found
