"""Pictures of surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance import Surface
from kinetree.errors import ShapeError
from kinetree.pictures.camera import Camera, Size, checked_size
from kinetree.pictures.setting import Background, Floor, Light

__all__ = ["Drawing", "draw"]

Picture = NDArray[np.uint8]


class Drawing:
    """Surfaces, made ready to be drawn at many placements."""

    def __init__(self, surfaces: Sequence[Surface], opacity: ArrayLike = 1.0, layers: ArrayLike | None = None) -> None:
        self._surfaces = list(surfaces)

    def __call__(
        self,
        placements: ArrayLike,
        camera: Camera,
        size: Size = (1280, 720),
        *,
        floor: Floor | None = None,
        light: Light | None = None,
        background: Background | None = None,
        supersampling: int = 2,
        threads: int | None = None,
    ) -> Picture:
        width, height = checked_size(size)
        light, background = light or Light(), background or Background()
        M = np.asarray(placements, dtype=np.float64)
        if M.shape != (len(self._surfaces), 4, 4):
            raise ShapeError(f"placements must have shape ({len(self._surfaces)}, 4, 4), not {M.shape}")
        shade = np.linspace(0, 1, height)[:, None, None]
        picture = np.broadcast_to(
            np.array(background.top) * (1 - shade) + np.array(background.bottom) * shade, (height, width, 3)
        ).copy()
        nearness = np.zeros((height, width))
        matrix = camera.matrix(size)
        to_light = np.array(light.direction) / np.linalg.norm(light.direction)
        for surface, m in zip(self._surfaces, M, strict=True):
            if not np.isfinite(m).all():
                continue
            world = surface.vertices @ m[:3, :3].T + m[:3, 3]
            seen = world @ matrix[:, :3].T + matrix[:, 3]
            lit = 0.45 + 0.55 * np.maximum(surface.normals @ m[:3, :3].T @ to_light, 0.0)
            colors = surface.colors[:, :3] / 255 * lit[:, None]
            for face in surface.faces:
                _fill(picture, nearness, seen[face], colors[face], camera.near)
        return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)


def _fill(picture: Any, nearness: Any, corners: Any, colors: Any, near: float) -> None:
    if not (corners[:, 2] > near).all():
        return
    xy = corners[:, :2] / corners[:, 2:]
    height, width = nearness.shape
    (x0, y0), (x1, y1) = np.floor(xy.min(0)), np.ceil(xy.max(0))
    x0, x1, y0, y1 = (int(np.clip(v, 0, n)) for v, n in ((x0, width), (x1, width), (y0, height), (y1, height)))
    if x0 >= x1 or y0 >= y1:
        return
    x, y = np.arange(x0, x1) + 0.5, np.arange(y0, y1)[:, None] + 0.5
    e = [
        (xy[k, 0] - xy[j, 0]) * (y - xy[j, 1]) - (xy[k, 1] - xy[j, 1]) * (x - xy[j, 0])
        for j, k in ((1, 2), (2, 0), (0, 1))
    ]
    area = e[0] + e[1] + e[2]
    inside = ((e[0] >= 0) & (e[1] >= 0) & (e[2] >= 0)) | ((e[0] <= 0) & (e[1] <= 0) & (e[2] <= 0))
    with np.errstate(all="ignore"):
        inverse = sum(e[k] / area / corners[k, 2] for k in range(3))
        box = np.s_[y0:y1, x0:x1]
        seen = inside & (area != 0) & (inverse > nearness[box])
        color = sum((e[k] / area)[..., None] * colors[k] for k in range(3))
    nearness[box][seen] = inverse[seen]
    picture[box][seen] = color[seen]


def draw(
    surfaces: Sequence[Surface],
    placements: ArrayLike,
    camera: Camera,
    size: Size = (1280, 720),
    *,
    opacity: ArrayLike = 1.0,
    layers: ArrayLike | None = None,
    floor: Floor | None = None,
    light: Light | None = None,
    background: Background | None = None,
    supersampling: int = 2,
    threads: int | None = None,
) -> Picture:
    """A picture of surfaces at their placements.

    Args:
        surfaces: k of them.
        placements: (k, 4, 4), in the world's axes; a surface whose placement is not finite is left out.
        camera: where the picture is taken from; see `framing`.
        size: width and height, pixels.
        opacity: scalar or (k,), from 0 to 1; multiplies that of the surfaces' colors.
        layers: (k,) whole numbers, which surfaces that can be seen through are one body: of these the nearest is seen.
        floor: the plane below, or None.
        light: the lights.
        background: what is behind.
        supersampling: number of samples per pixel in each direction.
        threads: number of threads; None as for functions of batches.

    Returns:
        (height, width, 3), red, green and blue (sRGB).
    """
    drawing = Drawing(surfaces, opacity, layers)
    return drawing(
        placements,
        camera,
        size,
        floor=floor,
        light=light,
        background=background,
        supersampling=supersampling,
        threads=threads,
    )
