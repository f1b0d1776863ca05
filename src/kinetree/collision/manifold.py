"""Two convex shapes that may touch with faces or along lines: up to four points of the area that both faces cover.

The normal is that of the nearest point (convex.py). Seen along it, the faces that are turned toward each other are
polygons; corners of their intersection are corners of one inside the other, and places where two of their edges cross.
Each has the distance of the two faces there. Of those within the margin the deepest one is taken, the farthest one from
it, the one that makes the largest triangle with both, and the one farthest outside of this triangle. Where the nearest
point itself is deeper, as on round shapes, it replaces the deepest one.

The face of a shape that is turned toward a direction, as a few corners in their order around it.

A box has the face whose normal is nearest to the direction. A cylinder has four points of a rim, or the line of its
side that is farthest along the direction where this is nearly across the axis; a capsule the ends of its axis. A hull
has the corners that are farthest along four directions around the given one: those of its face, if that has no more
than four and they are not much flatter than right angles, and four corners of a surface that is divided finely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kinetree.collision.contact_point import FAR, ContactPoint, along, chosen, points_unless, sign_of, tangents, unit
from kinetree.collision.convex import core_of
from kinetree.collision.repeated import farthest_each
from kinetree.collision.shapes import Box, Capsule, Cylinder, Hull, Shape
from kinetree.expr import Scalar, absolute, less, less_equal, maximum, minimum, select, sqrt
from kinetree.records import record
from kinetree.spatial import Transform, Vec3

__all__ = ["with_faces"]

_ON_EDGE = 1e-9
"""How far outside an edge a point counts as inside, as a fraction of the polygon."""
_PARALLEL = 1e-9
"""The sine below which two edges do not cross; also that of a triangle without an inside."""
_SAME = 1e-3
"""Points nearer than this fraction of the smaller shape count as one, as in MuJoCo."""
_DEEPER = 1e-6
"""How much deeper the nearest point is where it is taken, as a fraction of the smaller shape."""


def with_faces(
    a: Shape, X_a: Transform, b: Shape, X_b: Transform, margin: Scalar, nearest: ContactPoint, count: int
) -> tuple[ContactPoint, ...]:
    """Four points of two faces, or two of a pair with a capsule, from the nearest one."""
    is_far = less(margin, nearest.distance)
    return points_unless(is_far, count, lambda: _of_faces(a, X_a, b, X_b, margin, nearest, count))


@record(frozen=True, slots=True)
class _Place:
    """A corner of the intersection of two faces: along the normal's tangents, with the heights of both faces there."""

    exists: Scalar
    x: Scalar
    y: Scalar
    distance: Scalar
    middle: Scalar
    """Midway between the surfaces."""

    def if_also(self, condition: Scalar) -> _Place:
        return _Place(self.exists * condition, self.x, self.y, self.distance, self.middle)

    def or_else(self, is_other: Scalar, other: _Place) -> _Place:
        return _Place(
            select(is_other, other.exists, self.exists),
            select(is_other, other.x, self.x),
            select(is_other, other.y, self.y),
            select(is_other, other.distance, self.distance),
            select(is_other, other.middle, self.middle),
        )


def _of_faces(
    a: Shape, X_a: Transform, b: Shape, X_b: Transform, margin: Scalar, nearest: ContactPoint, count: int
) -> list[ContactPoint]:
    n, cores = nearest.normal, (core_of(a), core_of(b))
    s, t = tangents(n)
    origin = nearest.position

    def seen(p: Vec3, X: Transform) -> Vec3:
        away = X.r + X.E.T @ p - origin
        return Vec3(s.dot(away), t.dot(away), n.dot(away))

    P = [seen(p, X_a) for p in face_toward(a, X_a.E @ n)]
    Q = [seen(q, X_b) for q in face_toward(b, -(X_b.E @ n))]
    radii = cores[0].radius, cores[1].radius
    places = [_within(one, radii, margin) for one in _common(P, Q)]
    size = minimum(cores[0].reach, cores[1].reach)
    spread = _spread(places, size, count)
    is_missed = maximum(1.0 - spread[0].exists, less(nearest.distance, spread[0].distance - _DEEPER * size))
    contacts = [
        along(n, select(one.exists, one.distance, FAR), origin + s * one.x + t * one.y + n * one.middle)
        for one in spread
    ]
    first = contacts[0]
    contacts[0] = ContactPoint(
        select(is_missed, nearest.distance, first.distance),
        chosen(is_missed, nearest.position, first.position),
        n,
        nearest.tangent,
    )
    return contacts


