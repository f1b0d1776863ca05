"""From the pieces of a mesh file to one surface: fewer triangles, normals, colours, images as colours of vertices.

One image for a mesh whose parts have several, or colours as well as images: an atlas.

Each image has a cell of a grid, with its edge repeated around it, so that colours between pixels at its edge are its
own; each colour has a small square below the grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.decimation import decimated
from kinetree.appearance.file_mesh import FileMesh
from kinetree.appearance.formats import Piece
from kinetree.appearance.images import Image, colors_at, decoded, refined, smaller
from kinetree.appearance.looks import WHITE, color_of
from kinetree.appearance.normals import creased, face_normals, unit
from kinetree.errors import KinetreeError, MissingPackageError, ModelError
from kinetree.records import record
from kinetree.solids.meshes import welded

__all__ = ["Painted", "assembled", "atlas"]

_HUGE = 1_000_000
"""Triangles from which it is said that fewer are drawn."""
_MANY = 256
"""Parts of a mesh that are drawn one by one, and images of one mesh."""
_LARGEST_FINE = 12_000
"""Triangles that a mesh with an image may be refined to."""
_NOT_FINITE = "its places in images are not all finite numbers; it is drawn without images: export it again"

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Companion = Callable[[str], bytes | None]


@record(frozen=True, slots=True, eq=False)
class _Part:
    """A piece of a file, ready to be drawn; the arrays are those of `FileMesh`."""

    vertices: Floats
    faces: Indices
    normals: Floats
    colors: NDArray[np.uint8]
    is_bare: NDArray[np.bool_]
    uv: Floats | None
    image: Image | None


def assembled(pieces: Sequence[Piece], companion: Companion, most: int) -> FileMesh:
    """The surface of all pieces, with about `most` triangles or fewer."""
    pieces = _gathered(pieces)
    total = sum(len(piece.faces) for piece in pieces)
    images = _Images(companion)
    remarks, parts = [], []
    for piece in pieces:
        if piece.uv is not None and not np.isfinite(piece.uv).all():
            remarks.append(_NOT_FINITE)
            piece = replace(piece, uv=None, image=None)
        share = most if total <= most else max(16, round(most * len(piece.faces) / total))
        parts.append(_part(piece, images.of(piece), share, most))
    faces = _stacked_faces(parts)
    in_file = total + sum(piece.left_out for piece in pieces)
    if in_file > _HUGE:
        remarks.append(
            f"the mesh has {in_file:,} triangles; it is drawn with {len(faces):,}: simplify it to be drawn as it is"
        )
    is_bare = np.concatenate([part.is_bare for part in parts])
    uv, texture = _texture(parts, is_bare)
    return FileMesh(
        np.concatenate([one.vertices for one in parts]).astype(np.float32),
        faces.astype(np.int32),
        np.concatenate([one.normals for one in parts]).astype(np.float32),
        np.concatenate([one.colors for one in parts]),
        is_bare,
        None if uv is None else uv.astype(np.float32),
        texture,
        tuple(dict.fromkeys([*images.remarks, *remarks])),
        is_provisional=images.is_provisional,
    )


def _gathered(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """The pieces; of very many, those that have the same kind of colours and normals as one, since each costs time."""
    if len(pieces) <= _MANY:
        return pieces
    alike: dict[tuple[object, ...], list[Piece]] = {}
    for piece in pieces:
        image = piece.image if isinstance(piece.image, str | None) else id(piece.image)
        color = None if image is None else piece.color
        is_bare = piece.colors is None and piece.color is None
        key = image, color, is_bare, piece.normals is None, piece.uv is None
        alike.setdefault(key, []).append(piece)
    if len(alike) > _MANY:
        raise ModelError(
            f"the mesh has {len(pieces):,} parts with {len(alike):,} different images and colours; at most {_MANY:,} "
            "are drawn: simplify it"
        )
    return [_as_one(some) for some in alike.values()]


def _as_one(pieces: Sequence[Piece]) -> Piece:
    """Pieces that differ in nothing but their triangles and plain colours."""
    first, sizes = pieces[0], [len(piece.vertices) for piece in pieces]
    begins = np.repeat(np.cumsum([0, *sizes[:-1]]), [len(piece.faces) for piece in pieces])
    colors = None
    if first.colors is not None or (first.color is not None and first.image is None):
        colors = np.concatenate([
            np.tile(np.array(color_of(piece.color or (1.0,) * 4), np.uint8), (size, 1)) if piece.colors is None
            else piece.colors
            for piece, size in zip(pieces, sizes, strict=True)
        ])  # fmt: skip
    return Piece(
        np.concatenate([piece.vertices for piece in pieces]),
        np.concatenate([piece.faces for piece in pieces]) + begins[:, None],
        None if first.normals is None else np.concatenate([piece.normals for piece in pieces]),
        None if first.uv is None else np.concatenate([piece.uv for piece in pieces]),
        colors,
        first.color if colors is None else None,
        first.image,
        sum(piece.left_out for piece in pieces),
    )


class _Images:
    """The images that pieces name, each read once."""

    def __init__(self, companion: Companion) -> None:
        self._companion = companion
        self._known: dict[str, Image | None] = {}
        self.remarks: list[str] = []
        self.is_provisional = False
        """Whether one was not read because a package is missing."""

    def of(self, piece: Piece) -> Image | None:
        """The image of a piece, if it has one and says where it is."""
        if piece.image is None or piece.uv is None:
            return None
        if not isinstance(piece.image, str):
            return piece.image
        if piece.image not in self._known:
            self._known[piece.image] = self._read(piece.image)
        return self._known[piece.image]

    def _read(self, name: str) -> Image | None:
        try:
            data = self._companion(name)
            if data is not None:
                return decoded(name, data)
        except KinetreeError as error:
            self.remarks.append(f"it is drawn without its image: {error}")
            self.is_provisional |= isinstance(error, MissingPackageError)
        else:
            self.remarks.append(
                f"its image {name!r} is not in the mesh's package; it is drawn without: put the file there"
            )
        return None


def _part(piece: Piece, image: Image | None, share: int, most: int) -> _Part:
    """A piece with about `share` triangles or fewer; to show its image it may have more again."""
    if len(piece.faces) > share:
        piece = _fewer(piece, share)
    piece = replace(piece, faces=_sound(piece.vertices, piece.faces))
    normals = piece.normals
    if normals is None or not _is_usable(piece.vertices, piece.faces, normals):
        source, faces, normals = creased(piece.vertices, piece.faces, welded(piece.vertices)[1])
        piece = _taken(piece, piece.vertices[source], faces, source)
    vertices, faces, normals, uv, colors = piece.vertices, piece.faces, unit(normals), piece.uv, piece.colors
    if image is not None and uv is not None:
        room = max(len(faces), min(most, _LARGEST_FINE))
        numbers, faces = refined(image, np.concatenate([vertices, normals, uv], axis=1), faces, room)
        vertices, normals, uv = numbers[:, :3], unit(numbers[:, 3:6]), numbers[:, 6:]
        colors = colors_at(image, uv)
    is_bare = np.full(len(vertices), colors is None and piece.color is None)
    if colors is None:
        own = WHITE if piece.color is None else color_of(piece.color)
        colors = np.tile(np.array(own, np.uint8), (len(vertices), 1))
    return _Part(vertices, faces, normals, colors, is_bare, uv, image)


def _stacked_faces(parts: Sequence[_Part]) -> Indices:
    """The faces of all parts, whose vertices follow one another."""
    firsts = np.cumsum([0, *(len(one.vertices) for one in parts[:-1])])
    return np.concatenate([one.faces + first for one, first in zip(parts, firsts, strict=True)])


def _texture(parts: Sequence[_Part], is_bare: NDArray[np.bool_]) -> tuple[Floats | None, Image | None]:
    """Where the vertices are in the image of all parts, and that image; None for missing ones."""
    # A part without a colour gets one of its robot's file, which cannot be in the image.
    if not is_bare.any():
        painted = [Painted(one.colors, None if one.image is None else one.uv, one.image) for one in parts]
        if (placed := atlas(painted)) is not None:
            return placed
    places = [part.uv for part in parts if part.uv is not None and part.image is None]
    return (np.concatenate(places) if len(places) == len(parts) else None), None


def _fewer(piece: Piece, most: int) -> Piece:
    first, place = welded(piece.vertices)
    vertices, faces = decimated(piece.vertices[first], place[piece.faces], most)
    if not len(faces):  # of triangles that do not hang together, nothing may be left
        return replace(piece, faces=piece.faces[:: -(-len(piece.faces) // most)])
    if piece.colors is None and piece.uv is None:
        return replace(piece, vertices=vertices, faces=faces, normals=None)
    return _taken(piece, vertices, faces, _nearest(piece.vertices, vertices))


def _taken(piece: Piece, vertices: Floats, faces: Indices, source: Indices) -> Piece:
    """A piece with other triangles, whose vertices look like some of its own, and no normals."""
    uv = None if piece.uv is None else piece.uv[source]
    colors = None if piece.colors is None else piece.colors[source]
    return replace(piece, vertices=vertices, faces=faces, normals=None, uv=uv, colors=colors)


def _nearest(points: Floats, others: Floats) -> Indices:
    """The point that is nearest to each of the others."""
    from scipy.spatial import cKDTree

    nearest: Indices = cKDTree(points).query(others)[1]
    return nearest


def _sound(vertices: Floats, faces: Indices) -> Indices:
    """The faces with three corners at different places; all faces if there are none."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    is_whole = (a != b).any(axis=1) & (b != c).any(axis=1) & (c != a).any(axis=1)
    return faces[is_whole] if is_whole.any() else faces


