"""Two convex shapes by a fixed number of iterations: their nearest points, or a shallow way out of each other.

Points of A minus points of B are a convex body C, which contains the origin where the two overlap. The distance of C
from a point x outside is found by GJK (Gilbert, Johnson and Keerthi, IEEE J. Robotics and Automation 4(2), 1988): in a
tetrahedron of points of C, one that its nearest point does not need is replaced by the one that is farthest toward x.
With x the origin this is the distance of shapes that are apart.

For shapes that overlap let h(n) be how far C extends along the unit vector n, so that moving A by -h(n) n parts them.
The point x = (h(n) + δ) n is outside C. The direction n' to it from the nearest point c of C satisfies h(n') = n'.x -
|x - c| <= h(n) n.n', as |x - c| >= δ. So the depth falls until c is along n: a (local) minimum of h, where a touching
plane has its foot in C. The first n is the best one of some thirty directions.

The point of a tetrahedron that is nearest to the origin, by the weights of its corners; it may be flat.

Candidates are the nearest points of its edges, those of its faces whose nearest point is inside, and the origin itself.
All are points of the tetrahedron, so that a face too thin to have a direction does no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from kinetree.collision.contact_point import ContactPoint, along, chosen, clipped, frozen, frozen_vector, sign_of, unit
from kinetree.collision.repeated import farthest, repeated
from kinetree.collision.shapes import Box, Capsule, Cylinder, Ellipsoid, Hull, Shape, Sphere
from kinetree.expr import Scalar, absolute, equal, less, less_equal, maximum, minimum, select, slopes_of, sqrt
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["POLYHEDRA", "ROUND", "Iterations", "are_apart", "convex_convex", "core_of"]


class Iterations(NamedTuple):
    """How many there are."""

    apart: int
    """Toward the origin."""
    rounds: int
    """Rounds of the way out, …"""
    within: int
    """… and iterations in each of them."""


POLYHEDRA, ROUND = Iterations(20, 8, 4), Iterations(24, 16, 6)
"""Numbers for cores with corners, which are exact after some iterations, and for round ones, which gain digits."""
_TOUCHING = 1e-6
"""Cores nearer than this fraction of the smaller shape count as overlapping."""
_OUTSIDE = 0.02
"""How far outside the point of a round is, as a fraction of the smaller shape."""


def convex_convex(a: Shape, X_a: Transform, b: Shape, X_b: Transform, _: Scalar = 0.0) -> tuple[ContactPoint, ...]:
    """The one point where the distance of the shapes is measured."""
    pair = _Pair(core_of(a), core_of(b), X_a.E.times(X_b.E.T), X_a.E @ (X_b.r - X_a.r))
    size = minimum(pair.a.reach, pair.b.reach)
    origin = Vec3.zero()
    first, _length = unit(pair.center)
    start = pair.farthest(first)
    simplex = _Simplex((start,) * 4, (1.0, 0.0, 0.0, 0.0))
    iterations = ROUND if pair.is_round else POLYHEDRA
    simplex = _toward(pair, simplex, origin, iterations.apart)
    gap = weighted(simplex.weights, pair.differences(simplex, origin))
    touching = less(gap.dot(gap), _TOUCHING * _TOUCHING * size * size)

    n = _shallow(pair, first, pair.differences(simplex, origin))
    target = chosen(touching, _outside(pair, n, size), origin)

    def one_round(numbers: list[Scalar]) -> list[Scalar]:
        return _round(pair, numbers, touching, size, iterations.within)

    state = repeated(iterations.rounds, [*simplex.flat(), *target.components()], one_round)
    simplex, target = _Simplex.of([frozen(x) for x in state[:28]]), frozen_vector(Vec3(*state[28:]))
    return (_at_end(pair, simplex, target, touching, X_a),)


def are_apart(a: Shape, X_a: Transform, b: Shape, X_b: Transform) -> bool:
    """Whether a plane between two shapes on floats is found soon; shapes that touch or overlap have none."""
    pair = _Pair(core_of(a), core_of(b), X_a.E.times(X_b.E.T), X_a.E @ (X_b.r - X_a.r))
    n, _length = unit(pair.center)
    simplex = _Simplex((pair.farthest(n),) * 4, (1.0, 0.0, 0.0, 0.0))
    for _ in range(POLYHEDRA.apart):
        if float(pair.extent(n) + pair.a.radius + pair.b.radius) < 0.0:
            return True
        simplex = _toward(pair, simplex, Vec3.zero(), 1)
        points = pair.differences(simplex, Vec3.zero())
        weights, inside = nearest_weights(points)
        if float(inside):
            return False
        n, _length = unit(-weighted(weights, points))
    return False


def _at_end(pair: _Pair, simplex: _Simplex, target: Vec3, touching: Scalar, X_a: Transform) -> ContactPoint:
    """The contact, from the points that the iterations have chosen. These are constants as far as derivatives go."""
    points = pair.differences(simplex, target)
    weights, _ = nearest_weights(points)
    toward, _length = unit(-weighted(weights, points))
    if pair.is_round:
        weights, toward = [frozen(weight) for weight in weights], frozen_vector(toward)
    on_a = weighted(weights, [p for p, _ in simplex.points])
    on_b = pair.of_b(weighted(weights, [q for _, q in simplex.points]))
    along_toward = toward.dot(on_b - on_a)
    # Both are the distance where the iterations have converged; of overlapping shapes no depth is less than this one.
    distance = select(touching, -pair.extent(toward), along_toward)
    if pair.is_round:  # The nearest points and the normal change the distance to second order only.
        distance = frozen(distance - along_toward) + along_toward
    distance = slopes_of(distance, distance - pair.extent_by_sizes(toward))
    normal = X_a.E.T @ toward
    middle = (on_a + toward * pair.a.radius + on_b - toward * pair.b.radius) * 0.5
    return along(normal, distance - pair.a.radius - pair.b.radius, X_a.r + X_a.E.T @ middle)


@record(frozen=True, slots=True)
class _Pair:
    """Two cores as seen from the first one's axes."""

    a: Core
    b: Core
    R: Mat3
    center: Vec3

    @property
    def is_round(self) -> bool:
        return self.a.is_round or self.b.is_round

    def of_b(self, q: Vec3) -> Vec3:
        """A point of the second shape in the first one's axes."""
        return self.center + self.R @ q

    def farthest(self, direction: Vec3) -> tuple[Vec3, Vec3]:
        """The points, each in its own axes, whose difference is farthest along a direction."""
        return self.a.support(direction), self.b.support(-(self.R.T @ direction))

    def extent(self, n: Vec3) -> Scalar:
        """h(n) of the cores."""
        p, q = self.farthest(n)
        return n.dot(p - self.of_b(q))

    def extent_by_sizes(self, n: Vec3) -> Scalar:
        """h(n) as a function of the lengths of the shapes alone: everything else counts as constant."""
        n, on_b = (Vec3(*(slopes_of(x, 0.0) for x in v.components())) for v in (n, self.R.T @ n))
        return n.dot(self.a.support(n)) - on_b.dot(self.b.support(-on_b))

    def differences(self, simplex: _Simplex, target: Vec3) -> list[Vec3]:
        return [p - self.of_b(q) - target for p, q in simplex.points]


