"""Solids bounded by triangles: exact for the polyhedron that the mesh describes.

A closed, oriented mesh is the sum, with signs, of the tetrahedra that its triangles span with any one point. For a
tetrahedron with corners 0, a, b, c and d = a . (b x c): volume d / 6, first moment d (a + b + c) / 24, and
∫ x xᵀ = d (s sᵀ + a aᵀ + b bᵀ + c cᵀ) / 120 with s = a + b + c.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, MissingPackageError, ModelError, OptionError, ShapeError
from kinetree.inputs import real_array
from kinetree.solids.amounts import LARGEST, positive, solid
from kinetree.spatial import Inertia, Sym3, Vec3
from kinetree.spatial.poses import Pose

__all__ = ["mesh", "mesh_file"]

_FLAT = 1e-12
"""A volume below this fraction of the cube of the mesh's size counts as zero."""


def mesh(
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    mass: float | None = None,
    density: float | None = None,
    placement: Pose | None = None,
) -> Inertia:
    """The solid inside a closed mesh of triangles.

    Args:
        vertices: (n, 3) in the mesh's frame, m.
        faces: (m, 3) indices of vertices, counter-clockwise seen from outside. Vertices at the same place count as one.
        mass: kg.
        density: kg/m³; exactly one of the two is given.
        placement: of the mesh's frame in the body's; by default they coincide.

    Raises:
        ShapeError, DTypeError: for arrays of another shape or type.
        ModelError: for a face that names a missing vertex or one twice, an edge that does not belong to as many faces
            in one direction as in the other (a hole, or a reversed face), and a mesh that encloses no volume or is
            inside out.

    Triangles that intersect are not detected: a volume that is enclosed twice counts twice.

    >>> import kinetree as kt
    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> tetrahedron = kt.solids.mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], density=6.0)
    >>> round(tetrahedron.mass, 12), round(tetrahedron.h.x, 12)
    (1.0, 0.25)
    """
    points = _vertices(vertices)
    triangles = _faces(faces, len(points))
    _check_closed(points, triangles)
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float(b) - float(a) for a, b in zip(low, high, strict=True))
    if size > LARGEST:
        raise ModelError(f"mesh: it measures {size:.3g} m, whose cube overflows; give its vertices in metres")
    middle = 0.5 * low + 0.5 * high
    volume, first, second = _integrals(points[triangles] - middle)
    if abs(volume) <= _FLAT * size**3 or not math.isfinite(volume):
        raise ModelError(f"mesh: it encloses no volume ({volume:.3g} m³ by its faces); give a solid body's surface")
    if volume < 0.0:
        raise ModelError(
            f"mesh: its faces look inward (its volume is {volume:.3g} m³); reverse the order of each face's vertices"
        )
    com = first / volume
    spread = second / volume - np.outer(com, com)  # per volume, about the centre of mass
    gyration = np.trace(spread) * np.eye(3) - spread
    entries = (gyration[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return solid("mesh", volume, Sym3(*map(float, entries)), mass, density, placement, Vec3(*map(float, com + middle)))


def mesh_file(
    path: str | os.PathLike[str],
    *,
    scale: float = 1.0,
    mass: float | None = None,
    density: float | None = None,
    placement: Pose | None = None,
) -> Inertia:
    """The solid inside the mesh of a file (STL, OBJ, PLY, …), read by trimesh; `pip install 'kinetree[mesh]'`.

    Args:
        path: the file. If it contains a scene of several meshes, each must be closed; they are added up.
        scale: the factor that converts its numbers to metres; 0.001 for millimetres.
        mass, density, placement: as for `mesh`.

    Raises:
        MissingPackageError: if trimesh is not installed.
        ModelError: if the file cannot be read or contains no triangles, or `mesh` rejects its mesh.
        DTypeError: if `path` is not a path.
        OptionError: for a scale that is not positive.
    """
    try:
        import trimesh
    except ImportError:
        raise MissingPackageError("reading mesh files needs trimesh: pip install 'kinetree[mesh]'") from None
    if not isinstance(path, str | os.PathLike):
        raise DTypeError(f"mesh_file takes the path of a mesh file, not {path!r:.60}")
    factor = positive("mesh file", "scale", scale)
    path = Path(path)
    if not path.is_file():
        raise ModelError(f"{path}: there is no such file")
    try:
        # Vertices are not merged or moved: the file's geometry is used as it is.
        read: Any = trimesh.load(path, process=False)
        whole = read.to_mesh() if hasattr(read, "to_mesh") else read
        vertices, faces = np.asarray(whole.vertices, dtype=np.float64), np.asarray(getattr(whole, "faces", ()))
    except Exception as error:  # each reader raises its own
        raise ModelError(f"{path}: trimesh cannot read it as a mesh ({type(error).__name__}: {error})") from error
    if not len(faces):
        raise ModelError(f"{path}: it holds no triangles")
    try:
        return mesh(vertices * factor, faces, mass=mass, density=density, placement=placement)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def _integrals(corners: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Volume, first and second moments from triangles (m, 3 corners, 3)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    d = np.einsum("ij,ij->i", a, np.cross(b, c))
    s = a + b + c
    second = sum(np.einsum("i,ij,ik->jk", d, x, x) for x in (s, a, b, c))
    return float(d.sum()) / 6.0, d @ s / 24.0, np.asarray(second) / 120.0


def _vertices(vertices: ArrayLike) -> NDArray[np.float64]:
    array = real_array("mesh: vertices", vertices, "(n, 3)")
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise ShapeError(f"mesh: vertices must have the shape (n, 3), not {array.shape}")
    points = array.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(wrong):
        raise OptionError(f"mesh: vertex {wrong[0]} is {points[wrong[0]].tolist()}; vertices are finite")
    return points


def _faces(value: ArrayLike, count: int) -> NDArray[np.int64]:
    array = real_array("mesh: faces", value, "(m, 3)")
    if array.dtype.kind not in "iu":
        raise DTypeError(f"mesh: faces must be whole numbers, indices of vertices, not of the type {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise ShapeError(
            f"mesh: faces must have the shape (m, 3), triangles, not {array.shape}; cut larger faces into triangles"
        )
    faces = array.astype(np.int64)
    wrong = np.flatnonzero(((faces < 0) | (faces >= count)).any(axis=1))
    if len(wrong):
        raise ModelError(f"mesh: face {wrong[0]} is {faces[wrong[0]].tolist()}, but there are {count} vertices")
    return faces


def _check_closed(points: NDArray[np.float64], triangles: NDArray[np.int64]) -> None:
    """Check that faces traverse each edge as often in one direction as in the other."""
    _, place = np.unique(points + 0.0, axis=0, return_inverse=True)  # + 0.0 makes minus zero zero
    corners = place.reshape(-1)[triangles]
    degenerate = np.flatnonzero((corners == np.roll(corners, 1, axis=1)).any(axis=1))
    if len(degenerate):
        k = degenerate[0]
        raise ModelError(f"mesh: face {k}, {triangles[k].tolist()}, has two corners at one place; leave it out")
    start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
    n = len(points)
    edge, forward = np.minimum(start, end) * n + np.maximum(start, end), np.where(start < end, 1, -1)
    edges, index = np.unique(edge, return_inverse=True)
    balance = np.bincount(index.reshape(-1), weights=forward, minlength=len(edges))
    open_edges = np.flatnonzero(balance)
    if len(open_edges):
        _fail(points, triangles, np.flatnonzero(index.reshape(-1) == open_edges[0]).astype(np.int64), len(open_edges))


def _fail(points: NDArray[np.float64], triangles: NDArray[np.int64], halves: NDArray[np.int64], count: int) -> None:
    """Raise for an edge, given its half-edges, which are numbered three per face."""
    face, corner = divmod(int(halves[0]), 3)
    ends = triangles[face, corner], triangles[face, (corner + 1) % 3]
    places = " and ".join(f"{k} {points[k].tolist()}" for k in ends)
    faces = [int(half) // 3 for half in halves]
    what = (
        f"belongs to face {face} alone: the mesh has a hole"
        if len(faces) == 1
        else f"is run through by the faces {', '.join(map(str, faces))} more often one way than the other: one of them "
        "is turned over, or one is missing"
    )
    more = f" ({count - 1} more such edges)" if count > 1 else ""
    raise ModelError(f"mesh: the edge between the vertices {places} {what}{more}; a solid has a closed surface")
