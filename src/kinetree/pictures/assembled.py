"""Surfaces put together as the arrays that the kernels read.

Source: L. Williams, "Pyramidal parametrics", SIGGRAPH 1983, for smaller images of distant surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance import Surface
from kinetree.appearance.srgb import linear_of
from kinetree.errors import OptionError, ShapeError
from kinetree.pictures.framing import corners_of
from kinetree.records import record

__all__ = ["ENCODED", "LINEAR", "Assembled", "assemble"]

LINEAR = linear_of(np.arange(256) / 255.0)
"""The amount of light of each byte."""
ENCODED = np.searchsorted(linear_of((np.arange(255) + 0.5) / 255.0), np.linspace(0.0, 1.0, 8192)).astype(np.uint8)
"""The byte of each amount of light, in equal steps from 0 to 1."""

_NEARER = 1e-3
"""Surfaces at one place, as far as this part of their distance, are seen in the order of their opacity, not of rounding
errors: the one that is least opaque is in front."""


@record(frozen=True, slots=True, eq=False)
class Assembled:
    """All surfaces; n vertices, m triangles, k parts."""

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    colors: NDArray[np.float64]
    """(n, 4), light and opacity."""
    uv: NDArray[np.float64]
    part_of: NDArray[np.int32]
    faces: NDArray[np.int32]
    """(m, 3), the opaque ones first, then those of each layer."""
    layers: tuple[tuple[int, int], ...]
    """First and last triangle of the opaque part, and of each layer."""
    parts: tuple[NDArray[np.int64], ...]
    """The parts of each of these."""
    shading: NDArray[np.int64]
    """The parts that have a shadow."""
    blinds: NDArray[np.int32]
    """(…, 3), their triangles that are opaque."""
    veils: NDArray[np.int32]
    """(…, 3), their triangles that can be seen through."""
    nearer: NDArray[np.float64]
    """(k,), from 1: how much nearer a part counts as being."""
    boxes: NDArray[np.float64]
    """(k, 8, 3), the corners of a box around each part."""
    textures: NDArray[np.int32]
    texels: NDArray[np.uint8]


def assemble(
    surfaces: Sequence[Surface], opacity: ArrayLike, layers: ArrayLike | None, shadows: ArrayLike
) -> Assembled:
    """Check the arguments, and put them together."""
    k = len(surfaces)
    opacities = _opacities(opacity, k)
    layer = _layers(layers, k)
    for i, surface in enumerate(surfaces):
        _check(surface, i)
    counts = [len(s.vertices) for s in surfaces]
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    least = opacities * [s.colors[:, 3].min(initial=255) / 255.0 for s in surfaces]

    def triangles_of(chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
        return _stacked([surfaces[i].faces + starts[i] for i in np.flatnonzero(chosen).tolist()], 3, np.int32)

    clear, is_seen, casts = least < 1.0, opacities > 0.0, _shadows(shadows, k)
    groups = [~clear, *(is_seen & clear & (layer == n) for n in np.unique(layer[is_seen & clear]))]
    faces = [triangles_of(group) for group in groups]
    ends = np.cumsum([0, *map(len, faces)]).tolist()
    colors = _stacked([s.colors for s in surfaces], 4, np.float64) / 255.0
    colors[:, :3] = linear_of(colors[:, :3])
    colors[:, 3] *= np.repeat(opacities, counts)
    textures, texels = _packed(surfaces)
    return Assembled(
        vertices=_stacked([s.vertices for s in surfaces], 3, np.float64),
        normals=_stacked([s.normals for s in surfaces], 3, np.float64),
        colors=colors,
        uv=_stacked(
            [np.zeros((n, 2)) if s.uv is None else s.uv for s, n in zip(surfaces, counts, strict=True)], 2, np.float64
        ),
        part_of=np.repeat(np.arange(k, dtype=np.int32), counts),
        faces=_stacked(faces, 3, np.int32),
        layers=tuple(pairwise(ends)),
        parts=tuple(map(np.flatnonzero, groups)),
        shading=np.flatnonzero(is_seen & casts),
        blinds=triangles_of(casts & ~clear),
        veils=triangles_of(is_seen & casts & clear),
        nearer=1.0 + _NEARER * (1.0 - least),
        boxes=np.array([_box(s.vertices) for s in surfaces]).reshape(k, 8, 3),
        textures=textures,
        texels=texels,
    )


def _stacked(arrays: list[Any], columns: int, dtype: type) -> NDArray[Any]:
    if not arrays:
        return np.zeros((0, columns), dtype)
    return np.ascontiguousarray(np.concatenate(arrays), dtype=dtype).reshape(-1, columns)


def _box(vertices: NDArray[np.float32]) -> NDArray[np.float64]:
    if len(vertices) == 0:
        return np.full((8, 3), np.nan)
    return corners_of(vertices.min(axis=0).astype(np.float64), vertices.max(axis=0).astype(np.float64))


def _check(surface: Surface, i: int) -> None:
    n = len(surface.vertices)
    for name, array, shape in (
        ("vertices", surface.vertices, (n, 3)),
        ("normals", surface.normals, (n, 3)),
        ("colors", surface.colors, (n, 4)),
        ("faces", surface.faces, (len(surface.faces), 3)),
    ):
        if array.shape != shape:
            raise ShapeError(f"surface {i}: {name} must have shape {shape}, not {array.shape}")
    if len(surface.faces) and not (surface.faces.min() >= 0 and surface.faces.max() < n):
        raise ShapeError(f"surface {i}: its faces must name vertices from 0 to {n - 1}")


def _opacities(given: ArrayLike, k: int) -> NDArray[np.float64]:
    x = np.asarray(given, dtype=np.float64)
    if x.shape not in ((), (k,)):
        raise ShapeError(f"opacity must be a number, or one per surface: ({k},), not {x.shape}")
    if not ((x >= 0.0) & (x <= 1.0)).all():
        raise OptionError("opacity must be from 0 (not seen) to 1 (nothing is seen through it)")
    return np.broadcast_to(x, (k,))


def _shadows(given: ArrayLike, k: int) -> NDArray[np.bool_]:
    x = np.asarray(given)
    if x.shape not in ((), (k,)) or x.dtype.kind != "b":
        raise ShapeError(f"shadows must be True, False, or one per surface: ({k},), not {x.dtype} of shape {x.shape}")
    return np.broadcast_to(x, (k,))


def _layers(given: ArrayLike | None, k: int) -> NDArray[np.int64]:
    x = np.arange(k) if given is None else np.asarray(given)
    if x.shape != (k,) or (k and x.dtype.kind not in "iu"):
        raise ShapeError(f"layers must be one whole number per surface: ({k},), not {x.dtype} of shape {x.shape}")
    return x.astype(np.int64)


def _packed(surfaces: Sequence[Surface]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The image of each surface in `texels` (…, 3), as `shade` wants them.

    Returns:
        (k, 4): where an image begins, its width and height, and how many follow it, each half as large; 0 for a
        surface without one. And `texels`.
    """
    rows, texels, start = np.zeros((len(surfaces), 4), np.int32), [np.zeros((1, 3), np.uint8)], 1
    placed: dict[int, tuple[int, int, int, int]] = {}  # several surfaces may share one
    for i, surface in enumerate(surfaces):
        texture = surface.texture
        if texture is None or surface.uv is None or texture.size == 0:
            continue
        if id(texture) not in placed:
            images = _halves(texture[..., :3])
            height, width = texture.shape[:2]
            placed[id(texture)] = (start, width, height, len(images) - 1)
            texels += [image.reshape(-1, 3) for image in images]
            start += sum(image.size // 3 for image in images)
        rows[i] = placed[id(texture)]
    return rows, np.ascontiguousarray(np.concatenate(texels))


def _halves(image: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """An image, and smaller ones until one has one row or column; means are those of the light."""
    images, light = [image], LINEAR.astype(np.float32)[image]
    while min(light.shape[:2]) > 1:
        height, width = light.shape[0] // 2, light.shape[1] // 2
        light = light[: 2 * height, : 2 * width].reshape(height, 2, width, 2, 3).mean(axis=(1, 3))
        images.append(ENCODED[np.rint(light * (len(ENCODED) - 1)).astype(np.intp)])
    return images
