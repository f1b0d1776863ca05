"""Meshes of shapes as triangles with colours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.assembly import assembled
from kinetree.appearance.file_mesh import FileMesh
from kinetree.appearance.formats import Piece
from kinetree.appearance.mesh_files import file_mesh
from kinetree.appearance.normals import unit
from kinetree.appearance.surface import Color, Surface
from kinetree.contact_model.assets import numbers_of
from kinetree.contact_model.meshes import asset_triangles
from kinetree.errors import ModelError
from kinetree.io.meshes import remedy
from kinetree.model import Geometry
from kinetree.solids.meshes import convex_hull, rotation

__all__ = ["mesh_surface"]

Floats = NDArray[np.float64]


def mesh_surface(
    shape: Geometry, asset: Mapping[str, str], color: Color, most: int, source: str, *, is_plain: bool = False
) -> tuple[Surface, tuple[str, ...]]:
    """The surface of a mesh, scaled and placed as its shape and its asset say, and what is not as the file says.

    Args:
        shape: of the kind "mesh".
        asset: the attributes of its asset in an MJCF file, where a mesh has no colours of its own; empty for others.
        color: the colour of what the file gives none.
        most: how many triangles there may be, about.
        source: the robot's file, for what to do about a mesh that is not known.
        is_plain: whether all is in this colour.

    Raises:
        ModelError: if its file is not known, or cannot be read.
        MissingPackageError: for a format whose package is not installed.
    """
    mesh = _mesh(shape, asset, most, source)
    vertices, normals = mesh.vertices.astype(np.float64), mesh.normals.astype(np.float64)
    if asset:
        vertices, normals = _moved(vertices, normals, asset)
    scale = np.array(shape.size, dtype=np.float64)
    if (scale != 1.0).any():
        vertices = vertices * scale
        if scale.prod() != 0.0:
            normals = unit(normals / scale)
    colors = mesh.colors
    is_plain = is_plain or bool(asset)
    if is_plain or mesh.is_bare.any():
        chosen = np.where((mesh.is_bare | is_plain)[:, None], np.array(color, np.uint8), colors)
        colors = chosen.astype(np.uint8)
    surface = Surface(
        vertices.astype(np.float32),
        mesh.faces if scale.prod() >= 0.0 else np.ascontiguousarray(mesh.faces[:, ::-1]),
        normals.astype(np.float32),
        colors,
        mesh.uv if asset or (mesh.texture is not None and not is_plain) else None,
        None if is_plain else mesh.texture,
    )
    return surface, () if is_plain and not asset else mesh.remarks


def _mesh(shape: Geometry, asset: Mapping[str, str], most: int, source: str) -> FileMesh:
    if asset and "file" not in asset:
        return _written(asset)
    if shape.mesh_path is None:
        raise ModelError(
            f"the file of its mesh {shape.mesh or shape.name!r} was not found inside the folders given when the robot "
            f"was loaded; {remedy(source, shape.mesh or '')}"
        )
    return file_mesh(shape.mesh_path, most, asset.get("content_type", ""), as_mujoco=bool(asset))


def _written(asset: Mapping[str, str]) -> FileMesh:
    """A mesh that is made in the MJCF file itself."""
    where = f"mesh {asset.get('name', '')!r}"
    mesh, _ = asset_triangles(where, None, asset)
    faces = mesh.faces if len(mesh.faces) else convex_hull(where, mesh.vertices, -1)
    return assembled([Piece(mesh.vertices, faces)], lambda _: None, len(faces))


def _moved(vertices: Floats, normals: Floats, asset: Mapping[str, str]) -> tuple[Floats, Floats]:
    """Vertices and normals in the axes that an asset's `refpos` and `refquat` define."""
    vertices = vertices - np.array(numbers_of(asset.get("refpos", "0 0 0")))
    quaternion = np.array(numbers_of(asset.get("refquat", "1 0 0 0")))
    if quaternion[1:].any():
        R = rotation(quaternion / np.linalg.norm(quaternion))
        vertices, normals = vertices @ R, normals @ R
    return vertices, normals
