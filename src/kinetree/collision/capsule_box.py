"""A capsule and a box: the nearest point of its segment, and a second one where the capsule lies along the box.

As MuJoCo has it, each is the contact of a ball. The first is at an end of the segment above a face, or at the point
nearest to one of twelve edges. From there the capsule is followed over the box, to its end or to where it leaves the
face: that is the second one. Coordinates are those of the box; along the segment they run from -1 to 1.
"""

from __future__ import annotations

from kinetree.collision.contact_point import ContactPoint, chosen, clipped, nowhere_unless
from kinetree.collision.shapes import Box, Capsule
from kinetree.collision.spheres import ball_box
from kinetree.expr import Scalar, absolute, equal, less, maximum, minimum, select
from kinetree.records import record
from kinetree.spatial import Transform, Vec3

__all__ = ["capsule_box"]

_TINY = 1e-15
_FAR = 1e10


def capsule_box(
    capsule: Capsule, X_a: Transform, box: Box, X_b: Transform, _: Scalar
) -> tuple[ContactPoint, ContactPoint]:
    center = X_b.E @ (X_a.r - X_b.r)
    axis = X_b.E @ X_a.E.z
    segment = _Segment(center, axis * capsule.half_length, axis, Vec3(box.x, box.y, box.z))
    nearest = _nearest(segment)
    exists, further = _second(segment, nearest)
    first, second = (
        ball_box(segment.at(place), capsule.radius, box, X_b) for place in (nearest.place, nearest.place + further)
    )
    return first, nowhere_unless(exists, second)


@record(frozen=True, slots=True)
class _Segment:
    center: Vec3
    half: Vec3
    """From the centre to the end."""
    axis: Vec3
    box: Vec3
    """Half lengths of the box."""

    def at(self, place: Scalar) -> Vec3:
        return self.center + self.half * place


@record(frozen=True, slots=True)
class _Nearest:
    """Where the segment is nearest to the box, and to which part of it; conditions and members of axes are 1 or 0."""

    squared: Scalar
    place: Scalar
    at_face: Scalar
    """Whether it is an end of the segment above a face, or inside."""
    face: Vec3
    """Which axis this face is across; zero inside."""
    edge: Vec3
    """Else which axis the edge is along, …"""
    on_edge: Scalar
    """… the place on it, …"""
    at_corner: Scalar
    """… whether this is an end of it, …"""
    corner: Vec3
    """… and on which side of the box it is; the lower one along the edge itself, unless it is at the upper end."""


def _nearest(s: _Segment) -> _Nearest:
    zero = Vec3.zero()
    best = _Nearest(_FAR, 0.0, 0.0, zero, zero, 0.0, 0.0, zero)
    for end in (-1.0, 1.0):
        point = s.at(end)
        outside: list[Scalar] = []
        beyond: list[Scalar] = []
        for x, h in zip(point.components(), s.box.components(), strict=True):
            beyond.append(x - clipped(x, -h, h))
            outside.append(less(h, absolute(x)))
        squared = beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2]
        squared = select(less(outside[0] + outside[1] + outside[2], 1.5), squared, _FAR)
        new = _Nearest(squared, end, 1.0, Vec3(*outside), zero, 0.0, 0.0, zero)
        best = _better(new, best, 0.0)
    for j in range(3):
        for new in _edges(s, j):
            best = _better(new, best, _TINY)
    return best


def _better(new: _Nearest, best: _Nearest, by: float) -> _Nearest:
    is_better = less(new.squared, best.squared - by)
    return _Nearest(
        select(is_better, new.squared, best.squared),
        select(is_better, new.place, best.place),
        select(is_better, new.at_face, best.at_face),
        chosen(is_better, new.face, best.face),
        chosen(is_better, new.edge, best.edge),
        select(is_better, new.on_edge, best.on_edge),
        select(is_better, new.at_corner, best.at_corner),
        chosen(is_better, new.corner, best.corner),
    )


def _edges(s: _Segment, j: int) -> list[_Nearest]:
    """The segment and the four edges along axis j: of the squared distance of x on the edge and t on the segment,
    the gradient is A x + B t - u, B x + C t - v.
    """
    h_j = s.box.components()[j]
    A, B, C = h_j * h_j, -h_j * s.half.components()[j], s.half.dot(s.half)
    determinant = A * C - B * B
    parallel = less(absolute(determinant), _TINY)
    inverse = 1.0 / select(parallel, 1.0, determinant)
    inverse_A, inverse_C = 1.0 / maximum(A, _TINY), 1.0 / maximum(C, _TINY)
    u = h_j * s.center.components()[j]
    edges = []
    for i in range(8):
        if i >> j & 1:
            continue
        sides = [float(i >> k & 1) for k in range(3)]
        middle = Vec3(*(0.0 if k == j else (2.0 * sides[k] - 1.0) * h for k, h in enumerate(s.box.components())))
        apart = middle - s.center
        v = s.half.dot(apart)
        # The minimum over both lines; then, if it is beyond an end of one, at that end of it.
        x, t = (C * u - B * v) * inverse, (A * v - B * u) * inverse
        x_end = _end(x)
        x_clipped = clipped(x, -1.0, 1.0)
        t = select(equal(x_end, 0.0), t, (v - x_end * B) * inverse_C)
        t_end = _end(t)
        t = clipped(t, -1.0, 1.0)
        again = (u - t_end * B) * inverse_A
        again_end = _end(again)
        t_inside = equal(t_end, 0.0)
        x = select(t_inside, x_clipped, clipped(again, -1.0, 1.0))
        end = select(t_inside, x_end, select(equal(again_end, 0.0), x_end, again_end))
        gap = apart - s.half * t + Vec3(*(h_j * x if k == j else 0.0 for k in range(3)))
        upper: Scalar = select(less(0.5, end), 1.0, 0.0)
        edge = Vec3(*(1.0 if k == j else 0.0 for k in range(3)))
        corner = Vec3(*(upper if k == j else side for k, side in enumerate(sides)))
        squared = select(parallel, _FAR, gap.dot(gap))
        edges.append(_Nearest(squared, t, 0.0, Vec3.zero(), edge, x, 1.0 - equal(end, 0.0), corner))
    return edges


