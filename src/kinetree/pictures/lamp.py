"""The key light's own picture: what it reaches, and the shadow on the floor."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.threads import on_threads
from kinetree.pictures.kernels.shadow import blur, shadow_of
from kinetree.pictures.kernels.triangles import find_nearest, set_up
from kinetree.pictures.setting import Floor, Light

__all__ = ["SIDE", "floor_shadow", "lamp_matrix", "light_picture"]

Array = NDArray[np.float64]
SIDE = 1024
"""Samples of the light's picture in each direction."""
_USED = 0.86
"""The part of its picture that the robot takes; the rest is for the blurred edge of the shadow."""
_BLUR = 3
"""Radius of each of three blurs, in entries of the shadow's map."""
_NOTHING = -1e30
_BAND = 128


def lamp_matrix(light: Light, points: Array) -> Array:
    """(3, 4): from the world to column, row and nearness in the light's picture, which has all these points in it.

    Sizes are rounded up to a few, and places to whole samples, so that the shadow's edge is at rest in a film.
    """
    toward = np.array(light.direction)
    across = np.cross(toward, np.eye(3)[np.argmin(np.abs(toward))])
    across /= np.linalg.norm(across)
    axes = np.array([across, np.cross(toward, across), toward])
    if len(points) == 0:
        points = np.zeros((1, 3))
    seen = points @ axes[:2].T
    low, high = seen.min(axis=0), seen.max(axis=0)
    extent = max(float((high - low).max()), 1e-6)
    scale = SIDE * _USED / 2.0 ** (math.ceil(4.0 * math.log2(extent)) / 4.0)
    start = 0.5 * SIDE - np.round(0.5 * scale * (low + high))
    return np.column_stack((axes * np.array([[scale], [scale], [1.0]]), (*start, 0.0)))


def light_picture(faces: NDArray[np.int32], last: int, lit: Array, threads: int | None) -> NDArray[np.float32]:
    """(SIDE, SIDE): the nearness of what the light sees of the first triangles."""
    boxes, edges = np.empty((last, 4), np.int32), np.empty((last, 4, 3))
    nearness = np.full((SIDE, SIDE), _NOTHING, np.float32)
    found = np.empty((SIDE, SIDE), np.int32)
    pieces = [slice(k, min(k + 8192, last)) for k in range(0, last, 8192)]
    on_threads(lambda p: set_up(faces, lit, p.start, p.stop, SIDE, SIDE, 0.5, boxes, edges), pieces, threads)

    def draw(rows: slice) -> None:
        find_nearest(boxes, edges, 0, last, rows.start, rows.stop, math.inf, nearness[rows], found[rows])

    on_threads(draw, [slice(k, k + _BAND) for k in range(0, SIDE, _BAND)], threads)
    return nearness


def floor_shadow(floor: Floor, lamp: Array, nearness: NDArray[np.float32]) -> Array:
    """(SIDE/2, SIDE/2): the part of the light that the floor does not get, where the light's picture shows it."""
    shadow = np.zeros((SIDE // 2, SIDE // 2))
    normal = np.array(floor.normal)
    scale = float(np.linalg.norm(lamp[0, :3]))
    across, along = lamp[0, :3] / scale, lamp[1, :3] / scale
    facing = float(normal @ lamp[2, :3])
    if facing < 0.05:  # the light comes from below
        return shadow
    # A point of the floor is height·normal = (p·across) across + (p·along) along + nearness·toward, times normal.
    a, b = -float(normal @ across) / facing / scale, -float(normal @ along) / facing / scale
    level = np.array([a, b, floor.height / facing - a * lamp[0, 3] - b * lamp[1, 3] + 1e-3])
    shadow_of(nearness, level, shadow)
    totals, between = np.empty(len(shadow)), np.empty_like(shadow)
    for _ in range(3):
        blur(shadow, _BLUR, totals, between)
    return shadow