def _is_usable(vertices: Floats, faces: Indices, normals: Floats) -> bool:
    """Whether normals of a file are on the side from which the faces are counter-clockwise, mostly."""
    if not np.isfinite(normals).all() or not (np.abs(normals).max(axis=1) > 1e-12).all():
        return False
    agrees = np.einsum("ij,ij->i", face_normals(vertices, faces), normals[faces].sum(axis=1)) > 0.0
    return bool(agrees.mean() > 0.9)


_LARGEST = 512
"""Rows and columns that are kept of an image."""
_TOGETHER = 1024
"""Rows and columns of all images of a mesh, about."""
_EDGE = 2
"""Pixels by which the edge of an image is repeated around it."""
_SQUARE = 4
"""Pixels of a side of the square of a colour."""
_OUTSIDE = 1e-3
"""How far places may be outside an image that is not repeated."""


@record(frozen=True, slots=True, eq=False)
class Painted:
    """The colours and image of a part of a mesh."""

    colors: NDArray[np.uint8]
    """(n, 4) of its vertices."""
    uv: Floats | None
    """(n, 2), from the lower left of the image."""
    image: Image | None


def atlas(parts: Sequence[Painted]) -> tuple[Floats, Image] | None:
    """The places of all vertices in one image, and the image.

    A single image is kept as it is, and may be repeated.

    Returns:
        None without images, if one of several is repeated, or if a part without one has several colours.
    """
    images = {id(one.image): one.image for one in parts if one.image is not None}
    if not images:
        return None
    if len(images) == 1 and all(one.uv is not None and one.image is not None for one in parts):
        (image,) = images.values()
        return np.concatenate([one.uv for one in parts if one.uv is not None]), smaller(image, _LARGEST)
    if not all(_fits(one) for one in parts):
        return None
    columns = math.ceil(math.sqrt(len(images)))
    cells = [smaller(image, min(_LARGEST, _TOGETHER // columns)) for image in images.values()]
    height, width = (max(cell.shape[k] for cell in cells) + 2 * _EDGE for k in (0, 1))
    colors = list(dict.fromkeys(tuple(one.colors[0].tolist()) for one in parts if one.image is None))
    in_row = columns * width // _SQUARE
    grid = -(-len(cells) // columns) * height
    sheet = np.zeros((grid + -(-len(colors) // in_row) * _SQUARE, columns * width, 4), np.uint8)
    corners = {}
    for k, (key, cell) in enumerate(zip(images, cells, strict=True)):
        y, x = k // columns * height, k % columns * width
        framed = np.pad(cell, ((_EDGE, _EDGE), (_EDGE, _EDGE), (0, 0)), mode="edge")
        sheet[y : y + framed.shape[0], x : x + framed.shape[1]] = framed
        corners[key] = x + _EDGE, y + _EDGE, cell.shape[1], cell.shape[0]
    squares = {}
    for k, color in enumerate(colors):
        y, x = grid + k // in_row * _SQUARE, k % in_row * _SQUARE
        sheet[y : y + _SQUARE, x : x + _SQUARE] = color
        squares[color] = x + _SQUARE / 2, y + _SQUARE / 2
    places = []
    for part in parts:
        if part.image is None or part.uv is None:
            pixels = np.tile(np.array(squares[tuple(part.colors[0].tolist())]), (len(part.colors), 1))
        else:
            left, top, across, down = corners[id(part.image)]
            u, v = np.clip(part.uv, 0.0, 1.0).T
            pixels = np.stack([left + u * across, top + (1.0 - v) * down], axis=1)
        places.append(np.stack([pixels[:, 0] / sheet.shape[1], 1.0 - pixels[:, 1] / sheet.shape[0]], axis=1))
    return np.concatenate(places), sheet


def _fits(one: Painted) -> bool:
    if one.image is None or one.uv is None:
        return bool((one.colors == one.colors[0]).all())
    return bool(one.uv.min() >= -_OUTSIDE and one.uv.max() <= 1.0 + _OUTSIDE)
