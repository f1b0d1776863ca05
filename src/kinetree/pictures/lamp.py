"""The key light's own picture: the surfaces it reaches, and the shadow on the floor."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.helper_threads import on_threads
from kinetree.display import Size
from kinetree.pictures.assembled import Assembled
from kinetree.pictures.camera import Camera, half_height
from kinetree.pictures.kernels.shading import Shade, blur, shadow_of
from kinetree.pictures.kernels.triangles import find_nearest
from kinetree.pictures.placed import pieces, triangles
from kinetree.pictures.setting import Floor, Light

__all__ = ["SIDE", "floor_shadow", "lamp_matrix", "shade_of"]

Array = NDArray[np.float64]
Singles = NDArray[np.float32]
SIDE = 1024
"""Samples of the light's picture in each direction."""
_USED = 0.86
"""The part of its picture that the robot takes; the rest is for the blurred edge of the shadow."""
_REACH = 2.5
"""Half the width of its picture, at most, in halves of the longer side of the camera's view."""
_BLUR = 3
"""Radius of each of three blurs, in entries of the shadow's map."""
_NOTHING = -1e30
"""The nearness of points that the light does not see."""
_ABOVE = 1e-3
"""m: how far above the floor something must be to have a shadow there, so that a sheet on it does not flicker."""
_LOWEST = 0.05
"""The sine of the light's height above the floor from which on there are shadows."""
_BAND = 128


def lamp_matrix(light: Light, points: Array, camera: Camera, size: Size) -> Array:
    """(3, 4): from the world to column, row and nearness in the light's picture.

    It has all these points (n, 3) in it, as far as they are near the camera's target: a terrain is larger.

    Sizes are rounded up to a few, and places to whole samples, so that the shadow's edge is at rest in a film.
    """
    toward = np.array(light.direction)
    across = np.cross(toward, np.eye(3)[np.argmin(np.abs(toward))])
    across /= np.linalg.norm(across)
    axes = np.array([across, np.cross(toward, across), toward])
    if len(points) == 0:
        points = np.zeros((1, 3))
    projected = points @ axes[:2].T
    low, high = projected.min(axis=0), projected.max(axis=0)
    target = axes[:2] @ camera.target
    reach = _REACH * half_height(camera) * max(1.0, size[0] / size[1])
    if (low < target + reach).all() and (high > target - reach).all():
        low, high = np.maximum(low, target - reach), np.minimum(high, target + reach)
    extent = max(float((high - low).max()), 1e-6)
    scale = SIDE * _USED / 2.0 ** (math.ceil(4.0 * math.log2(extent)) / 4.0)
    start = 0.5 * SIDE - np.round(0.5 * scale * (low + high))
    return np.column_stack((axes * np.array([[scale], [scale], [1.0]]), (*start, 0.0)))


def shade_of(scene: Assembled, lit: Array, threads: int | None) -> Shade:
    """The light's view of all triangles; `lit` is as of `place_vertices`."""
    depths, _ = _light_picture(scene.blinds, lit, threads)
    if not len(scene.veils):
        nothing = np.full((1, 1), _NOTHING, np.float32)
        return Shade(depths, nothing, nothing)
    veil, numbers = _light_picture(scene.veils, lit, threads)
    alpha = scene.colors[scene.veils, 3].mean(axis=1)
    return Shade(depths, veil, np.where(numbers >= 0, alpha[numbers], 0.0).astype(np.float32))


def _light_picture(faces: NDArray[np.int32], lit: Array, threads: int | None) -> tuple[Singles, NDArray[np.int32]]:
    """(SIDE, SIDE): the nearness of the triangles that the light sees, and which these are; -1 for none."""
    boxes, edges = triangles(faces, lit, (SIDE, SIDE), 0.5, threads)
    nearness = np.full((SIDE, SIDE), _NOTHING, np.float32)
    numbers = np.full((SIDE, SIDE), -1, np.int32)

    def draw(rows: slice) -> None:
        find_nearest(boxes, edges, 0, len(faces), rows.start, rows.stop, math.inf, nearness[rows], numbers[rows])

    on_threads(draw, pieces(SIDE, _BAND), threads)
    return nearness, numbers


def floor_shadow(floor: Floor, lamp: Array, shade: Shade) -> Array:
    """(SIDE/2, SIDE/2): the part of the light that the floor does not get, where the light's picture shows it."""
    shadow = np.zeros((SIDE // 2, SIDE // 2))
    normal = np.array(floor.normal)
    scale = float(np.linalg.norm(lamp[0, :3]))
    across, along = lamp[0, :3] / scale, lamp[1, :3] / scale
    facing = float(normal @ lamp[2, :3])
    if facing < _LOWEST:
        return shadow
    # A point of the floor is height·normal = (p·across) across + (p·along) along + nearness·toward, times normal.
    a, b = -float(normal @ across) / facing / scale, -float(normal @ along) / facing / scale
    level = np.array([a, b, floor.height / facing - a * lamp[0, 3] - b * lamp[1, 3] + _ABOVE])
    shadow_of(shade, level, shadow)
    totals, between = np.empty(len(shadow)), np.empty_like(shadow)
    for _ in range(3):
        blur(shadow, _BLUR, totals, between)
    return shadow