@record(frozen=True, slots=True)
class _Simplex:
    """Four pairs of points, and the weights of their differences in the nearest one."""

    points: tuple[tuple[Vec3, Vec3], ...]
    weights: Sequence[Scalar]

    def flat(self) -> list[Scalar]:
        return [x for pair in self.points for p in pair for x in p.components()] + list(self.weights)

    @staticmethod
    def of(numbers: Sequence[Scalar]) -> _Simplex:
        points = tuple((Vec3(*numbers[6 * k : 6 * k + 3]), Vec3(*numbers[6 * k + 3 : 6 * k + 6])) for k in range(4))
        return _Simplex(points, numbers[24:28])


def _toward(pair: _Pair, simplex: _Simplex, target: Vec3, count: int) -> _Simplex:
    """The simplex after some iterations."""

    def step(numbers: list[Scalar]) -> list[Scalar]:
        now = _Simplex.of(numbers)
        points = pair.differences(now, target)
        weights, inside = nearest_weights(points)
        nearest = weighted(weights, points)
        p, q = pair.farthest(-nearest)
        replaced, free = [], 1.0 - inside
        for (old_p, old_q), weight in zip(now.points, weights, strict=True):
            here = free * equal(weight, 0.0)
            free = free * (1.0 - here)
            replaced.append((chosen(here, p, old_p), chosen(here, q, old_q)))
        return _Simplex(tuple(replaced), weights).flat()

    return _Simplex.of(repeated(count, simplex.flat(), step))


