"""Meshes as triangles with colours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.appearance.normals import creased, welded
from kinetree.appearance.surface import Color, Surface, colored
from kinetree.errors import ModelError
from kinetree.io.mjcf.meshes import read_mesh
from kinetree.model import Geometry

__all__ = ["mesh_surface"]


def mesh_surface(shape: Geometry, asset: Mapping[str, str], color: Color) -> Surface:
    """The surface of a mesh, scaled as its shape says.

    Raises:
        ModelError: if its file is not known, or cannot be read.
    """
    if shape.mesh_path is None:
        raise ModelError(
            f"the file of its mesh {shape.mesh or shape.name!r} is not known; give its folder when the robot is "
            "loaded: package_roots=[…]"
        )
    mesh = read_mesh(shape.mesh_path, asset.get("content_type", ""))
    scale = np.array(shape.size)
    vertices = mesh.vertices * scale
    faces = mesh.faces if scale.prod() > 0.0 else mesh.faces[:, ::-1]
    source, faces, normals = creased(vertices, faces, welded(vertices)[1])
    return colored(vertices[source], faces, normals, color)
