"""OBJ files, with the colours and images of their material libraries (MTL)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.appearance.formats.piece import Piece, color_bytes, fans, joined_corners, numbers_in
from kinetree.errors import ModelError
from kinetree.records import record

__all__ = ["read_obj"]

_MOST_IN_LIBRARIES = 16 * 2**20
"""Bytes of all material libraries of a file, of which each is read once; one has thousands."""


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
        companion: the content of a file that is named in it; None if there is none.
        first_only: whether the faces after those of the first object or group with some are left out.
    """
    tables: dict[bytes, list[bytes]] = {b"v": [], b"vt": [], b"vn": []}
    groups: dict[str, list[bytes]] = {}
    materials: dict[str, Material] = {}
    libraries: set[bytes] = set()
    current, ends, room = "", False, _MOST_IN_LIBRARIES
    for line in data.replace(b"\\\n", b" ").splitlines():
        word, _, rest = line.strip().partition(b" ")
        if word in tables:
            tables[word].append(rest)
        elif word == b"f":
            if ends:
                continue
            groups.setdefault(current, []).append(rest)
            if b"-" in rest:
                now = len(tables[b"v"]), len(tables[b"vt"]), len(tables[b"vn"])
                groups[current][-1] = _counted(where, rest, now)
        elif first_only and groups and word in (b"o", b"g"):
            ends = True
        elif word == b"usemtl":
            current = rest.strip().decode("utf-8", "replace")
        elif word == b"mtllib" and rest not in libraries:
            libraries.add(rest)
            found = companion(rest.strip().decode("utf-8", "replace")) or b""
            room -= len(found)
            if room < 0:
                raise ModelError(f"{where}: its material libraries have more than {_MOST_IN_LIBRARIES >> 20} MiB")
            materials |= _materials(where, found)
    vertices, colors = _vertices(where, tables[b"v"])
    uv = _table(where, tables[b"vt"], 2)
    normals = _table(where, tables[b"vn"], 3)
    counts = np.array([len(lines) for lines in groups.values()], np.int64)
    sizes, columns = _corners(where, [line for lines in groups.values() for line in lines])
    for column, table in zip(columns, (vertices, uv, normals), strict=True):
        if column.max(initial=-1) >= len(table):
            raise ModelError(f"{where}: a face names a vertex that does not exist; export the mesh again")
    owner = np.repeat(np.arange(len(groups)), counts)
    # They are in the order of their groups, so the vertices and the triangles of each follow one another.
    (group, *used), place = joined_corners([np.repeat(owner, sizes), *columns])
    begins = np.searchsorted(group, np.arange(len(groups) + 1))
    triangles = np.bincount(owner, np.maximum(sizes - 2, 0), len(groups)).astype(np.int64)
    faces = place[fans(sizes)] - np.repeat(begins[:-1], triangles)[:, None]
    pieces, face = [], 0
    for name, first, end, count in zip(groups, begins.tolist(), begins[1:].tolist(), triangles.tolist(), strict=False):
        vertex, texel, normal = (column[first:end] for column in used)
        material = materials.get(name, Material())
        pieces.append(
            Piece(
                vertices[vertex],
                faces[face : face + count],
                normals=normals[normal] if len(normals) and (normal >= 0).all() else None,
                uv=uv[texel] if len(uv) and (texel >= 0).all() else None,
                colors=None if colors is None else colors[vertex],
                color=None if material.color is None else (*material.color, material.opacity),
                image=material.image,
            )
        )
        face += count
    return pieces


def _counted(where: object, rest: bytes, now: tuple[int, int, int]) -> bytes:
    """A face whose negative indices, which count back from the last one read, are replaced."""
    corners = []
    try:
        for corner in rest.split():
            numbers = [(int(word) if word else 0) for word in corner.split(b"/")]
            corners.append(
                b"/".join(
                    b"%d" % (number + count + 1 if number < 0 else number) if number else b""
                    for number, count in zip(numbers, now, strict=False)
                )
            )
    except ValueError:
        raise ModelError(
            f"{where}: a face is not made of whole numbers: {rest[:60]!r}; export the mesh again"
        ) from None
    return b" ".join(corners)


def _vertices(where: object, lines: list[bytes]) -> tuple[np.ndarray, np.ndarray | None]:
    """Coordinates, and colours if each vertex has some."""
    if not lines:
        raise ModelError(f"{where}: the file has no vertices; is it another format?")
    width = len(lines[0].split())
    numbers = numbers_in(where, b" ".join(lines))
    if len(numbers) != width * len(lines) or width < 3:
        numbers = numbers_in(where, b" ".join(b" ".join((line + b" nan nan nan").split()[:3]) for line in lines))
        width = 3
    table = numbers.reshape(len(lines), width)
    return table[:, :3].copy(), color_bytes(table[:, 3:6]) if width >= 6 else None


def _table(where: object, lines: list[bytes], width: int) -> np.ndarray:
    given = b" ".join(b" ".join((line + b" 0 0 0").split()[:width]) for line in lines)
    return numbers_in(where, given).reshape(-1, width)


def _corners(where: object, lines: list[bytes]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The number of corners of each face; per corner the indices of vertices, uv and normals, -1 for none, from 0."""
    text = b" ".join(lines)
    sizes = np.array([len(line.split()) for line in lines], np.int64)
    corners = text.split()
    slashes = text.count(b"/")
    width, rest = divmod(slashes, max(len(corners), 1))
    is_even = not rest and b"//" not in text and all(corner.count(b"/") == width for corner in corners)
    if not is_even:
        width = 2
        text = b" ".join(word or b"0" for corner in corners for word in (*corner.split(b"/"), b"0", b"0")[:3])
    table = numbers_in(where, text.replace(b"/", b" "), int).reshape(-1, width + 1) - 1
    if (table[:, 0] < 0).any():
        raise ModelError(f"{where}: a face names a vertex that does not exist; vertices are numbered from 1")
    none = np.full(len(table), -1, np.int64)
    return sizes, [table[:, k] if k <= width else none for k in range(3)]


def _materials(where: object, data: bytes) -> dict[str, Material]:
    found: dict[str, Material] = {}
    current = Material()
    for line in data.splitlines():
        word, _, rest = line.strip().partition(b" ")
        if word == b"newmtl":
            current = found.setdefault(rest.strip().decode("utf-8", "replace"), Material())
        elif word == b"Kd":
            given = rest.split()[:3]
            current.color = tuple(numbers_in(where, b" ".join(given)).tolist()) if len(given) == 3 else None
        elif word == b"d":
            current.opacity = float(numbers_in(where, (rest.split() or [b"1"])[-1])[0])
        elif word == b"map_Kd":
            # A name may have blanks in it, unless options come before it.
            name = rest.strip()
            current.image = (name.rpartition(b" ")[2] if name.startswith(b"-") else name).decode("utf-8", "replace")
    return found
