"""Meshes that MuJoCo makes from parameters instead of reading them: `<mesh builtin="…" params="…"/>`.

Coordinates are rounded to 32 bits, and the order of the operations before is MuJoCo's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError, nearest_names
from kinetree.records import record
from kinetree.solids.meshes.triangles import Faces, Triangles, checked

__all__ = ["builtin_mesh"]

_Floats = NDArray[np.float64]
_Mesh = tuple[NDArray[np.float32], Faces]
_MOST_RINGS = 500


@record(frozen=True, slots=True)
class _Kind:
    make: Callable[..., _Mesh]
    parameters: tuple[str, ...]
    """The names of the parameters, those of whole numbers first."""
    whole: int
    ranges: tuple[tuple[float, float], ...]
    """The smallest and the largest value of each."""


def builtin_mesh(where: object, kind: str, parameters: Sequence[float]) -> tuple[Triangles, bool]:
    """The mesh that `builtin` and `params` describe, and whether it is a shell regardless of its attribute `inertia`.

    Raises:
        ModelError: for parameters that MuJoCo rejects, and for the kinds that it makes from flexible bodies.
    """
    if kind in _FLEXIBLE:
        raise ModelError(
            f'{where}: builtin="{kind}" makes the mesh of a flexible body, which kinetree does not read; write it as '
            "vertices and faces, as MuJoCo does when it saves the model"
        )
    entry = _KINDS.get(kind)
    if entry is None:
        raise ModelError(f"{where}: builtin={kind!r} is not a mesh that MuJoCo makes; {nearest_names(kind, _KINDS)}")
    names = entry.parameters
    if len(parameters) != len(names):
        raise ModelError(
            f'{where}: builtin="{kind}" takes {len(names)} parameters, {", ".join(names)}; params has {len(parameters)}'
        )
    for name, value, (low, high) in zip(names, parameters, entry.ranges, strict=True):
        if not (low <= value <= high and math.isfinite(value)):
            allowed = f"from {low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"
            raise ModelError(f'{where}: the parameter {name} of builtin="{kind}" is {value:g}; it must be {allowed}')
    values = [int(x) if k < entry.whole else float(x) for k, x in enumerate(parameters)]
    vertices, faces = entry.make(*values)
    return checked(where, vertices, faces), kind == "plate"


def _sphere(subdivisions: int) -> _Mesh:
    """An icosahedron whose faces are divided into four, again and again."""
    phi = np.float32((1.0 + math.sqrt(5.0)) / 2.0)
    corners = np.array(
        [[-1, phi, 0], [1, phi, 0], [-1, -phi, 0], [1, -phi, 0], [0, -1, phi], [0, 1, phi],
         [0, -1, -phi], [0, 1, -phi], [phi, 0, -1], [phi, 0, 1], [-phi, 0, -1], [-phi, 0, 1]], np.float32
    )  # fmt: skip
    norm = float(np.sqrt(np.float64(1.0 + float(np.float32(phi * phi)))))
    vertices = [*(corners.astype(np.float64) / norm).astype(np.float32)]
    faces = [
        (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
        (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7),
        (9, 8, 1),
    ]  # fmt: skip
    for _ in range(subdivisions):
        middles: dict[tuple[int, int], int] = {}
        divided = []

        def middle(a: int, b: int, middles: dict[tuple[int, int], int] = middles) -> int:
            key = (min(a, b), max(a, b))
            if key not in middles:
                m = (vertices[a] + vertices[b]) / np.float32(2.0)
                m = m / np.sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2])
                middles[key] = len(vertices)
                vertices.append(m)
            return middles[key]

        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            divided += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = divided
    return np.array(vertices), np.array(faces, np.int64)


def _hemisphere(resolution: int) -> _Mesh:
    """Rows of points from the pole to the equator, 4, 8, … per row, and the middle of the disc that closes it."""
    pole, equator = np.array([0.0, 0.0, 1.0]), np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0], [0, -1.0, 0]])
    points = [pole]
    for row in range(resolution + 1):
        factor = (row + 1) / (resolution + 1)
        for side in range(4):
            start, end = (pole + factor * (equator[k % 4] - pole) for k in (side, side + 1))
            for i in range(row + 1):
                p = start + i * ((end - start) / (row + 1))
                points.append(p / math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]))
    points.append(np.zeros(3))
    faces = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1)]
    for row in range(resolution):
        here, count = 2 * row * (row + 1) + 1, 4 * (row + 1)
        below, more = here + count, 4 * (row + 2)
        for side in range(4):
            for i in range(row + 2):
                a, b = i + (row + 1) * side, i + (row + 2) * side
                faces.append((here + a % count, below + b % more, below + (b + 1) % more))
                if i < row + 1:
                    faces.append((here + a % count, below + (b + 1) % more, here + (a + 1) % count))
    start, count = 2 * resolution * (resolution + 1) + 1, 4 * (resolution + 1)
    faces += [(start + i, len(points) - 1, start + (i + 1) % count) for i in range(count)]
    return np.array(points).astype(np.float32), np.array(faces, np.int64)


def _cone(edges: int, radius: float) -> _Mesh:
    """Two regular polygons, or one and a point; the mesh is their convex hull."""
    angles = 2.0 * np.arange(edges) * math.pi / edges
    ring = np.stack([np.cos(angles), np.sin(angles), np.full(edges, -1.0)], axis=1)
    angles = 2.0 * (np.arange(edges) + edges) * math.pi / edges
    top = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.ones(edges)], axis=1)
    points = np.concatenate([ring, top if radius > 0.0 else [[0.0, 0.0, 1.0]]])
    return points.astype(np.float32), np.zeros((0, 3), np.int64)


def _supersphere(resolution: int, e: float, n: float) -> _Mesh:
    """Rings between two poles, the cosines and sines of whose angles are raised to powers."""
    v = -math.pi / 2.0 + np.arange(1, resolution) * math.pi / resolution
    u = -math.pi + np.arange(resolution) * 2.0 * math.pi / resolution
    rings = np.empty((resolution - 1, resolution, 3))
    rings[:, :, 0] = _power(np.cos(v), n)[:, None] * _power(np.cos(u), e)
    rings[:, :, 1] = _power(np.cos(v), n)[:, None] * _power(np.sin(u), e)
    rings[:, :, 2] = _power(np.sin(v), n)[:, None]
    points = np.concatenate([[[0.0, 0.0, -1.0]], rings.reshape(-1, 3), [[0.0, 0.0, 1.0]]])
    j = np.arange(resolution)
    after = (j + 1) % resolution
    last = 1 + (resolution - 2) * resolution
    faces = [np.stack([np.zeros_like(j), 1 + after, 1 + j], axis=1)]
    for start in range(1, last, resolution):
        a, b, d, c = start + j, start + after, start + resolution + j, start + resolution + after
        faces.append(np.stack([a, b, d, b, c, d], axis=1).reshape(-1, 3))
    faces.append(np.stack([last + j, last + after, np.full_like(j, len(points) - 1)], axis=1))
    return points.astype(np.float32), np.concatenate(faces)


def _supertorus(resolution: int, radius: float, s: float, t: float) -> _Mesh:
    u = (2.0 * math.pi * np.arange(resolution) / resolution)[:, None]
    v = (2.0 * math.pi * np.arange(resolution) / resolution)[None, :]
    points = np.empty((resolution, resolution, 3))
    points[:, :, 0] = (1.0 + radius * _power(np.cos(v), s)) * _power(np.cos(u), t)
    points[:, :, 1] = (1.0 + radius * _power(np.cos(v), s)) * _power(np.sin(u), t)
    points[:, :, 2] = radius * _power(np.sin(v), s)
    i, j = np.meshgrid(np.arange(resolution), np.arange(resolution), indexing="ij")
    below, right = (i + 1) % resolution, (j + 1) % resolution
    a, b = i * resolution + j, below * resolution + j
    c, d = below * resolution + right, i * resolution + right
    return points.reshape(-1, 3).astype(np.float32), np.stack([a, b, d, b, c, d], axis=2).reshape(-1, 3)


def _plate(rows: int, columns: int) -> _Mesh:
    """A grid of points in the plane z = -1, and both triangles of each of its cells."""
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    points = np.stack([-1 + (i + 0.5) * (2.0 / rows), -1 + (j + 0.5) * (2.0 / columns), np.full(i.shape, -1.0)], axis=2)
    a = (i * columns + j)[:-1, :-1]
    b, c, d = a + columns, a + 1, a + columns + 1
    return points.reshape(-1, 3).astype(np.float32), np.stack([a, b, c, d, c, b], axis=2).reshape(-1, 3)


def _wedge(rows: int, columns: int, fov_phi: float, fov_theta: float, gamma: float) -> _Mesh:
    """Points on a part of the unit sphere, closer to each other in the middle; the mesh is their convex hull."""
    azimuth, elevation = (
        0.5 * (edges[1:] + edges[:-1]) for edges in (_edges(rows, fov_phi, gamma), _edges(columns, fov_theta, gamma))
    )
    a, e = np.meshgrid(azimuth, elevation, indexing="ij")
    points = np.stack([np.cos(e) * np.sin(a), np.sin(e), -np.cos(e) * np.cos(a)], axis=2)
    return points.reshape(-1, 3).astype(np.float32), np.zeros((0, 3), np.int64)


def _edges(count: int, fov: float, gamma: float) -> _Floats:
    edges = -1.0 + np.cumsum(np.concatenate([[0.0], np.full(count, 2.0 / count)]))
    if gamma:
        edges = gamma * edges**5 + (1.0 - gamma) * edges
    return edges * (fov * math.pi / 180.0)


def _power(x: _Floats, exponent: float) -> _Floats:
    """The power of the absolute value, with the sign."""
    return np.copysign(np.abs(x) ** exponent, x)


_INFINITY = math.inf
_TINY = 5e-324
_KINDS = {
    "sphere": _Kind(_sphere, ("subdivision",), 1, ((0, 4),)),
    "hemisphere": _Kind(_hemisphere, ("resolution",), 1, ((0, 10),)),
    "cone": _Kind(_cone, ("nvert", "radius"), 1, ((3, _MOST_RINGS), (0.0, 1.0))),
    "supersphere": _Kind(
        _supersphere, ("resolution", "e", "n"), 1, ((3, _MOST_RINGS), (0.0, _INFINITY), (0.0, _INFINITY))
    ),
    "supertorus": _Kind(
        _supertorus,
        ("resolution", "radius", "s", "t"),
        1,
        ((3, _MOST_RINGS), (_TINY, 1.0), (_TINY, _INFINITY), (_TINY, _INFINITY)),
    ),
    "wedge": _Kind(
        _wedge,
        ("res_phi", "res_theta", "fov_phi", "fov_theta", "gamma"),
        2,
        ((1, _MOST_RINGS), (1, _MOST_RINGS), (_TINY, 180.0), (_TINY, 90.0), (0.0, 1.0)),
    ),
    "plate": _Kind(_plate, ("res_x", "res_y"), 2, ((1, _MOST_RINGS), (1, _MOST_RINGS))),
}
_FLEXIBLE = frozenset({"grid", "box", "cylinder", "ellipsoid", "square", "disc"})
