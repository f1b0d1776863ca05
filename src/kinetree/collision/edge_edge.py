"""The nearest points of an edge of one box and an edge of another, which support the boxes along an axis."""

from __future__ import annotations

from kinetree.collision.box_axes import TwoBoxes
from kinetree.collision.guarded import chosen, clipped
from kinetree.expr import Scalar, absolute, less, select
from kinetree.spatial import Vec3

__all__ = ["edge_points"]

_AMBIGUOUS = 1e-9
"""A component of the axis below which both edges support the box, as in MuJoCo."""
_PARALLEL = 1e-15


def edge_points(boxes: TwoBoxes, axis: Vec3, edge_a: Vec3, edge_b: Vec3) -> tuple[Vec3, Vec3]:
    """A point on the edge of the first box that is farthest along the axis, and one on that of the second box that is
    farthest against it, both in the first one's axes. The edges are given by their directions in their own boxes' axes.
    """
    d_b = boxes.R @ edge_b
    corners_a = _corners(axis, boxes.half_a, edge_a, 1.0)
    corners_b = [boxes.center + boxes.R @ c for c in _corners(boxes.R.T @ axis, boxes.half_b, edge_b, -1.0)]
    half_a, half_b = edge_a.dot(boxes.half_a), edge_b.dot(boxes.half_b)
    best: tuple[Scalar, Vec3, Vec3] | None = None
    for corner_a in corners_a:
        for corner_b in corners_b:
            p, q = _nearest(corner_a, edge_a, half_a, corner_b, d_b, half_b)
            gap = q - p
            squared = gap.dot(gap)
            if best is None:
                best = squared, p, q
            else:
                nearer = less(squared, best[0])
                best = select(nearer, squared, best[0]), chosen(nearer, p, best[1]), chosen(nearer, q, best[2])
    assert best is not None
    return best[1:]


def _corners(axis: Vec3, half: Vec3, edge: Vec3, sign: float) -> tuple[Vec3, Vec3]:
    """The middles of the one or two edges that are farthest along the axis, or against it."""
    first, second = [], []
    for x, h, on_edge in zip(axis.components(), half.components(), edge.components(), strict=True):
        far = select(less(x, 0.0), -sign, sign) * h * (1.0 - on_edge)
        first.append(far)
        second.append(far * select(less(absolute(x), _AMBIGUOUS), -1.0, 1.0))
    return Vec3(*first), Vec3(*second)


def _nearest(p: Vec3, u: Vec3, half_u: Scalar, q: Vec3, w: Vec3, half_w: Scalar) -> tuple[Vec3, Vec3]:
    """The nearest points of two segments by their middles, directions and half lengths."""
    c = q - p
    cosine, along_u, along_w = u.dot(w), u.dot(c), w.dot(c)
    sine2 = 1.0 - cosine * cosine
    parallel = less(sine2, _PARALLEL)
    s = select(parallel, 0.0, (along_u - cosine * along_w) / select(parallel, 1.0, sine2))
    t = clipped(cosine * clipped(s, -half_u, half_u) - along_w, -half_w, half_w)
    return p + u * clipped(along_u + cosine * t, -half_u, half_u), q + w * t
