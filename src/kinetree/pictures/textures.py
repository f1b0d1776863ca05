"""The images of surfaces as one array, with smaller ones of each for what is far away.

Source: L. Williams, "Pyramidal parametrics", SIGGRAPH 1983.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance import Surface
from kinetree.pictures.srgb import ENCODED, LINEAR

__all__ = ["packed"]

Bytes = NDArray[np.uint8]


def packed(surfaces: Sequence[Surface]) -> tuple[NDArray[np.int32], Bytes]:
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


def _halves(image: Bytes) -> list[Bytes]:
    """An image, and smaller ones until one has one row or column; means are those of the light."""
    found, light = [image], LINEAR.astype(np.float32)[image]
    while min(light.shape[:2]) > 1:
        height, width = light.shape[0] // 2, light.shape[1] // 2
        light = light[: 2 * height, : 2 * width].reshape(height, 2, width, 2, 3).mean(axis=(1, 3))
        found.append(ENCODED[np.rint(light * (len(ENCODED) - 1)).astype(np.intp)])
    return found