def _round(pair: _Pair, numbers: list[Scalar], touching: Scalar, size: Scalar, within: int) -> list[Scalar]:
    """Move the point outside to where it is above the touching plane that is nearest to it."""
    target = Vec3(*numbers[28:])
    simplex = _toward(pair, _Simplex.of(numbers[:28]), target, within)
    points = pair.differences(simplex, target)
    weights, _ = nearest_weights(points)
    n, _length = unit(-weighted(weights, points))
    return [*simplex.flat(), *chosen(touching, _outside(pair, n, size), target).components()]


def _outside(pair: _Pair, n: Vec3, size: Scalar) -> Vec3:
    """The point of a round that starts from the direction n."""
    h = pair.extent(n)
    reach: Scalar = h + 0.1 * maximum(h, 0.0) + _OUTSIDE * size
    return n * reach


def _shallow(pair: _Pair, first: Vec3, around: Sequence[Vec3]) -> Vec3:
    """The direction of the least extent among those of the axes, of their products, between the centres, and normal to
    the faces of a tetrahedron around the origin."""
    x, y, z = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
    of_a, of_b = (x, y, z), (pair.R.T.x, pair.R.T.y, pair.R.T.z)
    directions = [sign for axis in (*of_a, *of_b) for sign in (axis, -axis)]
    for u in of_a:
        for w in of_b:
            product, _length = unit(u.cross(w), first)
            directions.append(product * select(less(product.dot(pair.center), 0.0), -1.0, 1.0))
    directions += [unit(pair.center - u * u.dot(pair.center), first)[0] for u in (z, of_b[2])]
    for a, b, c in combinations(around, 3):
        normal, _length = unit((b - a).cross(c - a), first)
        directions.append(normal * select(less(normal.dot(a), 0.0), -1.0, 1.0))
    best, least = first, pair.extent(first)
    for n in directions:
        h = pair.extent(n)
        shorter = less(h, least)
        best, least = chosen(shorter, n, best), select(shorter, h, least)
    return best


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


@record(frozen=True, slots=True)
class Core:
    """A convex shape in its own axes."""

    radius: Scalar
    """All points at most so far from the core belong to the shape."""
    reach: Scalar
    """No point of the shape is farther from its origin."""
    support: Callable[[Vec3], Vec3]
    """A point of the core that is farthest along a direction, of any length."""
    is_round: bool = False
    """Whether the core is not a polyhedron."""


def core_of(shape: Shape) -> Core:
    if isinstance(shape, Sphere):
        return Core(shape.radius, shape.radius, lambda _: Vec3.zero())
    if isinstance(shape, Capsule):
        h = shape.half_length
        return Core(shape.radius, h + shape.radius, lambda d: Vec3(0.0, 0.0, sign_of(d.z) * h))
    if isinstance(shape, Box):
        x, y, z = shape.x, shape.y, shape.z
        reach = sqrt(x * x + y * y + z * z)
        return Core(0.0, reach, lambda d: Vec3(sign_of(d.x) * x, sign_of(d.y) * y, sign_of(d.z) * z))
    if isinstance(shape, Hull):
        points = shape.vertices
        return Core(0.0, max(math.hypot(*p) for p in points), lambda d: farthest(points, d))
    if isinstance(shape, Cylinder):
        return _cylinder(shape)
    if isinstance(shape, Ellipsoid):
        return _ellipsoid(shape)
    raise TypeError(f"a {shape.kind} is not convex and bounded")


def _cylinder(shape: Cylinder) -> Core:
    r, h = shape.radius, shape.half_length

    def support(d: Vec3) -> Vec3:
        radial, _ = unit(Vec3(d.x, d.y, 0.0))
        return Vec3(radial.x * r, radial.y * r, sign_of(d.z) * h)

    return Core(0.0, sqrt(r * r + h * h), support, is_round=True)


def _ellipsoid(shape: Ellipsoid) -> Core:
    x, y, z = shape.x, shape.y, shape.z

    def support(d: Vec3) -> Vec3:
        u, _ = unit(Vec3(d.x * x, d.y * y, d.z * z))
        return Vec3(u.x * x, u.y * y, u.z * z)

    return Core(0.0, maximum(x, maximum(y, z)), support, is_round=True)
