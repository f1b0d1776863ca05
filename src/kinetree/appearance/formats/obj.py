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
    pieces = []
    for name, lines in groups.items():
        columns, faces = _faces(where, lines)
        used, place = joined_corners(columns)
        for column, table in zip(used, (vertices, uv, normals), strict=False):
            if column.max(initial=-1) >= len(table):
                raise ModelError(f"{where}: a face names a vertex that does not exist; export the mesh again")
        material = materials.get(name, Material())
        color = None if material.color is None else (*material.color, material.opacity)
        pieces.append(
            Piece(
                vertices[used[0]],
                place[faces],
                normals=normals[used[2]] if len(normals) and (used[2] >= 0).all() else None,
                uv=uv[used[1]] if len(uv) and (used[1] >= 0).all() else None,
                colors=None if colors is None else colors[used[0]],
                color=color,
                image=material.image,
            )
        )
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


def _faces(where: object, lines: list[bytes]) -> tuple[list[np.ndarray], np.ndarray]:
    """Indices per corner of vertices, uv and normals (-1 for none), from 0; and triangles of corners."""
    text = b" ".join(lines)
    sizes = np.array([len(line.split()) for line in lines], np.int64)
    corners = text.split()
    slashes = {corner.count(b"/") for corner in corners[:1]} | ({2} if b"//" in text else set())
    columns = [np.full(len(corners), -1, np.int64) for _ in range(3)]
    total = text.count(b"/")
    if b"//" not in text and len(slashes) == 1 and total == len(corners) * next(iter(slashes)):
        width = total // max(len(corners), 1) + 1
        table = numbers_in(where, text.replace(b"/", b" "), int).reshape(-1, width) if corners else columns[0][None]
        for k in range(min(width, 3)):
            columns[k] = table[:, k] - 1
    else:
        try:
            for k, corner in enumerate(corners):
                for j, word in enumerate(corner.split(b"/")[:3]):
                    columns[j][k] = int(word or 0) - 1
        except ValueError:
            raise ModelError(f"{where}: a face is not made of whole numbers; export the mesh again") from None
    if (columns[0] < 0).any():
        raise ModelError(f"{where}: a face names a vertex that does not exist; vertices are numbered from 1")
    return columns, fans(sizes)


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
