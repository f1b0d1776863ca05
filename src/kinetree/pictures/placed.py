"""Surfaces where they are: their vertices, their triangles in the picture, and in which order they are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.helper_threads import on_threads
from kinetree.display import Size
from kinetree.pictures.assembled import Assembled
from kinetree.pictures.camera import Camera
from kinetree.pictures.kernels.triangles import Placed, place_vertices, set_up

__all__ = ["farthest_first", "pieces", "placed", "shading_corners", "triangles"]

Array = NDArray[np.float64]
_PIECE = 8192
"""Vertices or triangles that a thread takes at once."""
_FARTHEST = 1e9
"""Parts farther from the world's origin, in m, have diverged: they have no shadow."""


def placed(scene: Assembled, M: Array, matrix: Array, lamp: Array, threads: int | None) -> Placed:
    """The results of `place_vertices`, for all vertices; `matrix` is the camera's, for samples."""
    count = len(scene.vertices)
    result = Placed(*(np.empty((count, k)) for k in (3, 3, 4, 4)))

    def place(part: slice) -> None:
        place_vertices(
            scene.vertices, scene.normals, scene.part_of, M, scene.nearer, matrix, lamp, part.start, part.stop, result
        )  # fmt: skip

    on_threads(place, pieces(count, _PIECE), threads)
    return result


def triangles(
    faces: NDArray[np.int32], seen: Array, samples: Size, near: float, threads: int | None
) -> tuple[NDArray[np.int32], Array]:
    """The boxes and edges of triangles in a picture of this many samples; see `set_up`."""
    boxes, edges = np.empty((len(faces), 4), np.int32), np.empty((len(faces), 4, 3))

    def ready(part: slice) -> None:
        set_up(faces, seen, part.start, part.stop, *samples, near, boxes, edges)

    on_threads(ready, pieces(len(faces), _PIECE), threads)
    return boxes, edges


def shading_corners(scene: Assembled, M: Array) -> Array:
    """(n, 3): the corners of boxes around bodies with a shadow, where they are."""
    parts = scene.shading
    with np.errstate(invalid="ignore", over="ignore"):
        corners = scene.boxes[parts] @ M[parts, :3, :3].transpose(0, 2, 1) + M[parts, None, :3, 3]
    corners = corners.reshape(-1, 3)
    return corners[(np.abs(corners) < _FARTHEST).all(axis=1)]


def farthest_first(scene: Assembled, M: Array, camera: Camera) -> list[tuple[int, int]]:
    """The opaque part, then the layers by the depth of the middle of their parts."""
    depths = []
    for parts in scene.parts[1:]:
        middles = scene.boxes[parts].mean(axis=1)
        with np.errstate(invalid="ignore", over="ignore"):
            placed = (M[parts, :3, :3] @ middles[:, :, None])[..., 0] + M[parts, :3, 3]
        placed = placed[np.isfinite(placed).all(axis=1)]
        depths.append(float((placed.mean(axis=0) - camera.position) @ camera.axes()[2]) if len(placed) else 0.0)
    order = np.argsort([-depth for depth in depths], kind="stable")
    return [scene.layers[0], *(scene.layers[1 + k] for k in order)]


def pieces(count: int, size: int) -> list[slice]:
    return [slice(k, min(k + size, count)) for k in range(0, count, size)]
