"""The floor as the picture sees it: its coordinates at each pixel, its grid, and where it fades."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.srgb import linear_of
from kinetree.display import Size
from kinetree.pictures.camera import Camera, half_height
from kinetree.pictures.setting import Floor

__all__ = ["FloorView", "floor_view"]

_FADES, _GONE = 2.5, 9.0
"""Radii of the floor, as parts of half the picture's height at the camera's target."""
_LINES = 5.0
"""Lines of the grid, about, in that length."""

Array = NDArray[np.float64]
FloorView = tuple[Array, Array, Array, Array]
"""`plane`, `disc`, `colors` and `to_shadow` of `kernels/backdrop.py`."""


def floor_view(floor: Floor | None, camera: Camera, size: Size, lamp: Array) -> FloorView:
    """The kernel's view of the floor. It depends on the camera but not on the robot, so the grid rests in a film."""
    nothing = np.zeros((3, 3)), np.zeros(5), np.zeros((2, 3)), np.zeros((2, 3))
    if floor is None:
        return nothing
    normal, eye, target = np.array(floor.normal), np.array(camera.position), np.array(camera.target)
    above = float(normal @ eye) - floor.height
    if above <= 0.0:  # the floor is not seen from below
        return nothing
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    if abs(normal[2]) > 0.999:  # a level floor has the world's axes
        first = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
        first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    # A pixel's ray for depth 1 is rays·(column, row, 1); it meets the floor at the depth −above/(normal·ray).
    rays = np.linalg.inv(camera.matrix(size)[:, :3])
    nearness = -(normal @ rays) / above
    plane = np.array(
        [nearness, first @ rays + float(first @ eye) * nearness, second @ rays + float(second @ eye) * nearness]
    )
    half = half_height(camera)
    disc = np.array([first @ target, second @ target, _FADES * half, _GONE * half, _round(half / _LINES)])
    to_world = np.array([first, second, floor.height * normal]).T
    to_shadow = 0.5 * (lamp[:2, :3] @ to_world + np.column_stack((np.zeros((2, 2)), lamp[:2, 3])))
    return plane, disc, linear_of([floor.color, floor.lines]), to_shadow


def _round(x: float) -> float:
    """The nearest of 1, 2, 5, 10, … times a power of ten, from below."""
    power = 10.0 ** math.floor(math.log10(x))
    return power * max(n for n in (1.0, 2.0, 5.0) if n <= x / power * (1.0 + 1e-9))
