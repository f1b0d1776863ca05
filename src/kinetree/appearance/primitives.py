"""Simple shapes as triangles: their sizes are those of `Geometry`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.looks import Surface, colored

__all__ = ["PLANE", "primitive"]

PLANE = 20.0
"""Lengths of the piece that is shown of a plane that does not end, m."""
_AROUND = 32
"""Corners of a circle."""

Floats = NDArray[np.float64]
Triangles = tuple[Floats, NDArray[np.int64], Floats]
"""Vertices, faces, normals."""


@lru_cache(maxsize=1024)
def primitive(shape: str, size: tuple[float, ...], color: tuple[int, int, int, int], around: int = _AROUND) -> Surface:
    """The surface of a shape in one colour; equal ones are one object.

    Args:
        shape: "box", "cylinder", "sphere", "capsule", "cone", "ellipsoid" or "plane".
        size: its lengths in metres, as `Geometry.size` has them.
        color: red, green, blue, opacity, up to 255.
        around: corners of a circle, even.

    >>> primitive("box", (1.0, 2.0, 3.0), (200, 0, 0, 255)).faces.shape
    (12, 3)
    """
    return colored(*_made(shape, size, around), color)


def _made(shape: str, size: Sequence[float], around: int) -> Triangles:
    if shape == "box":
        return _box(size)
    if shape == "plane":
        return _plane(size)
    if shape == "sphere":
        return _turned([_arc(size[0], 0.0, 1.0, around)], around)
    if shape == "ellipsoid":
        return _stretched(_turned([_arc(1.0, 0.0, 1.0, around)], around), size)
    radius, half = size[0], 0.5 * size[1]
    if shape == "capsule":
        top, bottom = _arc(radius, 0.0, 0.5, around), _arc(radius, 0.5, 1.0, around)
        top[:, 1] += half
        bottom[:, 1] -= half
        return _turned([np.concatenate([top, bottom])], around)
    floor = [(radius, -half, 0.0, -1.0), (0.0, -half, 0.0, -1.0)]
    if shape == "cylinder":
        lid = [(0.0, half, 0.0, 1.0), (radius, half, 0.0, 1.0)]
        side = [(radius, half, 1.0, 0.0), (radius, -half, 1.0, 0.0)]
        return _turned([np.array(strip) for strip in (lid, side, floor)], around)
    if shape == "cone":
        slant = math.hypot(2.0 * half, radius) or 1.0
        out = 2.0 * half / slant, radius / slant
        return _turned([np.array([(0.0, half, *out), (radius, -half, *out)]), np.array(floor)], around)
    raise ValueError(f"no primitive is called {shape!r}")


def _arc(radius: float, start: float, end: float, around: int) -> Floats:
    """Part of a half circle from the top, as fractions of it: (r, z, and the normal's r and z)."""
    angle = math.pi * np.linspace(start, end, max(2, round(0.5 * around * (end - start)) + 1))
    r, z = np.sin(angle), np.cos(angle)
    r[np.abs(r) < 1e-12] = 0.0
    return np.stack([radius * r, radius * z, r, z], axis=1)


def _turned(strips: Sequence[Floats], around: int) -> Triangles:
    """Strips in the half plane y = 0, x > 0, each from the top down, turned about z."""
    angle = 2.0 * math.pi * np.arange(around) / around
    c, s = np.cos(angle), np.sin(angle)
    vertices: list[Floats] = []
    normals: list[Floats] = []
    faces = [np.zeros((0, 3), np.int64)]
    first = 0
    right = np.roll(np.arange(around), -1)
    for strip in strips:
        for values, (r, z) in ((vertices, strip[:, :2].T), (normals, strip[:, 2:].T)):
            rings = np.stack([np.outer(r, c), np.outer(r, s), np.repeat(z[:, None], around, axis=1)], axis=2)
            values.append(rings.reshape(-1, 3))
        for k in range(len(strip) - 1):
            upper, lower = first + k * around + np.arange(around), first + (k + 1) * around + np.arange(around)
            if strip[k + 1, 0] > 0.0:
                faces.append(np.stack([upper, lower, lower[right]], axis=1))
            if strip[k, 0] > 0.0:
                faces.append(np.stack([upper, lower[right], upper[right]], axis=1))
        first += len(strip) * around
    return np.concatenate(vertices), np.concatenate(faces), np.concatenate(normals)


def _stretched(unit: Triangles, axes: Sequence[float]) -> Triangles:
    vertices, faces, normals = unit
    factors = np.array(axes)
    if factors.all():
        normals = normals / factors
        normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return vertices * factors, faces, normals


def _box(size: Sequence[float]) -> Triangles:
    vertices: list[Floats] = []
    normals, faces = [], []
    half = 0.5 * np.array(size)
    square = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
    for axis in range(3):
        for side in (1.0, -1.0):
            along, across = ((axis + 1) % 3, (axis + 2) % 3) if side > 0.0 else ((axis + 2) % 3, (axis + 1) % 3)
            corners, normal = np.zeros((4, 3)), np.zeros(3)
            corners[:, (along, across)] = square
            corners[:, axis] = normal[axis] = side
            first = 4 * len(vertices)
            vertices.append(corners * half)
            normals.append(np.tile(normal, (4, 1)))
            faces.append(np.array([(0, 1, 2), (0, 2, 3)]) + first)
    return np.concatenate(vertices), np.concatenate(faces), np.concatenate(normals)


def _plane(size: Sequence[float]) -> Triangles:
    x, y = (0.5 * (length if math.isfinite(length) else PLANE) for length in size[:2])
    vertices = np.array([(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)])
    return vertices, np.array([(0, 1, 2), (0, 2, 3)]), np.tile([0.0, 0.0, 1.0], (4, 1))
