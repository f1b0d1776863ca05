"""Meshes as collisions see them: their convex hulls, with not too many corners; and as rays do, by their triangles.

A mesh of an MJCF file has the frame and the vertices of MuJoCo's, rounded to 32 bits in that frame; another one the
axes of its file and the middle of its corners as the origin. Of a hull with more corners than a program should hold,
those are kept that are highest above the hull of those before, so that omitted ones are as low as possible in this way.
The result is inside the whole hull. Faces are known of whole hulls only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.collision import Hull, Mesh
from kinetree.contact_model.assets import numbers_of
from kinetree.errors import ModelError
from kinetree.model import Geometry
from kinetree.records import record
from kinetree.solids.meshes import (
    CompiledMesh,
    Triangles,
    builtin_mesh,
    compile_mesh,
    convex_hull,
    fewer_corners,
    hull_faces,
    inline_mesh,
    read_mesh,
    rotation,
)
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["MeshHull", "asset_triangles", "hull_of", "surface_of"]

MOST_TRIANGLES = 2**17
"""The most triangles of a mesh that rays may meet."""
_SUFFIXES = (".stl", ".obj", ".msh")

Floats = NDArray[np.float64]


@record(frozen=True, slots=True)
class MeshHull:
    """The convex hull of a mesh, in a frame of its own."""

    hull: Hull
    placement: Transform
    """From the axes of the mesh's file to that frame."""
    corners: int
    """How many the whole hull has."""
    excess: float
    """The largest height of a corner that was left out above a face of the hull, m."""


def hull_of(shape: Geometry, asset: Mapping[str, str], most: int | None) -> MeshHull:
    """The hull of a shape's mesh.

    Args:
        shape: of the kind "mesh"; its size is the mesh's scale.
        asset: the attributes of its asset in an MJCF file; empty for other files.
        most: the number of corners that it may have; None for all.

    Raises:
        ModelError: if the mesh is not known, its file is gone or cannot be read, or it has no hull.
        MissingPackageError: if SciPy is not installed.
    """
    return _hull(*_source(shape, asset), most)


def surface_of(shape: Geometry, asset: Mapping[str, str]) -> tuple[Mesh, Transform]:
    """The triangles of a shape's mesh, and their frame in that of the mesh's file; as for `hull_of`.

    A mesh without faces is its convex hull.
    """
    return _surface(*_source(shape, asset))


_Source = tuple[Path | None, tuple[int, int], tuple[float, ...], tuple[tuple[str, str], ...]]
"""The file of a mesh and its stamp, the scale, and the attributes of its asset."""


def _source(shape: Geometry, asset: Mapping[str, str]) -> _Source:
    path, stamp = shape.mesh_path, (0, 0)
    if asset and "file" not in asset:
        path = None
    elif path is None:
        raise ModelError(
            f"the file of its mesh {shape.mesh or shape.name!r} is not known; give its folder when the robot is "
            "loaded: package_roots=[…]"
        )
    else:
        stamp = _stamp(path)
    return path, stamp, shape.size, tuple(asset.items())