def _end(x: Scalar) -> Scalar:
    """1 or -1 for a place beyond the upper or the lower end, 0 for others."""
    end: Scalar = less(1.0, x) - less(x, -1.0)
    return end


def _second(s: _Segment, nearest: _Nearest) -> tuple[Scalar, Scalar]:
    """Whether there is a second contact, and how far it is along the segment."""
    from_corner, by_corner = _from_corner(s, nearest)
    from_edge, by_edge = _from_edge(s, nearest)
    from_face, by_face = _from_face(s, nearest)

    def chosen_case(face: Scalar, corner: Scalar, edge: Scalar) -> Scalar:
        case: Scalar = select(nearest.at_face, face, select(nearest.at_corner, corner, edge))
        return case

    return chosen_case(from_face, from_corner, from_edge), chosen_case(by_face, by_corner, by_edge)


def _directions(s: _Segment) -> tuple[Scalar, ...]:
    """Whether the segment runs upward along each axis."""
    return tuple(less(0.0, h) for h in s.half.components())


def _lengths(s: _Segment) -> Vec3:
    """How far along the segment the box is crossed along each axis."""
    lengths = []
    for size, h in zip(s.box.components(), s.half.components(), strict=True):
        flat = less(absolute(h), _TINY)
        lengths.append(select(flat, _FAR, 2.0 * size / select(flat, 1.0, absolute(h))))
    return Vec3(*lengths)


def _from_corner(s: _Segment, nearest: _Nearest) -> tuple[Scalar, Scalar]:
    """From a corner, along an edge if the segment is within 45 degrees of it, or over a face."""
    across = [1.0 - equal(d, c) for d, c in zip(_directions(s), nearest.corner.components(), strict=True)]
    count = across[0] + across[1] + across[2]
    one = equal(count, 1.0)
    # The axis on which the segment turns another way than on the two others.
    alone = Vec3(*(select(one, x, 1.0 - x) for x in across))
    sign = select(one, 1.0, -1.0)
    lengths = _lengths(s)
    cosine = alone.dot(s.axis)
    along_edge = minimum(1.0 - sign * nearest.place, alone.dot(lengths))
    over_face = 1.0 + sign * nearest.place
    for member, length in zip(alone.components(), lengths.components(), strict=True):
        over_face = minimum(over_face, select(member, _FAR, length))
    further = select(less(0.5, cosine * cosine), along_edge, -over_face) * sign
    return one + equal(count, 2.0), further


def _from_edge(s: _Segment, nearest: _Nearest) -> tuple[Scalar, Scalar]:
    """From the inside of an edge, over the face that the segment is more along."""
    edge = nearest.edge.components()
    directions = _directions(s)
    across = [
        (1.0 - equal(d, c)) * (1.0 - e) for d, c, e in zip(directions, nearest.corner.components(), edge, strict=True)
    ]
    exists = equal(across[0] + across[1] + across[2], 1.0)
    steep = [absolute(x) for x in s.axis.components()]
    over: list[Scalar] = [0.0, 0.0, 0.0]
    for k in range(3):
        k1, k2 = (k + 1) % 3, (k + 2) % 3
        first = less(steep[k2], steep[k1])
        over[k1] = over[k1] + edge[k] * first
        over[k2] = over[k2] + edge[k] * (1.0 - first)
    upward = across[0] * over[0] + across[1] * over[1] + across[2] * over[2]
    sign = 2.0 * upward - 1.0
    lengths = _lengths(s)
    along = edge[0] * directions[0] + edge[1] * directions[1] + edge[2] * directions[2]
    rest = 1.0 - nearest.on_edge * select(equal(along, upward), 1.0, -1.0)
    further = minimum(1.0 - sign * nearest.place, Vec3(*over).dot(lengths))
    further = minimum(further, 0.5 * nearest.edge.dot(lengths) * rest)
    return exists, further * sign


def _from_face(s: _Segment, nearest: _Nearest) -> tuple[Scalar, Scalar]:
    """From an end above a face, to the other end or to where the segment leaves the face."""
    sign = -nearest.place
    point = s.at(nearest.place)
    face = nearest.face.components()
    further: Scalar = 2.0
    for x, h, size, across in zip(point.components(), s.half.components(), s.box.components(), face, strict=True):
        flat = less(absolute(h), _TINY)
        inverse = sign / select(flat, 1.0, h)
        for side in (size, -size):
            leaves = (side - x) * inverse
            counts = less(0.0, leaves) * (1.0 - flat) * (1.0 - across)
            further = minimum(further, select(counts, leaves, _FAR))
    return face[0] + face[1] + face[2], further * sign
