"""The faces of a convex hull: triangles whose normals hardly differ, as one polygon.

MuJoCo rounds the two polar angles of each normal to hundredths of a radian, in the mesh's own frame, and joins
neighbours for which both are the same.

Source: by experiment with MuJoCo 4.0: the polygons of its compiled meshes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["hull_faces"]

_STEP = 0.01
"""rad"""
_POLE = 1.0 - 1e-7
"""Beyond this |z|, a normal has no azimuth."""

Edge = tuple[int, int]


def hull_faces(vertices: NDArray[np.float64], triangles: NDArray[np.int64]) -> list[list[int]]:
    """The corners of each face of a hull, counter-clockwise seen from outside.

    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0.5, 1.0]])
    >>> triangles = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    >>> hull_faces(corners, triangles)
    [[0, 3, 2, 1], [0, 1, 4], [1, 2, 4], [2, 3, 4], [0, 4, 3]]
    """
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    directions = [_direction(n / length) if length > 0.0 else None for n, length in zip(normals, lengths, strict=True)]
    corners = [tuple(int(k) for k in triangle) for triangle in triangles]
    owner = {edge: k for k, triangle in enumerate(corners) for edge in _edges(triangle)}
    seen: set[int] = set()
    found = []
    for first in range(len(corners)):
        if first in seen or directions[first] is None:
            continue
        joined = [first]
        seen.add(first)
        for k in joined:
            for start, end in _edges(corners[k]):
                other = owner.get((end, start))
                if other is not None and other not in seen and directions[other] == directions[first]:
                    seen.add(other)
                    joined.append(other)
        inside = {edge for k in joined for edge in _edges(corners[k])}
        found.append(_around({start: end for start, end in inside if (end, start) not in inside}))
    return found


def _direction(normal: NDArray[np.float64]) -> tuple[float, float]:
    x, y, z = (normal + 0.0).tolist()  # no negative zeros, whose azimuth is -π
    if abs(z) > _POLE:
        return 0.0, 0.0 if z > 0.0 else round(np.pi / _STEP)
    return round(np.arctan2(y, x) / _STEP), round(np.arccos(z) / _STEP)


def _edges(corners: Sequence[int]) -> list[Edge]:
    return list(zip(corners, (*corners[1:], corners[0]), strict=True))


def _around(following: dict[int, int]) -> list[int]:
    """The corners in their order, from the first one."""
    path = [min(following)]
    for _ in following:
        corner = following[path[-1]]
        if corner == path[0]:
            break
        path.append(corner)
    return path
