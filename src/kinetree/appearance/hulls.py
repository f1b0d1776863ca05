"""Meshes as collisions see them: convex hulls with not too many corners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.choice import Seen
from kinetree.appearance.normals import creased
from kinetree.appearance.surface import Color, Surface, colored
from kinetree.collision import Hull
from kinetree.contact_model.shapes import Shapes
from kinetree.errors import ModelError
from kinetree.solids.meshes import convex_hull, welded

__all__ = ["hull_surface"]


def hull_surface(shapes: Shapes, one: Seen, color: Color) -> tuple[Surface, NDArray[np.float64]]:
    """The hull of a mesh, and its placement (4, 4) in the body.

    Raises:
        ModelError: if collisions cannot use the mesh.
        MissingPackageError: if SciPy is not installed.
    """
    found = shapes.placed(one.body.name, one.index, one.shape)
    if not isinstance(found.shape, Hull):
        raise ModelError(f"collisions see it as a {found.shape.kind}, not as a hull")
    points = np.array(found.shape.vertices)
    faces = convex_hull(one.name, points, -1)
    source, faces, normals = creased(points, faces, welded(points)[1])
    return colored(points[source], faces, normals, color), found.placement.matrix
