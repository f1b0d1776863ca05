"""The fifteen axes along which two boxes may be separated: the normals of their faces, and products of their edges.

Source: Gottschalk, Lin and Manocha, "OBBTree" (SIGGRAPH 1996), section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kinetree.collision.contact_point import chosen
from kinetree.collision.shapes import Box
from kinetree.expr import Scalar, absolute, less, maximum, select, sqrt
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["AXES", "EdgeAxis", "FaceAxis", "TwoBoxes", "absolutes", "best_edge", "best_face", "edge_axes", "two_boxes"]

AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
_PARALLEL = 1e-16
"""The squared sine below which the product of two edges has no direction, as in MuJoCo."""


@record(frozen=True, slots=True)
class TwoBoxes:
    """Two boxes as seen from the first one's axes."""

    R: Mat3
    """Its columns are the axes of the second box."""
    center: Vec3
    """The second one's."""
    half_a: Vec3
    half_b: Vec3


@record(frozen=True, slots=True)
class FaceAxis:
    """The face whose normal separates the boxes most: on which box it is, and its frame, with the normal last."""

    separation: Scalar
    is_of_a: Scalar
    frame: Mat3
    """Rows are axes of that box in the world: two along the face, then its normal."""
    half: Vec3
    """Half lengths along these."""


@record(frozen=True, slots=True)
class EdgeAxis:
    """The product of edges that separates the boxes most."""

    separation: Scalar
    axis: Vec3
    """In the first box's axes, of length 1."""
    edge_a: Vec3
    """The unit vector of the first box's edge, in its own axes."""
    edge_b: Vec3
    """The unit vector of the second box's edge, in that box's axes."""


def two_boxes(a: Box, X_a: Transform, b: Box, X_b: Transform) -> TwoBoxes:
    R = X_a.E.times(X_b.E.T)
    return TwoBoxes(R, X_a.E @ (X_b.r - X_a.r), Vec3(a.x, a.y, a.z), Vec3(b.x, b.y, b.z))


def absolutes(v: Vec3) -> Vec3:
    return Vec3(absolute(v.x), absolute(v.y), absolute(v.z))


def best_face(boxes: TwoBoxes, X_a: Transform, X_b: Transform) -> FaceAxis:
    """The best face; of equally good ones the first, where those of the first box come before those of the second."""
    best: FaceAxis | None = None
    from_b = boxes.R.T @ boxes.center
    for is_of_a, R, center, own, other, E in (
        (1.0, boxes.R, boxes.center, boxes.half_a, boxes.half_b, X_a.E),
        (0.0, boxes.R.T, from_b, boxes.half_b, boxes.half_a, X_b.E),
    ):
        axes, halves = (E.x, E.y, E.z), own.components()
        rows, along = (R.x, R.y, R.z), center.components()
        for k in range(3):
            u, v = (k + 1) % 3, (k + 2) % 3
            separation = absolute(along[k]) - halves[k] - absolutes(rows[k]).dot(other)
            frame, half = Mat3(axes[u], axes[v], axes[k]), Vec3(halves[u], halves[v], halves[k])
            new = FaceAxis(separation, is_of_a, frame, half)
            best = new if best is None else _better_face(new, best)
    assert best is not None
    return best


def _better_face(new: FaceAxis, best: FaceAxis) -> FaceAxis:
    better = less(best.separation, new.separation)
    return FaceAxis(
        select(better, new.separation, best.separation),
        select(better, new.is_of_a, best.is_of_a),
        Mat3(*(chosen(better, x, y) for x, y in zip(_rows(new.frame), _rows(best.frame), strict=True))),
        chosen(better, new.half, best.half),
    )


def _rows(m: Mat3) -> tuple[Vec3, Vec3, Vec3]:
    return m.x, m.y, m.z


def edge_axes(boxes: TwoBoxes) -> Iterator[EdgeAxis]:
    """All nine products of edges; those of parallel edges separate nothing."""
    half_a = boxes.half_a.components()
    rows = tuple(row.components() for row in _rows(boxes.R))
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            y, z = -rows[i2][j], rows[i1][j]
            squared = y * y + z * z
            parallel = less(squared, _PARALLEL)
            inverse = 1.0 / sqrt(select(parallel, 1.0, squared))
            y, z = y * inverse, z * inverse
            parts: list[Scalar] = [0.0, 0.0, 0.0]
            parts[i1], parts[i2] = y, z
            axis = Vec3(*parts)
            across = boxes.R.T @ axis
            reach_a = half_a[i1] * absolute(y) + half_a[i2] * absolute(z)
            without_j = Vec3(*(0.0 if k == j else x for k, x in enumerate(across.components())))
            reach_b = absolutes(without_j).dot(boxes.half_b)
            apart = absolute(axis.dot(boxes.center)) - reach_a - reach_b
            yield EdgeAxis(select(parallel, _NOWHERE, apart), axis, AXES[i], AXES[j])


def best_edge(axes: Iterable[EdgeAxis], start: Scalar, bias: float = 0.0) -> tuple[EdgeAxis, Scalar]:
    """The best product of edges, and the largest separation by any of them.

    The best one has a separation above `start`, or it is not replaced; each better one must be so by `bias` of its own.
    """
    best = EdgeAxis(start, AXES[0], AXES[0], AXES[1])
    most: Scalar = _NOWHERE
    for new in axes:
        most = maximum(most, new.separation)
        better = less(best.separation, new.separation - bias * absolute(new.separation))
        best = EdgeAxis(
            select(better, new.separation, best.separation),
            chosen(better, new.axis, best.axis),
            chosen(better, new.edge_a, best.edge_a),
            chosen(better, new.edge_b, best.edge_b),
        )
    return best, most


_NOWHERE = -1e10