def _within(
    place: tuple[Scalar, Scalar, Scalar, Scalar, Scalar], radii: tuple[Scalar, Scalar], margin: Scalar
) -> _Place:
    exists, x, y, low, high = place
    low, high = low + radii[0], high - radii[1]
    distance = high - low
    return _Place(exists * less_equal(distance, margin), x, y, distance, 0.5 * (low + high))


_Found = tuple[Scalar, Scalar, Scalar, Scalar, Scalar]
"""Whether there is such a corner, where it is along the tangents, and the heights of the faces of A and of B."""


def _common(P: Sequence[Vec3], Q: Sequence[Vec3]) -> list[_Found]:
    corners: list[_Found] = []
    for p in P:
        inside, height = _height(p, Q)
        corners.append((inside, p.x, p.y, p.z, height))
    for q in Q:
        inside, height = _height(q, P)
        corners.append((inside, q.x, q.y, height, q.z))
    for p, u in _edges(P):
        for q, v in _edges(Q):
            corners.append(_crossing(p, u, q, v))
    return corners


def _edges(polygon: Sequence[Vec3]) -> list[tuple[Vec3, Vec3]]:
    """The start of each, and the way to its end."""
    count = len(polygon) if len(polygon) > 2 else 1
    return [(polygon[k], polygon[(k + 1) % len(polygon)] - polygon[k]) for k in range(count)]


def _height(p: Vec3, polygon: Sequence[Vec3]) -> tuple[Scalar, Scalar]:
    """Whether a point is inside a polygon, seen along z, and the polygon's height there: that of a triangle of it."""
    inside: Scalar = 0.0
    height: Scalar = 0.0
    for k in range(1, len(polygon) - 1):
        o = polygon[0]
        u, v, w = polygon[k] - o, polygon[k + 1] - o, p - o
        area = u.x * v.y - u.y * v.x
        flat = less_equal(area * area, _PARALLEL * _PARALLEL * (u.x * u.x + u.y * u.y) * (v.x * v.x + v.y * v.y))
        inverse = 1.0 / select(flat, 1.0, area)
        i, j = (w.x * v.y - w.y * v.x) * inverse, (u.x * w.y - u.y * w.x) * inverse
        here = (1.0 - flat) * less_equal(-_ON_EDGE, minimum(minimum(i, j), 1.0 - i - j))
        height = select(here, o.z + i * u.z + j * v.z, height)
        inside = maximum(inside, here)
    return inside, height


def _crossing(p: Vec3, u: Vec3, q: Vec3, v: Vec3) -> _Found:
    """Where the edges p + i u and q + j v cross, seen along z."""
    sine = u.x * v.y - u.y * v.x
    parallel = less_equal(sine * sine, _PARALLEL * _PARALLEL * (u.x * u.x + u.y * u.y) * (v.x * v.x + v.y * v.y))
    inverse = 1.0 / select(parallel, 1.0, sine)
    x, y = q.x - p.x, q.y - p.y
    i, j = (x * v.y - y * v.x) * inverse, (x * u.y - y * u.x) * inverse
    inside = less_equal(-_ON_EDGE, minimum(minimum(i, j), 1.0 - maximum(i, j)))
    return (1.0 - parallel) * inside, p.x + i * u.x, p.y + i * u.y, p.z + i * u.z, q.z + j * v.z


