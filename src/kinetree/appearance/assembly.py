"""From the pieces of a mesh file to one surface: fewer triangles, normals, colours, images as colours of vertices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.atlas import Painted, atlas
from kinetree.appearance.decimation import decimated
from kinetree.appearance.file_mesh import FileMesh
from kinetree.appearance.formats import Piece
from kinetree.appearance.images import Image, colors_at, decoded, refined
from kinetree.appearance.normals import creased, face_normals, welded
from kinetree.appearance.palette import color_of
from kinetree.errors import KinetreeError, MissingPackageError

__all__ = ["assembled"]

_HUGE = 1_000_000
"""Triangles from which it is said that fewer are drawn."""
_LARGEST_FINE = 12_000
"""Triangles that a mesh with an image may be refined to."""
_WHITE = (255, 255, 255, 255)


def assembled(pieces: Sequence[Piece], companion: Callable[[str], bytes | None], most: int) -> FileMesh:
    """The surface of all pieces, with about `most` triangles or fewer."""
    total = sum(len(piece.faces) for piece in pieces)
    in_file = total + sum(piece.left_out for piece in pieces)
    remarks: dict[str, bool] = {}
    images: dict[Any, Image | None] = {}
    done = []
    for piece in pieces:
        if piece.uv is not None and not np.isfinite(piece.uv).all():
            remarks["its places in images are not all finite numbers; it is drawn without images: export it again"] = (
                False
            )
            piece = replace(piece, uv=None, image=None)
        share = most if total <= most else max(16, round(most * len(piece.faces) / total))
        image = _image(piece, companion, images, remarks)
        done.append(_surface(piece, image, share, most))
    if in_file > _HUGE:
        count = sum(len(one["faces"]) for one in done)
        remarks[f"the mesh has {in_file:,} triangles; it is drawn with {count:,}: simplify it to be drawn as it is"] = (
            False
        )
    firsts = np.cumsum([0, *(len(one["vertices"]) for one in done[:-1])])
    faces = np.concatenate([one["faces"] + first for one, first in zip(done, firsts, strict=True)])
    joined = {
        name: np.concatenate([one[name] for one in done]) for name in ("vertices", "normals", "colors", "is_bare")
    }
    uv = texture = None
    painted = [Painted(one["colors"], one["uv"] if one["image"] is not None else None, one["image"]) for one in done]
    # A part without a colour gets one of its robot's file, which cannot be in the image.
    if (found := None if joined["is_bare"].any() else atlas(painted)) is not None:
        uv, texture = found[0].astype(np.float32), found[1]
    elif all(one["uv"] is not None and one["image"] is None for one in done):
        uv = np.concatenate([one["uv"] for one in done]).astype(np.float32)
    return FileMesh(
        joined["vertices"].astype(np.float32), faces.astype(np.int32), joined["normals"].astype(np.float32),
        joined["colors"], joined["is_bare"], uv, texture, tuple(remarks),
        is_provisional=any(remarks.values()),
    )  # fmt: skip


def _image(
    piece: Piece, companion: Callable[[str], bytes | None], images: dict[Any, Image | None], remarks: dict[str, bool]
) -> Image | None:
    if piece.image is None or piece.uv is None:
        return None
    if not isinstance(piece.image, str):
        return piece.image
    if piece.image not in images:
        images[piece.image] = None
        data = companion(piece.image)
        try:
            if data is None:
                remarks[
                    f"its image {piece.image!r} is not in the mesh's package; it is drawn without: put the file there"
                ] = False
            else:
                images[piece.image] = decoded(piece.image, data)
        except KinetreeError as error:
            remarks[f"it is drawn without its image: {error}"] = isinstance(error, MissingPackageError)
    return images[piece.image]


def _surface(piece: Piece, image: Image | None, share: int, most: int) -> dict[str, Any]:
    vertices, faces, normals = piece.vertices, piece.faces, piece.normals
    uv, colors = piece.uv, piece.colors
    if len(faces) > share:
        first, place = welded(vertices)
        kept, faces = decimated(vertices[first], place[faces], share)
        if colors is not None or uv is not None:
            near = _nearest(vertices, kept)
            colors = None if colors is None else colors[near]
            uv = None if uv is None else uv[near]
        vertices, normals = kept, None
    faces = _sound(vertices, faces)
    if normals is None or not _is_usable(vertices, faces, normals):
        source, faces, normals = creased(vertices, faces, welded(vertices)[1])
        vertices = vertices[source]
        colors = None if colors is None else colors[source]
        uv = None if uv is None else uv[source]
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    if image is not None and uv is not None:
        room = max(len(faces), min(most, _LARGEST_FINE))
        numbers, faces = refined(image, np.concatenate([vertices, normals, uv], axis=1), faces, room)
        vertices, normals, uv = numbers[:, :3], numbers[:, 3:6], numbers[:, 6:]
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        colors = colors_at(image, uv)
    own = colors if colors is not None else np.tile(np.array(_of(piece), np.uint8), (len(vertices), 1))
    is_bare = np.full(len(vertices), colors is None and piece.color is None)
    return {
        "vertices": vertices, "faces": faces, "normals": normals, "colors": own, "is_bare": is_bare, "uv": uv,
        "image": image,
    }  # fmt: skip


def _of(piece: Piece) -> Sequence[int]:
    return _WHITE if piece.color is None else color_of(piece.color)


def _nearest(points: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.int64]:
    """The point that is nearest to each of the others."""
    from scipy.spatial import cKDTree

    found: NDArray[np.int64] = cKDTree(points).query(others)[1]
    return found


def _sound(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """The faces with three corners at different places, unless that is none."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    is_whole = (a != b).any(axis=1) & (b != c).any(axis=1) & (c != a).any(axis=1)
    return faces[is_whole] if is_whole.any() else faces


def _is_usable(vertices: NDArray[np.float64], faces: NDArray[np.int64], normals: NDArray[np.float64]) -> bool:
    """Whether normals of a file are on the side from which the faces are counter-clockwise, mostly."""
    if not np.isfinite(normals).all() or not (np.abs(normals).max(axis=1) > 1e-12).all():
        return False
    agrees = np.einsum("ij,ij->i", face_normals(vertices, faces), normals[faces].sum(axis=1)) > 0.0
    return bool(agrees.mean() > 0.9)
