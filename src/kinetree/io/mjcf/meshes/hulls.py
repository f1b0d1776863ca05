"""Convex hulls, by Qhull, which MuJoCo uses as well."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import MissingPackageError, ModelError

__all__ = ["check_thickness", "convex_hull", "fewer_corners"]

_Floats = NDArray[np.float64]
_SMALLEST = 1e-15
_AT_ONCE = 50


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


def convex_hull(where: object, vertices: _Floats, most_vertices: int = -1) -> NDArray[np.int64]:
    """The triangles (m, 3) of the convex hull, counter-clockwise seen from outside.

    `most_vertices` ends the construction when the hull has so many vertices, the farthest ones; -1 for no limit.
    """
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        raise MissingPackageError(
            f"{where}: the convex hull of a mesh needs SciPy: pip install kinetree[mesh]"
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

    kept, heights = _tetrahedron(corners), np.full(len(corners), np.inf)
    try:
        hull = ConvexHull(corners[kept], incremental=True)
        while True:
            highest = _highest(corners, heights, hull.equations)
            if len(kept) == most or highest in kept:
                break
            kept.append(highest)
            hull.add_points(corners[highest : highest + 1])
        hull.close()
    except (QhullError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0][:200]
        raise ModelError(f"{where}: the mesh has no hull of {most} corners: {reason}") from None
    return np.sort(np.array(kept)), max(0.0, float(heights[highest]))


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
