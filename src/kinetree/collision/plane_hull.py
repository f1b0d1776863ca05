"""A plane and a convex hull.

Where the hull's faces are known, corners of one of these count (lowest_face.py); otherwise the lowest corner, and the
lowest ones that are not close to those before.
"""

from __future__ import annotations

import math

from kinetree.collision.contact_point import ContactPoint, nowhere_unless
from kinetree.collision.lowest_face import corners_of_lowest_face
from kinetree.collision.planes import above
from kinetree.collision.repeated import farthest_apart
from kinetree.collision.shapes import Hull, Plane
from kinetree.expr import Scalar, less
from kinetree.spatial import Transform, Vec3

__all__ = ["lowest_corners", "plane_hull"]

_SLOTS = 4
_APART = 0.3
"""How far apart the corners are, as a fraction of the greatest distance of a corner from the middle of the hull's box:
corners of a finely divided rim would otherwise be all on one side."""


def plane_hull(_: Plane, X_a: Transform, hull: Hull, X_b: Transform, __: Scalar) -> tuple[ContactPoint, ...]:
    normal = X_a.E.z
    if hull.faces:
        down = -(X_b.E @ normal)
        corners = [(exists, X_b.r + X_b.E.T @ p) for exists, p in corners_of_lowest_face(hull, down)]
    else:
        corners = lowest_corners(normal, hull, X_b)
    return tuple(nowhere_unless(exists, above(normal, X_a.r, corner)) for exists, corner in corners)


def lowest_corners(normal: Vec3, hull: Hull, X_b: Transform) -> list[tuple[Scalar, Vec3]]:
    """For each slot, whether there is such a corner, and where it is in the world."""
    down = -(X_b.E @ normal)
    apart = _APART * _radius(hull)
    lowest: list[Vec3] = []
    corners = []
    for _slot in range(_SLOTS):
        depth, corner = farthest_apart(hull.vertices, down, lowest, apart)
        lowest.append(corner)
        corners.append((less(-1e9, depth), X_b.r + X_b.E.T @ corner))
    return corners


def _radius(hull: Hull) -> float:
    ranges = [(min(x), max(x)) for x in zip(*hull.vertices, strict=True)]
    middle = [0.5 * (low + high) for low, high in ranges]
    return max(math.dist(vertex, middle) for vertex in hull.vertices)
