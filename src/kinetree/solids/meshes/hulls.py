"""Convex hulls, by Qhull, which MuJoCo uses as well, and their faces: triangles whose normals hardly differ, as one
polygon.

MuJoCo rounds the two polar angles of each normal to hundredths of a radian, in the mesh's own frame, and joins
neighbours for which both are the same.

Convex parts of meshes are by CoACD: Wei, Liu, Ling and Su, "Approximate convex decomposition for 3D meshes with
collision-aware concavity and tree search", ACM Transactions on Graphics 41(4) (2022).

Source of the faces: by experiment with MuJoCo 4.0: the polygons of its compiled meshes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import MissingPackageError, ModelError

__all__ = ["check_thickness", "convex_hull", "convex_parts", "fewer_corners", "hull_faces"]

_Floats = NDArray[np.float64]
_SMALLEST = 1e-15
_AT_ONCE = 50
_STEP = 0.01
"""rad"""
_POLE = 1.0 - 1e-7
"""Beyond this |z|, a normal has no azimuth."""

Edge = tuple[int, int]


def check_thickness(where: object, vertices: _Floats) -> None:
    """Raise where MuJoCo does before it makes a hull: for vertices at one point, on one line or in one plane."""
    d = vertices - vertices[0]
    lengths = np.sqrt((d * d).sum(axis=1))
    apart = np.flatnonzero(lengths > _SMALLEST)
    what, instead = "are all at one place", "a small sphere"
    if len(apart):
        what, instead = "are all on one line", "a thin capsule"
        normals = np.cross(d[apart[0]], d)
        sizes = np.sqrt((normals * normals).sum(axis=1))
        off = np.flatnonzero((sizes > _SMALLEST * lengths[apart[0]] * lengths) & (lengths >= _SMALLEST))
        if len(off):
            what, instead = "are all in one plane", "a thin box"
            normal = normals[off[0]] / sizes[off[0]]
            if (np.abs(vertices @ normal - vertices[0] @ normal) > _SMALLEST * lengths[apart[0]]).any():
                return
    raise ModelError(
        f"{where}: the vertices of the mesh {what}, so it has no convex hull, which collisions and "
        f'inertia="convex" need; use {instead}, or switch its collisions off (contype and conaffinity 0)'
    )


def convex_parts(
    where: object, vertices: _Floats, faces: NDArray[np.int64], threshold: float, most: int, seed: int, *, corners: int
) -> list[_Floats]:
    """The corners of convex parts that make up a mesh, up to a concavity; at most `most` parts, or any number for -1.

    Raises:
        ModelError: if there are none, as of a mesh without a volume.
        MissingPackageError: if coacd is not installed.
    """
    try:
        import coacd
    except ImportError:
        raise MissingPackageError("convex parts of meshes need coacd: pip install 'kinetree[coacd]'") from None
    coacd.set_log_level("error")
    parts = coacd.run_coacd(
        coacd.Mesh(vertices, faces), threshold=threshold, max_convex_hull=most, seed=seed, decimate=True,
        max_ch_vertex=corners,
    )  # fmt: skip
    if not parts:
        raise ModelError(f"{where}: CoACD finds no convex part of the mesh; does its surface have holes?")
    return [np.asarray(part[0], dtype=np.float64) for part in parts]


def convex_hull(where: object, vertices: _Floats, most_vertices: int = -1) -> NDArray[np.int64]:
    """The triangles (m, 3) of the convex hull, counter-clockwise seen from outside.

    `most_vertices` ends the construction when the hull has so many vertices, the farthest ones; -1 for no limit.
    """
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        raise MissingPackageError(
            f"{where}: the convex hull of a mesh needs SciPy: pip install 'kinetree[mesh]'"
        ) from None
    check_thickness(where, vertices)
    options = "Qt" if most_vertices < 0 else f"Qt Q9 TA{most_vertices - 4}"
    try:
        hull = ConvexHull(vertices, qhull_options=options)
    except (QhullError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise ModelError(f"{where}: the mesh has no convex hull: {reason}") from None
    faces = np.asarray(hull.simplices, dtype=np.int64)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0.0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return faces


def fewer_corners(where: object, corners: _Floats, most: int) -> tuple[NDArray[np.int64], float]:
    """The places of `most` corners of a convex hull whose own hull leaves little of it out, and how much.

    The first four are far apart; each further one is the corner that is highest above a face of the hull of those
    before. The second result is the largest such height that remains.
    """
    from scipy.spatial import ConvexHull, QhullError

    corners_kept, heights = _tetrahedron(corners), np.full(len(corners), np.inf)
    try:
        hull = ConvexHull(corners[corners_kept], incremental=True)
        while True:
            highest = _highest(corners, heights, hull.equations)
            if len(corners_kept) == most or highest in corners_kept:
                break
            corners_kept.append(highest)
            hull.add_points(corners[highest : highest + 1])
        hull.close()
    except (QhullError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise ModelError(f"{where}: the mesh has no hull of {most} corners: {reason}") from None
    return np.sort(np.array(corners_kept)), max(0.0, float(heights[highest]))


def _highest(corners: _Floats, heights: _Floats, planes: _Floats) -> int:
    """The corner that is highest above one of the planes; heights are those above earlier hulls, and are renewed.

    They never grow, so few of them are computed again until the largest one is a new one.
    """
    is_new = np.zeros(len(corners), dtype=bool)
    while not is_new[highest := int(heights.argmax())]:
        some = np.argsort(heights)[-_AT_ONCE:]
        heights[some] = (corners[some] @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        is_new[some] = True
    return highest


def _tetrahedron(corners: _Floats) -> list[int]:
    """Four corners far from each other, from the line of the first two, and from the plane of the first three."""
    a = int(corners[:, 0].argmin())
    away = corners - corners[a]
    b = int((away * away).sum(axis=1).argmax())
    across = np.cross(away, away[b])
    c = int((across * across).sum(axis=1).argmax())
    d = int(np.abs(away @ np.cross(away[b], away[c])).argmax())
    return [a, b, c, d]


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
    visited: set[int] = set()
    faces = []
    for first in range(len(corners)):
        if first in visited or directions[first] is None:
            continue
        joined = [first]
        visited.add(first)
        for k in joined:
            for start, end in _edges(corners[k]):
                other = owner.get((end, start))
                if other is not None and other not in visited and directions[other] == directions[first]:
                    visited.add(other)
                    joined.append(other)
        inside = {edge for k in joined for edge in _edges(corners[k])}
        faces.append(_around({start: end for start, end in inside if (end, start) not in inside}))
    return faces


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