def _stamp(path: Path) -> tuple[int, int]:
    """Data that change when the file does."""
    if path.suffix.lower() not in _SUFFIXES:
        raise ModelError(
            f"collisions read meshes from {', '.join(_SUFFIXES)} files, not from {path.name!r}; convert the file"
        )
    try:
        stat = os.stat(path)
    except OSError:
        raise ModelError(f"the file of its mesh, {path}, is gone since the robot was loaded; put it back") from None
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=512)
def _hull(
    path: Path | None,
    _stamp: tuple[int, int],
    scale: tuple[float, ...],
    attributes: tuple[tuple[str, str], ...],
    most: int | None,
) -> MeshHull:
    asset = dict(attributes)
    where = path or f"mesh {asset.get('name', '')!r}"
    mesh, is_shell = asset_triangles(where, path, asset)
    limit = int(asset.get("maxhullvert", "-1"))
    triangles = convex_hull(where, mesh.vertices, limit)
    corners = np.unique(triangles)
    faces: list[list[int]] = []
    count, excess = len(corners), 0.0
    if asset:
        compiled = _compiled(where, mesh, asset, scale, limit, is_shell=is_shell, collides=True)
        vertices, placement = compiled.vertices, _placement(compiled)
    else:
        vertices = mesh.vertices * np.array(scale)
        center = 0.5 * (vertices[corners].min(axis=0) + vertices[corners].max(axis=0))
        vertices, placement = vertices - center, Transform(Mat3.identity(), Vec3(*center.tolist()))
    points = vertices[corners]
    if most is not None and count > most:
        kept, excess = fewer_corners(where, points, most)
        points = points[kept]
    else:
        faces = hull_faces(points, _outward(points, np.searchsorted(corners, triangles)))
    hull = Hull(tuple((x, y, z) for x, y, z in points.tolist()), tuple(map(tuple, faces)))
    return MeshHull(hull, placement, count, excess)


@lru_cache(maxsize=512)
def _surface(
    path: Path | None, _stamp: tuple[int, int], scale: tuple[float, ...], attributes: tuple[tuple[str, str], ...]
) -> tuple[Mesh, Transform]:
    asset = dict(attributes)
    where = path or f"mesh {asset.get('name', '')!r}"
    mesh, is_shell = asset_triangles(where, path, asset)
    limit = int(asset.get("maxhullvert", "-1"))
    faces = mesh.faces if len(mesh.faces) else convex_hull(where, mesh.vertices, limit)
    if len(faces) > MOST_TRIANGLES:
        raise ModelError(
            f"{where}: rays meet meshes of at most {MOST_TRIANGLES:,} triangles, which are part of the program, and "
            f"this one has {len(faces):,}: simplify it"
        )
    if asset:
        compiled = _compiled(where, mesh, asset, scale, limit, is_shell=is_shell, collides=False)
        vertices, placement = compiled.vertices, _placement(compiled)
    else:
        vertices, placement = mesh.vertices * np.array(scale), Transform.identity()
    return Mesh(tuple(map(tuple, vertices.tolist())), tuple(map(tuple, faces.tolist()))), placement


def _placement(compiled: CompiledMesh) -> Transform:
    """The frame of a mesh in that of its file."""
    axes = Mat3(*(Vec3(*row) for row in rotation(compiled.quaternion).T.tolist()))
    return Transform(axes, Vec3(*compiled.position.tolist()))


def _outward(points: Floats, triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """The triangles counter-clockwise seen from outside, also where a negative scale has mirrored the mesh."""
    a, b, c = (points[triangles[:, k]] - points.mean(axis=0) for k in range(3))
    is_inward = (a * np.cross(b, c)).sum() < 0.0
    return triangles[:, ::-1] if is_inward else triangles


def asset_triangles(where: object, path: Path | None, asset: Mapping[str, str]) -> tuple[Triangles, bool]:
    """The mesh, and whether it is a shell regardless of its asset."""
    if path is not None:
        return read_mesh(path, asset.get("content_type", "")), False
    if asset.get("builtin", "none") != "none":
        return builtin_mesh(where, asset["builtin"], numbers_of(asset.get("params", "")))
    return inline_mesh(where, numbers_of(asset.get("vertex", "")), numbers_of(asset.get("face", ""))), False


def _compiled(
    where: object, mesh: Triangles, asset: Mapping[str, str], scale: Sequence[float], limit: int, *, is_shell: bool,
    collides: bool,
) -> CompiledMesh:  # fmt: skip
    mode = "shell" if is_shell else asset.get("inertia", "legacy")
    return compile_mesh(
        where,
        mesh,
        inertia=mode,  # type: ignore[arg-type]  # the reader has checked it
        scale=scale,
        refpos=numbers_of(asset.get("refpos", "0 0 0")),
        refquat=numbers_of(asset.get("refquat", "1 0 0 0")),
        maxhullvert=limit,
        collides=collides,
    )
