"""The point of a tetrahedron that is nearest to the origin, by the weights of its corners; it may be flat.

Candidates are the nearest points of its edges, those of its faces whose nearest point is inside, and the origin itself.
All are points of the tetrahedron, so that a face too thin to have a direction does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from kinetree.collision.guarded import clipped
from kinetree.expr import Scalar, absolute, less, less_equal, maximum, minimum, select
from kinetree.spatial import Vec3

__all__ = ["nearest_weights", "weighted"]

_TINY = 1e-30
_THIN = 1e-16
"""The squared sine of an angle below which a face has no direction."""
_FLAT = 1e-9
"""The volume, relative to the cube of its size, below which a tetrahedron has no inside."""


def weighted(weights: Sequence[Scalar], points: Sequence[Vec3]) -> Vec3:
    """Σ weight · point."""
    total = points[0] * weights[0]
    for weight, point in zip(weights[1:], points[1:], strict=True):
        total = total + point * weight
    return total


def nearest_weights(corners: Sequence[Vec3]) -> tuple[list[Scalar], Scalar]:
    """The weights of four corners, and whether the origin is inside."""
    best: tuple[Scalar, list[Scalar]] | None = None
    for i, j in combinations(range(4), 2):
        edge = corners[j] - corners[i]
        length2 = edge.dot(edge)
        t = clipped(-corners[i].dot(edge) / maximum(length2, _TINY), 0.0, 1.0)
        point = corners[i] + edge * t
        new = point.dot(point), _at((i, j), (1.0 - t, t))
        best = new if best is None else _better(new, best)
    assert best is not None
    for face in combinations(range(4), 3):
        best = _better(_on_face(corners, face), best)
    inside, weights = _inside(corners)
    return [select(inside, x, y) for x, y in zip(weights, best[1], strict=True)], inside


def _better(new: tuple[Scalar, list[Scalar]], best: tuple[Scalar, list[Scalar]]) -> tuple[Scalar, list[Scalar]]:
    is_better = less(new[0], best[0])
    return select(is_better, new[0], best[0]), [select(is_better, x, y) for x, y in zip(new[1], best[1], strict=True)]


def _at(places: Sequence[int], weights: Sequence[Scalar]) -> list[Scalar]:
    point: list[Scalar] = [0.0] * 4
    for place, weight in zip(places, weights, strict=True):
        point[place] = weight
    return point


def _on_face(corners: Sequence[Vec3], face: tuple[int, int, int]) -> tuple[Scalar, list[Scalar]]:
    """Squared distance and weights of the nearest point of a face's plane; far away if it is outside the face."""
    a, b, c = (corners[k] for k in face)
    u, v = b - a, c - a
    normal = u.cross(v)
    area2 = normal.dot(normal)
    thin = less(area2, maximum(_TINY, _THIN * u.dot(u) * v.dot(v)))
    inverse = 1.0 / select(thin, 1.0, area2)
    s = v.cross(a).dot(normal) * inverse
    t = a.cross(u).dot(normal) * inverse
    point = a + u * s + v * t
    within = less_equal(0.0, minimum(minimum(s, t), 1.0 - s - t)) * (1.0 - thin)
    return select(within, point.dot(point), 1e30), _at(face, (1.0 - s - t, s, t))


def _inside(corners: Sequence[Vec3]) -> tuple[Scalar, list[Scalar]]:
    """Whether the origin is inside the tetrahedron, and its weights: volumes with it in place of a corner."""
    a, b, c, d = corners
    u, v, w = b - a, c - a, d - a
    volume = u.dot(v.cross(w))
    size2 = maximum(u.dot(u), maximum(v.dot(v), w.dot(w)))
    flat = less(absolute(volume), maximum(_TINY, _FLAT * size2 * size2) / maximum(_TINY, size2))
    inverse = 1.0 / select(flat, 1.0, volume)
    s = -a.dot(v.cross(w)) * inverse
    t = -u.dot(a.cross(w)) * inverse
    r = -u.dot(v.cross(a)) * inverse
    weights = [1.0 - s - t - r, s, t, r]
    least = minimum(minimum(weights[0], s), minimum(t, r))
    return less(0.0, least) * (1.0 - flat), weights
