"""Two boxes: the axis that separates them most, then two faces clipped against each other, or two edges.

The face of the other (incident) box that is turned most against the separating face is clipped at the sides of that
(reference) face. Corners of the clipped polygon are ends of the incident face's edges inside the sides, and corners of
the reference face inside the incident one: eight at most. As in MuJoCo 4, a face is taken instead of a pair of edges if
both are nearly as good, since it gives several points.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.collision.box_axes import EdgeAxis, FaceAxis, TwoBoxes, best_edge, best_face, edge_axes, two_boxes
from kinetree.collision.contact_point import FAR, ContactPoint, along, chosen, clipped, points_unless, sign_of
from kinetree.collision.shapes import Box
from kinetree.expr import Scalar, absolute, equal, less, less_equal, maximum, minimum, select
from kinetree.records import record
from kinetree.spatial import Transform, Vec3

__all__ = ["box_box", "box_contacts", "edge_points"]

_SLOTS = 8
_EDGE_BIAS = 1e-6
_ALIGNED = 0.99
"""The cosine between a face's normal and a product of edges above which the face is preferred, …"""
_FACE_BIAS = 0.05
"""… unless the edges are better by this fraction."""
_ROUNDING = 1e-13
"""The rounding of separations, as a fraction of the boxes' half lengths."""
_ON_SIDE = 1e-12
"""How far outside a side a corner counts as inside, as a fraction of the face."""
_SAME = 1e-14
"""The squared distance of corners that count as one, as a fraction of the squared face."""


def box_box(a: Box, X_a: Transform, b: Box, X_b: Transform, margin: Scalar) -> tuple[ContactPoint, ...]:
    boxes = two_boxes(a, X_a, b, X_b)
    face = best_face(boxes, X_a, X_b)
    edge, most = best_edge(edge_axes(boxes), face.separation, _EDGE_BIAS)
    rounding = _ROUNDING * (a.x + a.y + a.z + b.x + b.y + b.z)
    touching = less_equal(maximum(most, face.separation), margin + rounding)
    # A pair of edges whose axis is nearly the face's normal is left to the face.
    cosine = absolute(face.frame.z.dot(X_a.E.T @ edge.axis))
    alike = less(_ALIGNED, cosine) * less(edge.separation, face.separation + _FACE_BIAS * absolute(face.separation))
    by_edges = less(face.separation, edge.separation) * (1.0 - alike)
    return points_unless(1.0 - touching, _SLOTS, lambda: box_contacts(boxes, face, edge, by_edges, X_a, X_b))


def box_contacts(
    boxes: TwoBoxes, face: FaceAxis, edge: EdgeAxis, by_edges: Scalar, X_a: Transform, X_b: Transform
) -> list[ContactPoint]:
    """The point of two edges in the first slot, or the corners of the clipped face."""
    corners = _clipped_face(face, X_a, X_b, boxes)
    distance, position, normal = _edges_contact(boxes, edge, X_a)
    return [
        along(
            chosen(by_edges, normal, corners.normal) if k == 0 else corners.normal,
            select(by_edges, distance if k == 0 else FAR, d),
            chosen(by_edges, position, x) if k == 0 else x,
        )
        for k, (d, x) in enumerate(zip(corners.distances, corners.positions, strict=True))
    ]


def _edges_contact(boxes: TwoBoxes, edge: EdgeAxis, X_a: Transform) -> tuple[Scalar, Vec3, Vec3]:
    """Distance, position and normal where two edges cross."""
    axis = edge.axis * select(less(edge.axis.dot(boxes.center), 0.0), -1.0, 1.0)
    on_a, on_b = edge_points(boxes, axis, edge.edge_a, edge.edge_b)
    position = X_a.r + X_a.E.T @ ((on_a + on_b) * 0.5)
    return axis.dot(on_b - on_a), position, X_a.E.T @ axis


@record(frozen=True, slots=True)
class _Corners:
    """Corners of the clipped polygon, in the world; those that do not exist are `FAR` away."""

    normal: Vec3
    distances: list[Scalar]
    positions: list[Vec3]


@record(frozen=True, slots=True)
class _Corner:
    """A point that may be a corner of the clipped polygon: along the reference face, and its height above it."""

    exists: Scalar
    at: Vec3

    def unless_at(self, others: Sequence[_Corner], radius2: Scalar) -> _Corner:
        """This corner, where none of the others is at the same place along the face."""
        exists = self.exists
        for other in others:
            x, y = self.at.x - other.at.x, self.at.y - other.at.y
            exists = exists * (1.0 - other.exists * less(x * x + y * y, radius2))
        return _Corner(exists, self.at)


