"""Meshes and height fields of shapes as triangles with colours.

Collisions see meshes as convex hulls with not too many corners; of height fields, the upper side is here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.assembly import assembled
from kinetree.appearance.choice import Seen
from kinetree.appearance.file_mesh import FileMesh
from kinetree.appearance.formats import Piece
from kinetree.appearance.looks import Color, Surface, colored
from kinetree.appearance.mesh_files import file_mesh
from kinetree.appearance.normals import creased, unit
from kinetree.collision import Hull
from kinetree.contact_model.assets import numbers_of
from kinetree.contact_model.meshes import asset_triangles
from kinetree.contact_model.shapes import Shapes
from kinetree.errors import ModelError
from kinetree.io.meshes import remedy
from kinetree.io.mjcf.elevations import read_elevations
from kinetree.model import Geometry
from kinetree.solids.meshes import convex_hull, rotation, welded

__all__ = ["height_field", "hull_surface", "mesh_surface"]

Floats = NDArray[np.float64]
_MOST = 192
"""Rows and columns that are drawn; of larger ones, every second, third, …"""


def mesh_surface(
    shape: Geometry, asset: Mapping[str, str], color: Color, most: int, source: str, *, is_plain: bool = False
) -> tuple[Surface, tuple[str, ...]]:
    """The surface of a mesh, scaled and placed as its shape and its asset say, and deviations from the file.

    Args:
        shape: of the kind "mesh".
        asset: the attributes of its asset in an MJCF file, where a mesh has no colours of its own; empty for others.
        color: the colour of parts without one in the file.
        most: how many triangles there may be, about.
        source: the robot's file, for advice about a mesh that is not known.
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
        mixed = np.where((mesh.is_bare | is_plain)[:, None], np.array(color, np.uint8), colors)
        colors = mixed.astype(np.uint8)
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


def hull_surface(shapes: Shapes, one: Seen, color: Color) -> tuple[Surface, NDArray[np.float64]]:
    """The hull of a mesh, and its placement (4, 4) in the body.

    Raises:
        ModelError: if collisions cannot use the mesh.
        MissingPackageError: if SciPy is not installed.
    """
    placed = shapes.placed(one.body.name, one.index, one.shape)
    if not isinstance(placed.shape, Hull):
        raise ModelError(f"collisions see it as a {placed.shape.kind}, not as a hull")
    points = np.array(placed.shape.vertices)
    faces = convex_hull(one.name, points, -1)
    source, faces, normals = creased(points, faces, welded(points)[1])
    return colored(points[source], faces, normals, color), placed.placement.matrix


def height_field(shape: Geometry, asset: Mapping[str, str], color: Color) -> Surface:
    """The surface of a height field of an MJCF file.

    Raises:
        ModelError: if it is not of an MJCF file, or cannot be read.
    """
    if not asset:
        raise ModelError("height fields are drawn of MJCF files only; put a mesh in its place")
    x, y, top, _ = shape.size
    data = read_elevations(shape.mesh_path or f"hfield {asset.get('name', '')!r}", asset, shape.mesh_path)
    step = max(1, -(-max(data.shape) // _MOST))
    rows, columns = (np.unique(np.append(np.arange(0, n, step), n - 1)) for n in data.shape)
    if len(rows) < 2 or len(columns) < 2:
        raise ModelError(
            f"its height field has {data.shape[0]} x {data.shape[1]} heights; at least 2 x 2 make a surface"
        )
    across, along = x * (columns / columns[-1] - 0.5), y * (rows / rows[-1] - 0.5)
    heights = top * data[np.ix_(rows, columns)].astype(np.float64)
    grid = np.stack([*np.meshgrid(across, along), heights], axis=2).reshape(-1, 3)
    corner = (np.arange(len(rows) - 1)[:, None] * len(columns) + np.arange(len(columns) - 1)).reshape(-1)
    right, above = corner + 1, corner + len(columns)
    faces = np.concatenate([np.stack([corner, right, above + 1], 1), np.stack([corner, above + 1, above], 1)])
    source, faces, normals = creased(grid, faces, np.arange(len(grid)))
    return colored(grid[source], faces, normals, color)
