"""From the vertices of surfaces to the world, to the picture and to the light."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats, Indices

__all__ = ["Placed", "place_vertices"]


class Placed(NamedTuple):
    """Where vertices are."""

    world: Floats
    turned: Floats
    """(n, 3), the vertices and their normals."""
    seen: Floats
    lit: Floats
    """(n, 4), homogeneous coordinates (x·w, y·w, w, nearness·w) in the pictures of the camera and of the light."""


@compiled
def place_vertices(
    vertices: Floats, normals: Floats, part_of: Indices, placements: Floats, nearer: Floats, camera: Floats,
    lamp: Floats, first: int, last: int, placed: Placed,
) -> None:  # fmt: skip
    """Place vertices and their normals.

    Args:
        vertices, normals: (n, 3), in the axes of their parts.
        part_of: (n,), rows of `placements` (k, 4, 4).
        nearer: (k,), by which the nearness of each part to the camera is multiplied.
        camera: (3, 4), `Camera.matrix`, in samples; its nearness is 1/w.
        lamp: (3, 4), column, row and nearness of a parallel projection, whose w is 1.
        first, last: the vertices to place.
        placed: results.
    """
    for v in range(first, last):
        p = int(part_of[v])
        for k in range(3):
            placed.world[v, k] = (
                placements[p, k, 0] * vertices[v, 0]
                + placements[p, k, 1] * vertices[v, 1]
                + placements[p, k, 2] * vertices[v, 2]
                + placements[p, k, 3]
            )
            placed.turned[v, k] = (
                placements[p, k, 0] * normals[v, 0]
                + placements[p, k, 1] * normals[v, 1]
                + placements[p, k, 2] * normals[v, 2]
            )
        x, y, z = placed.world[v, 0], placed.world[v, 1], placed.world[v, 2]
        for k in range(3):
            placed.seen[v, k] = camera[k, 0] * x + camera[k, 1] * y + camera[k, 2] * z + camera[k, 3]
        placed.seen[v, 3] = nearer[p]
        placed.lit[v, 0] = lamp[0, 0] * x + lamp[0, 1] * y + lamp[0, 2] * z + lamp[0, 3]
        placed.lit[v, 1] = lamp[1, 0] * x + lamp[1, 1] * y + lamp[1, 2] * z + lamp[1, 3]
        placed.lit[v, 2] = 1.0
        placed.lit[v, 3] = lamp[2, 0] * x + lamp[2, 1] * y + lamp[2, 2] * z + lamp[2, 3]