def _clipped_face(face: FaceAxis, X_a: Transform, X_b: Transform, boxes: TwoBoxes) -> _Corners:
    half, frame, of_a = face.half, face.frame, face.is_of_a
    # The incident box in the reference face's axes.
    origin = chosen(of_a, X_a.r, X_b.r)
    center = frame @ (chosen(of_a, X_b.r, X_a.r) - origin)
    incident = (
        chosen(of_a, X_b.E.x, X_a.E.x),
        chosen(of_a, X_b.E.y, X_a.E.y),
        chosen(of_a, X_b.E.z, X_a.E.z),
    )
    axes = tuple(frame @ axis for axis in incident)
    halves = chosen(of_a, boxes.half_b, boxes.half_a).components()
    up = select(less(center.z, 0.0), -1.0, 1.0)

    # Its face that is turned most against the normal: center of the face, and halves of its sides.
    second = less(absolute(axes[0].z), absolute(axes[1].z))
    third = less(maximum(absolute(axes[0].z), absolute(axes[1].z)), absolute(axes[2].z))
    scaled = [axis * h for axis, h in zip(axes, halves, strict=True)]

    def of_three(x: Vec3, y: Vec3, z: Vec3) -> Vec3:
        return chosen(third, z, chosen(second, y, x))

    out = of_three(scaled[0], scaled[1], scaled[2])
    u, v = of_three(scaled[1], scaled[2], scaled[0]), of_three(scaled[2], scaled[0], scaled[1])
    middle = center - out * (up * sign_of(out.z))

    def above(p: Vec3) -> Vec3:
        """A point with its height above the reference face."""
        return Vec3(p.x, p.y, up * p.z - half.z)

    quad = [above(middle + u * s + v * t) for s, t in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))]
    candidates = _polygon(quad, half)
    distances, places = _packed(candidates)
    positions = [
        origin + frame.T @ Vec3(p.x, p.y, up * (half.z + select(less(d, FAR), 0.5 * d, 0.0)))
        for d, p in zip(distances, places, strict=True)
    ]
    return _Corners(frame.z * select(of_a, up, -up), distances, positions)


def _polygon(quad: Sequence[Vec3], half: Vec3) -> list[_Corner]:
    """Candidates for the corners of a parallelogram clipped at |x| <= half.x, |y| <= half.y."""
    tolerance = _ON_SIDE * (half.x + half.y)
    radius2 = _SAME * (half.x * half.x + half.y * half.y)
    beyond = [(p.x - half.x, -half.x - p.x, p.y - half.y, -half.y - p.y) for p in quad]
    inside = [[less_equal(d, tolerance) for d in ds] for ds in beyond]
    corners: list[_Corner] = []
    for k in range(4):
        m = (k + 1) % 4
        start: Scalar = 0.0
        end: Scalar = 1.0
        exists: Scalar = 1.0
        q_inside: Scalar = 1.0
        for d_p, d_q, p_in, q_in in zip(beyond[k], beyond[m], inside[k], inside[m], strict=True):
            differ = 1.0 - equal(p_in, q_in)
            t = clipped(d_p / select(differ, d_p - d_q, 1.0), 0.0, 1.0)
            start = maximum(start, select(differ * q_in, t, 0.0))
            end = minimum(end, select(differ * p_in, t, 1.0))
            exists = exists * maximum(p_in, q_in)
            q_inside = q_inside * q_in
        exists = exists * less_equal(start, end)
        p, along_edge = quad[k], quad[m] - quad[k]
        # The end of an edge at a corner of the quad is the start of the next edge.
        ends = _Corner(exists, p + along_edge * start), _Corner(exists * (1.0 - q_inside), p + along_edge * end)
        for corner in ends:
            corners.append(corner.unless_at(corners, radius2))
    for corner in _face_corners(quad, half):
        corners.append(corner.unless_at(corners[:8], radius2))
    return corners


def _face_corners(quad: Sequence[Vec3], half: Vec3) -> list[_Corner]:
    """Corners of the reference face, which exist where they are inside the parallelogram."""
    middle = (quad[0] + quad[2]) * 0.5
    u, v = (quad[0] - quad[1]) * 0.5, (quad[0] - quad[3]) * 0.5
    area = u.x * v.y - u.y * v.x
    inverse = 1.0 / select(equal(area, 0.0), 1.0, area)
    corners = []
    for sx, sy in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)):
        x, y = sx * half.x - middle.x, sy * half.y - middle.y
        s, t = (x * v.y - y * v.x) * inverse, (u.x * y - u.y * x) * inverse
        is_inside = less_equal(maximum(absolute(s), absolute(t)), 1.0 + _ON_SIDE)
        corners.append(_Corner(is_inside, Vec3(sx * half.x, sy * half.y, middle.z + s * u.z + t * v.z)))
    return corners


def _packed(candidates: Sequence[_Corner]) -> tuple[list[Scalar], list[Vec3]]:
    """Distances and places of the corners that exist, in order, in as many slots as a polygon has corners at most."""
    distances: list[Scalar] = [FAR] * _SLOTS
    places = [candidates[k].at for k in range(_SLOTS)]
    before: Scalar = 0.0
    for k, corner in enumerate(candidates):
        for slot in range(min(k + 1, _SLOTS)):
            here = corner.exists * equal(before, float(slot))
            distances[slot] = select(here, corner.at.z, distances[slot])
            places[slot] = chosen(here, corner.at, places[slot])
        before = before + corner.exists
    return distances, places


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
