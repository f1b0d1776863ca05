"""From the pieces of a mesh file to one surface: fewer triangles, normals, colours, images as colours of vertices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.atlas import Painted, atlas
from kinetree.appearance.decimation import decimated
from kinetree.appearance.file_mesh import FileMesh
from kinetree.appearance.formats import Piece
from kinetree.appearance.images import Image, colors_at, decoded, refined
from kinetree.appearance.looks import WHITE, color_of
from kinetree.appearance.normals import creased, face_normals, unit
from kinetree.errors import KinetreeError, MissingPackageError, ModelError
from kinetree.records import record
from kinetree.solids.meshes import welded

__all__ = ["assembled"]

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
    is_bare = np.concatenate([one.is_bare for one in parts])
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
        if (found := atlas(painted)) is not None:
            return found
    places = [one.uv for one in parts if one.uv is not None and one.image is None]
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

    found: Indices = cKDTree(points).query(others)[1]
    return found


def _sound(vertices: Floats, faces: Indices) -> Indices:
    """The faces with three corners at different places, unless that is none."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    is_whole = (a != b).any(axis=1) & (b != c).any(axis=1) & (c != a).any(axis=1)
    return faces[is_whole] if is_whole.any() else faces


def _is_usable(vertices: Floats, faces: Indices, normals: Floats) -> bool:
    """Whether normals of a file are on the side from which the faces are counter-clockwise, mostly."""
    if not np.isfinite(normals).all() or not (np.abs(normals).max(axis=1) > 1e-12).all():
        return False
    agrees = np.einsum("ij,ij->i", face_normals(vertices, faces), normals[faces].sum(axis=1)) > 0.0
    return bool(agrees.mean() > 0.9)