def _spread(places: Sequence[_Place], size: Scalar, count: int) -> list[_Place]:
    """The places that are kept; those that do not exist are copies of others."""
    near = _SAME * size

    def best(measure: Callable[[_Place], Scalar], least: Scalar) -> _Place:
        farthest, most = _Place(0.0, 0.0, 0.0, FAR, 0.0), least
        for place in places:
            value = measure(place)
            better = place.exists * less(most, value)
            farthest, most = farthest.or_else(better, place), select(better, value, most)
        return farthest

    def apart(p: _Place, q: _Place) -> tuple[Scalar, Scalar]:
        return q.x - p.x, q.y - p.y

    first = best(lambda place: -place.distance, -FAR)

    def squared(place: _Place) -> Scalar:
        x, y = apart(first, place)
        return x * x + y * y

    second = best(squared, near * near)
    if count == 2:
        return [first, second]
    x, y = apart(first, second)
    length = sqrt(maximum(x * x + y * y, 1e-30))

    def area(place: _Place) -> Scalar:
        u, v = apart(first, place)
        return x * v - y * u

    third = best(lambda place: absolute(area(place)), near * length)
    side = select(less(area(third), 0.0), -1.0, 1.0)

    def outside(place: _Place) -> Scalar:
        beyond: Scalar = -side * area(place)
        for start, end in ((second, third), (third, first)):
            (u, v), (w, z) = apart(start, end), apart(start, place)
            beyond = maximum(beyond, side * (v * w - u * z))
        return beyond

    fourth = best(outside, near * length)
    is_area = second.exists * third.exists
    return [first, second, third.if_also(is_area), fourth.if_also(is_area)]


_NEARLY = 0.05
"""The sine of an angle: sides that are turned by less count as turned toward a direction."""
_UPRIGHT = 1e-9
"""The sine below which a cylinder's own axes say which points of its rim are taken."""
_TURN = 1.0
"""The angle from the first tangent to the first of the four directions: usual edges are at other angles."""


def face_toward(shape: Shape, n: Vec3) -> list[Vec3]:
    """Two or four corners in the shape's axes, for a unit vector in these."""
    if isinstance(shape, Box):
        return _of_box(shape, n)
    if isinstance(shape, Cylinder):
        return _of_cylinder(shape, n)
    if isinstance(shape, Capsule):
        return _of_capsule(shape, n)
    if isinstance(shape, Hull):
        return _of_hull(shape, n)
    raise TypeError(f"a {shape.kind} has no faces")


def _of_box(box: Box, n: Vec3) -> list[Vec3]:
    x, y, z = absolute(n.x), absolute(n.y), absolute(n.z)
    toward = Vec3(sign_of(n.x) * box.x, sign_of(n.y) * box.y, sign_of(n.z) * box.z)
    is_z = less(maximum(x, y), z)
    is_y = less(x, y)

    def picked(of_x: Vec3, of_y: Vec3, of_z: Vec3) -> Vec3:
        return chosen(is_z, of_z, chosen(is_y, of_y, of_x))

    along = Vec3(toward.x, 0.0, 0.0), Vec3(0.0, toward.y, 0.0), Vec3(0.0, 0.0, toward.z)
    middle = picked(along[0], along[1], along[2])
    u, v = picked(along[1], along[2], along[0]), picked(along[2], along[0], along[1])
    return [middle + u + v, middle - u + v, middle - u - v, middle + u - v]


def _of_cylinder(cylinder: Cylinder, n: Vec3) -> list[Vec3]:
    radial, sine = unit(Vec3(n.x, n.y, 0.0))
    radial = chosen(less(sine, _UPRIGHT), Vec3(1.0, 0.0, 0.0), radial) * cylinder.radius
    lies = less(absolute(n.z), _NEARLY)
    up = Vec3(0.0, 0.0, sign_of(n.z) * cylinder.half_length)
    across = Vec3(-radial.y, radial.x, 0.0)
    return [
        radial + up,
        chosen(lies, radial + up, across + up),
        chosen(lies, radial - up, up - radial),
        chosen(lies, radial - up, up - across),
    ]


def _of_capsule(capsule: Capsule, n: Vec3) -> list[Vec3]:
    end = Vec3(0.0, 0.0, sign_of(n.z) * capsule.half_length)
    return [end, chosen(less(absolute(n.z), _NEARLY), -end, end)]


def _of_hull(hull: Hull, n: Vec3) -> list[Vec3]:
    a, b = tangents(n)
    directions: list[Vec3] = []
    for k in range(4):
        angle = _TURN + 0.5 * math.pi * k
        directions.append(n + a * (_NEARLY * math.cos(angle)) + b * (_NEARLY * math.sin(angle)))
    return farthest_each(hull.vertices, directions)
