"""Surfaces to draw."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.appearance import Surface

RED, GREEN = (220, 40, 30, 255), (30, 160, 60, 255)


def flat(corners: ArrayLike, color: tuple[int, int, int, int] = RED) -> Surface:
    """Triangles (m, 3, 3) that share no vertex, with their own normals."""
    x = np.asarray(corners, dtype=np.float32).reshape(-1, 3, 3)
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]).astype(np.float64)
    with np.errstate(invalid="ignore"):
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    n = 3 * len(x)
    return Surface(
        x.reshape(n, 3),
        np.arange(n, dtype=np.int32).reshape(-1, 3),
        np.repeat(normals, 3, axis=0).astype(np.float32),
        np.tile(np.array(color, np.uint8), (n, 1)),
    )


def square(y: float = 0.0, half: float = 1.0, color: tuple[int, int, int, int] = RED) -> Surface:
    """Two triangles across the y axis, which a camera that looks along y sees from the front."""
    corners = half * np.array([(-1, y / half, -1), (1, y / half, -1), (1, y / half, 1), (-1, y / half, 1)])
    return flat(corners[[[0, 1, 2], [0, 2, 3]]], color)


def ball(radius: float = 1.0, n: int = 8, color: tuple[int, int, int, int] = RED) -> Surface:
    """A ball with smooth normals around the origin."""
    across, around = np.meshgrid(np.linspace(0, np.pi, n + 1), np.linspace(0, 2 * np.pi, 2 * n + 1), indexing="ij")
    points = np.stack(
        (np.sin(across) * np.cos(around), np.sin(across) * np.sin(around), np.cos(across)), axis=-1
    ).reshape(-1, 3)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(2 * n), indexing="ij"))
    a, b = i * (2 * n + 1) + j, (i + 1) * (2 * n + 1) + j
    faces = np.concatenate((np.column_stack((a, b, b + 1)), np.column_stack((a, b + 1, a + 1))))
    return Surface(
        (radius * points).astype(np.float32),
        faces.astype(np.int32),
        points.astype(np.float32),
        np.tile(np.array(color, np.uint8), (len(points), 1)),
    )


def at(*places: ArrayLike) -> NDArray[np.float64]:
    """(k, 4, 4): placements without rotation."""
    placements = np.tile(np.eye(4), (len(places), 1, 1))
    placements[:, :3, 3] = np.asarray(places)
    return placements
