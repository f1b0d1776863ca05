"""Two convex shapes: their nearest points, or the shortest way out of each other, by iterations that end early.

Points of A minus points of B are a convex body C, which contains the origin where the two overlap. The distance of C
from a point x outside is found by GJK (Gilbert, Johnson and Keerthi, IEEE J. Robotics and Automation 4(2), 1988): of a
tetrahedron of points of C, one that its nearest point does not need is replaced by the one that is farthest toward x.
It ends where that one is not new, or hardly nearer to x. With x the origin this is the distance of shapes that are
apart. A direction along which C does not reach the origin parts them: if by more than the margin, no more is computed.

For shapes that overlap let h(n) be how far C extends along the unit vector n, so that moving A by -h(n) n parts them.
The point x = (h(n) + δ) n is outside C. The direction n' to it from the nearest point c of C satisfies h(n') = n'.x -
|x - c| <= h(n) n.n', as |x - c| >= δ. So the depth falls until c is along n: a (local) minimum of h, where a touching
plane has its foot in C. Every iteration of GJK knows h of a direction, so x moves at once where that is less, not only
where c is exact. Where a shape is round, ways out start from some thirty directions, in the order of their h, as long
as that is not much more than the least depth known.

Of two polyhedra the least h is at a normal of a face of either, or at the product of an edge of each whose arcs of
normals cross (the separating axes of Gottschalk's OBBTree). All are looked at, except where known points of C already
reach as far, and a last way out starts from the best one. On an arc between the normals of an edge, h is at least what
a point of C reaches along both of them.

Where C is curved, GJK gains a digit in two to four iterations. The distance of shapes that are apart is the largest -h,
their depth a smallest h, so directions of Newton's method for h are tried as well. Across an edge or a face of C that
bears the nearest point, h has a crease, and the method goes along it. Its directions only count where they help.

The point of a tetrahedron that is nearest to the origin, by the weights of its corners; it may be flat.

Candidates are the nearest points of its edges, and those of its faces whose nearest point is inside. All are points of
the tetrahedron, so that a face too thin to have a direction does no harm. A corner that brings the
tetrahedron nearer belongs to its nearest point, so iterations try the edges and faces at the newest corner alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import combinations
from typing import Any, NamedTuple

from kinetree.collision.contact_point import (
    FAR,
    ContactPoint,
    along,
    chosen,
    clipped,
    frozen,
    frozen_vector,
    nowhere_unless,
    sign_of,
    tangents,
    unit,
)
from kinetree.collision.repeated import (
    Corners,
    edges_of,
    farthest,
    farthest_each,
    highest_each,
    normals_of,
    over_table,
    reach_of,
    repeated,
)
from kinetree.collision.shapes import Box, Capsule, Hull, MinkowskiSum, Shape, Sphere, sum_of
from kinetree.expr import (
    Scalar,
    absolute,
    equal,
    is_zero,
    less,
    less_equal,
    maximum,
    minimum,
    repeat,
    select,
    slopes_of,
    sqrt,
    unless,
)
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["convex_convex", "core_of"]

_APART, _WITHIN = 40, 48
"""The most iterations toward the origin, and on the way out."""
_CONVERGED = 1e-12
"""Iterations end where no point of C is nearer to x by more than this fraction of the distance."""
_SHORTER = 1e-12
"""The point outside stays where another depth is less by this fraction of the smaller shape, or not at all."""
_STARTS = 8
"""The most ways out that are tried where a shape is round."""
_CLOSE = 0.97
"""The cosine of the angle to an earlier way out from which on none starts."""
_STEEP = 2.0
"""No way out starts from a direction along which the shapes overlap by so many times the depth that is known."""
_HELPS = 1e-6
"""The fraction by which a step must shorten the squared distance, or the next direction is that to x."""
_SAME_CORNER = 1e-5
"""Corners nearer to each other than this fraction of the shapes are the same."""
_SAME_DEPTH = 1e-9
"""Depths that differ by less than this fraction of the smaller shape are the same."""
_PARALLEL = 1e-12
"""The squared sine below which two edges count as parallel, whose product has no direction."""
_TILT = 1e-15
"""The angle by which a step's direction leaves the normal of an edge, so that another corner than the newest comes."""
_UPRIGHT = 1e-6
"""The sine of the angle from a disc's axis below which it counts as turned along a direction."""
_TOUCHING = 1e-6
"""Cores nearer than this fraction of the smaller shape count as overlapping, as those do that no plane parts."""
_OUTSIDE = 0.02
"""How far outside the point of the way out is, as a fraction of the smaller shape."""


def convex_convex(a: Shape, X_a: Transform, b: Shape, X_b: Transform, margin: Scalar = FAR) -> tuple[ContactPoint, ...]:
    """The one point where the distance of the shapes is measured; `FAR` away where they are apart by the margin."""
    R, center = X_a.E.times(X_b.E.T), X_a.E @ (X_b.r - X_a.r)
    pair = _Pair(core_of(a), core_of(b), R, center)
    # The twin has the same numbers under other names: a value has the same bits, whatever else is made of its parts.
    fixed, twin = (_marked(a, b, R, center, mark) for mark in (frozen, lambda x: slopes_of(x, x)))
    size = minimum(fixed.a.reach, fixed.b.reach)
    end = _toward_origin(fixed, size, margin)
    differences = [d for _, d in end.simplex]
    weights = nearest_weights(differences)
    gap = weighted(weights, differences)
    touching = maximum(less_equal(0.0, end.least), less(gap.dot(gap), _TOUCHING * _TOUCHING * size * size))

    def out(numbers: Sequence[Scalar]) -> list[Scalar]:
        ends = _way_out(fixed, differences, (end.best, end.least), size, touching)
        return [select(touching, x, y) for x, y in zip(ends, numbers, strict=True)]

    numbers = unless(1.0 - touching, [*_flat(end.simplex), 0.0, 0.0, 0.0, 0.0], out)
    point = _at_end(pair, fixed, twin, _simplex(numbers), (Vec3(*numbers[24:27]), numbers[27]), touching, X_a)
    return (nowhere_unless(less_equal(point.distance, margin), point),)


def _marked(a: Any, b: Any, R: Mat3, center: Vec3, mark: Callable[[Scalar], Scalar]) -> _Pair:
    def marked(v: Vec3) -> Vec3:
        return Vec3(*map(mark, v.components()))

    one, other = (
        core_of(x if isinstance(x, Hull) else type(x)(*(mark(getattr(x, length.name)) for length in fields(x))))
        for x in (a, b)
    )
    return _Pair(one, other, Mat3(marked(R.x), marked(R.y), marked(R.z)), marked(center))


_Simplex = Sequence[tuple[Vec3, Vec3]]
"""Four points of A, in its axes, and of C."""


def _flat(simplex: _Simplex) -> list[Scalar]:
    return [x for pair in simplex for p in pair for x in p.components()]


def _simplex(numbers: Sequence[Scalar]) -> _Simplex:
    return [(Vec3(*numbers[k : k + 3]), Vec3(*numbers[k + 3 : k + 6])) for k in range(0, 24, 6)]


class _State(NamedTuple):
    """The state that an iteration leaves to the next."""

    simplex: _Simplex
    weights: Sequence[Scalar]
    """The weights of its nearest point."""
    best: Vec3
    """The direction along which C reaches least, of those seen, …"""
    least: Scalar
    """… and how far."""
    toward: Vec3
    """The direction to try."""
    is_step: Scalar
    """Whether this is a step of Newton's method from the best one, not the direction to x."""

    def numbers(self) -> list[Scalar]:
        return [*_flat(self.simplex), *self.weights, *self.best.components(), self.least, *self.toward.components(),
                self.is_step]  # fmt: skip

    @staticmethod
    def of(x: Sequence[Scalar]) -> _State:
        return _State(_simplex(x), x[24:28], Vec3(*x[28:31]), x[31], Vec3(*x[32:35]), x[35])


def _search(
    pair: _Pair,
    start: tuple[Vec3, Scalar],
    count: int,
    ends: Callable[[_State, Vec3], Scalar],
    outside: Callable[[Vec3, Scalar], Vec3] | None = None,
    least_change: Scalar = 0.0,
) -> _State:
    """Iterations from a direction and how far C reaches along it; toward the origin, or `outside(best, least)`.

    `ends` says whether a state is good enough, which has also the vector from that point to C.
    """

    def target_of(n: Vec3, h: Scalar) -> Vec3:
        return outside(n, h) if outside else Vec3.zero()

    def step(numbers: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        now = _State.of(numbers)
        newest = pair.farthest(now.toward)
        h = now.toward.dot(newest[1])
        shorter = less(h, now.least - least_change)
        best, least = chosen(shorter, now.toward, now.best), select(shorter, h, now.least)
        old, target = weighted(now.weights, [d for _, d in now.simplex]), target_of(now.best, now.least)
        length = sqrt((old - target).dot(old - target))
        is_last = less_equal(length + h - now.toward.dot(target), _CONVERGED * length)
        is_last = maximum(is_last, _is_among(newest[1], now) * (1.0 - now.is_step))

        target = target_of(best, least)
        simplex = _with_newest(now.simplex, now.weights, newest)
        weights = nearest_weights([d - target for _, d in simplex], at_first=True)
        nearest, old = weighted(weights, [d for _, d in simplex]) - target, old - target
        worse = less_equal(old.dot(old) * (1.0 - _CONVERGED), nearest.dot(nearest))
        is_step: Scalar = 0.0
        if pair.is_round:
            drop = now.is_step * worse
            numbers = [select(drop, x, y) for x, y in zip(numbers, [*_flat(simplex), *weights], strict=False)]
            simplex, weights, nearest = _simplex(numbers), numbers[24:], chosen(drop, old, nearest)
        toward, length = unit(-nearest)
        if pair.is_round:
            further, exists = pair.newton_step(now.toward, newest[1], h, *pair.flat_parts(simplex, weights))
            helps = less(nearest.dot(nearest), old.dot(old) * (1.0 - _HELPS))
            is_step = exists * maximum(1.0 - now.is_step, helps)
            toward = chosen(is_step, further, toward)
        after = _State(simplex, weights, best, least, toward, is_step)
        is_last = maximum(is_last, worse * (1.0 - now.is_step))
        if outside:
            is_last = is_last * (1.0 - shorter)
        return after.numbers(), maximum(is_last, ends(after, nearest))

    n, h = start
    first = pair.farthest(n)
    toward, _length = unit(target_of(n, h) - first[1])
    begin = _State([first] * 4, [1.0, 0.0, 0.0, 0.0], n, h, toward, 0.0)
    return _State.of(repeat(count, begin.numbers(), step))


def _toward_origin(pair: _Pair, size: Scalar, margin: Scalar) -> _State:
    first, _length = unit(pair.center)
    parted = -(margin + pair.a.radius + pair.b.radius)

    def ends(now: _State, nearest: Vec3) -> Scalar:
        length = sqrt(nearest.dot(nearest))
        inside = contains_origin([d for _, d in now.simplex]) * less(0.0, now.least)
        is_known = maximum(less(length, _TOUCHING * size), less_equal(length + now.least, _CONVERGED * length))
        is_last: Scalar = maximum(maximum(inside, is_known), less(now.least, parted))
        return is_last

    return _search(pair, (first, pair.extent(first)), _APART, ends)


def _way_out(
    pair: _Pair, around: Sequence[Vec3], start: tuple[Vec3, Scalar], size: Scalar, touching: Scalar
) -> Sequence[Scalar]:
    """The tetrahedron, direction and distance of the point outside where the way out is shortest, of a few starts.

    If a shape is round, the next start is the direction of least extent that is not close to an earlier start or to
    where it led. After these comes a direction normal to faces or edges, if the way out along one is shorter still.
    """
    is_exact = pair.a.edges is not None and pair.b.edges is not None
    # Boxes and capsules in round shapes start along their axes already.
    has_edges = is_exact or any(core.each and core.edges for core in (pair.a, pair.b))
    others = [] if is_exact else _directions(pair, around, start[0])
    tiny = _SAME_DEPTH * size

    def step(numbers: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        best, tries, first, left = numbers[:29], numbers[29], Vec3(*numbers[30:33]), numbers[33:]
        was_last = less_equal(_STARTS, tries)
        starts = [first, *others]
        n, h = first, left[0]
        for other, extent in zip(others, left[1:], strict=True):
            shorter = less(extent, h)
            n, h = chosen(shorter, other, n), select(shorter, extent, h)
        bottom, end = _downhill(pair, n, h, size, touching)
        shorter = less(bottom[-1], best[-1])
        best = [select(shorter, x, y) for x, y in zip(bottom, best, strict=True)]
        tried = [maximum(less(_CLOSE, other.dot(n)), less(_CLOSE, other.dot(end.best))) for other in starts]
        left = [select(done, FAR, extent) for done, extent in zip(tried, left, strict=True)]
        lowest = left[0]
        for extent in left[1:]:
            lowest = minimum(lowest, extent)
        is_last = maximum(less_equal(_STARTS - 1.0, tries), less(_STEEP * best[-1], lowest))
        is_last = maximum(is_last, 1.0 - touching)
        tries = select(is_last, float(_STARTS), tries + 1.0)
        if not has_edges:
            return [*best, tries, *first.components(), *left], is_last
        idle = maximum(maximum(was_last, 1.0 - is_last), 1.0 - touching)
        idle = maximum(idle, less_equal(best[-1], _TOUCHING * size))
        least, (_, behind) = Vec3(*best[24:27]), pair.farthest(-end.best)
        corners = [
            chosen(equal(weight, 0.0), behind, d) for (_, d), weight in zip(end.simplex, end.weights, strict=True)
        ]
        idle = maximum(idle, holds_ball(corners, best[-1] - tiny))
        known = [behind, *(d for _, d in end.simplex)]
        n, h = _least_of_features(pair, least, best[-1], known, tiny, idle)
        shorter = less(h, best[-1] - tiny)
        first, left[0] = chosen(shorter, n, first), select(shorter, h, left[0])
        return [*best, tries, *first.components(), *left], is_last * (1.0 - shorter)

    extents = pair.extents(others) if others else []
    return repeat(_STARTS + has_edges, [*[0.0] * 28, FAR, 0.0, *start[0].components(), start[1], *extents], step)[:28]


def _least_of_features(
    pair: _Pair, n: Vec3, h: Scalar, known: Sequence[Vec3], tiny: Scalar, idle: Scalar
) -> tuple[Vec3, Scalar]:
    """The direction of least extent of two polyhedra, and the extent, if that is less than one that is known.

    It is normal to a face of A or of B, or to an edge of each whose arcs cross. Nothing is computed where known points
    of C reach as far as the least extent.
    """

    mirror = _Pair(pair.b, pair.a, pair.R.T, pair.in_b(Vec3.zero()))
    if pair.a.edges is None:
        m, least = _least_of_features(mirror, -(pair.R.T @ n), h, [-(pair.R.T @ c) for c in known], tiny, idle)
        return -(pair.R @ m), least

    def of(numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        n, h = Vec3(*numbers[:3]), numbers[3]
        points = [*known, *(d for _, d in pair.farthest_each(_around(n)))]
        n, h = _over_edges(pair, n, h, points, tiny, idle)
        m, least = _over_faces(mirror, n, h, [-(pair.R.T @ c) for c in points], tiny, idle)
        n = chosen(less(least, h), -(pair.R @ m), n)
        return [*n.components(), least]

    ends = unless(idle, [*n.components(), h], of)
    return Vec3(*ends[:3]), ends[3]


def _around(n: Vec3) -> list[Vec3]:
    """Directions away from one."""
    s, t = tangents(n)
    return [n * 0.5 + v * _SINE for v in (s, t, -s, -t)]


_SINE = 0.75**0.5
"""The sine of the angle, 60°."""


def _over_faces(
    pair: _Pair, n: Vec3, h: Scalar, known: Sequence[Vec3], tiny: Scalar, idle: Scalar
) -> tuple[Vec3, Scalar]:
    """A direction and its extent, or a normal of A whose extent is less."""

    def face(row: tuple[Scalar, ...], numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        normal = Vec3(*row)
        is_known = maximum(idle, less_equal(numbers[3] - tiny, _bound(known, (normal, normal))))

        def extent(numbers: Sequence[Scalar]) -> Sequence[Scalar]:
            h = pair.extent(normal)
            lower = less(h, numbers[3]) * (1.0 - is_known)
            return [select(lower, x, y) for x, y in zip((*normal.components(), h), numbers, strict=True)]

        return unless(is_known, numbers, extent)

    if not pair.a.normals:
        return n, h
    ends = over_table(pair.a.normals, [*n.components(), h], face, pair.center.x)
    return Vec3(*ends[:3]), ends[3]


def _over_edges(
    pair: _Pair, n: Vec3, h: Scalar, known: Sequence[Vec3], tiny: Scalar, idle: Scalar
) -> tuple[Vec3, Scalar]:
    """The same of the ends of arcs of A, and of arcs of B that cross them."""
    a, b = pair.a, pair.b

    def edge(row: tuple[Scalar, ...], numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        n1, n2, e, p = a.edge(row)
        is_known = maximum(idle, less_equal(numbers[3] - tiny, _bound(known, (n1, n2))))

        def ends(numbers: Sequence[Scalar]) -> Sequence[Scalar]:
            lowest, h = Vec3(*numbers[:3]), numbers[3]
            between, _length = unit(lowest - e * e.dot(lowest))
            within = less(0.0, minimum(n1.cross(between).dot(e), between.cross(n2).dot(e)))
            between = chosen(within, between, unit(n1 + n2)[0])
            if b.is_round:
                between = _lowest_of_arc(pair, n1, n2, e, p)
            directions = [n1, n2, between]
            points = [p - pair.of_b(q) for q in b.supports([-(pair.R.T @ n) for n in directions])]
            for n, point in zip(directions, points, strict=True):
                extent = n.dot(point)
                lower = less(extent, h) * (1.0 - is_known)
                lowest, h = chosen(lower, n, lowest), select(lower, extent, h)
            numbers = [*lowest.components(), h]
            if not b.edges:
                return numbers
            points = [*known, *points]
            reach = minimum(_bound(points, (n1, between)), _bound(points, (between, n2)))
            is_idle = maximum(is_known, less_equal(h - tiny, reach))
            return unless(is_idle, numbers, lambda x: _crossing(pair, (n1, n2, e, p), x, is_idle))

        return unless(is_known, numbers, ends)

    if not a.edges:
        return n, h
    ends = over_table(a.edges, [*n.components(), h], edge, pair.center.x)
    return Vec3(*ends[:3]), ends[3]


def _lowest_of_arc(pair: _Pair, n1: Vec3, n2: Vec3, e: Vec3, p: Vec3) -> Vec3:
    """The direction of least extent on an arc of A, by bisection; B is round."""

    def half(numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        low, high = Vec3(*numbers[:3]), Vec3(*numbers[3:])
        n = unit(low + high)[0]
        falls = less(e.cross(n).dot(p - pair.of_b(pair.b.support(-(pair.R.T @ n)))), 0.0)
        return [*chosen(falls, n, low).components(), *chosen(falls, high, n).components()]

    ends = repeated(_HALVES, [*n1.components(), *n2.components()], half)
    return unit(Vec3(*ends[:3]) + Vec3(*ends[3:]))[0]


_HALVES = 20
"""How often an arc is halved."""


def _bound(points: Sequence[Vec3], ends: tuple[Vec3, Vec3]) -> Scalar:
    """How far points reach at least, one of them along all directions of an arc."""
    most: Scalar = -FAR
    for point in points:
        most = maximum(most, minimum(*(n.dot(point) for n in ends)))
    return most


def _crossing(
    pair: _Pair, edge: tuple[Vec3, Vec3, Vec3, Vec3], start: Sequence[Scalar], idle: Scalar
) -> Sequence[Scalar]:
    """The same of the products of an edge of A and those of B whose arcs cross its arc."""
    n1, n2, e = (pair.R.T @ v for v in edge[:3])
    p = pair.in_b(edge[3])

    def cross(row: tuple[Scalar, ...], numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        m1, m2, f, q = pair.b.edge(row)
        turns = n1.dot(f), -n2.dot(f), m1.dot(e), -m2.dot(e)
        low = minimum(minimum(turns[0], turns[1]), minimum(turns[2], turns[3]))
        high = maximum(maximum(turns[0], turns[1]), maximum(turns[2], turns[3]))
        product = e.cross(f)
        squared, way = product.dot(product), product.dot(p - q)
        way = select(less_equal(0.0, low), way, select(less_equal(high, 0.0), -way, 0.0))
        best, over = numbers[3], numbers[4]
        shorter = less(0.0, way) * less(way * way * over, best * best * squared) * less(_PARALLEL, squared)
        shorter = shorter * (1.0 - idle)
        product = product * select(less_equal(0.0, low), 1.0, -1.0)
        new = (*product.components(), way, squared)
        return [select(shorter, x, y) for x, y in zip(new, numbers, strict=True)]

    *normal, h, squared = over_table(pair.b.edges or (), [0.0, 0.0, 0.0, start[3], 1.0], cross, pair.center.x)
    length = 1.0 / sqrt(squared)
    numbers = [*(pair.R @ (Vec3(*normal) * length)).components(), h * length]
    return [select(less(numbers[3], start[3]), x, y) for x, y in zip(numbers, start, strict=True)]


def _downhill(pair: _Pair, n: Vec3, h: Scalar, size: Scalar, touching: Scalar) -> tuple[list[Scalar], _State]:
    """The same where a way out that starts along n ends, with the depth; and the state there."""

    def above(h: Scalar) -> Scalar:
        height: Scalar = 0.1 * maximum(h, 0.0) + _OUTSIDE * size
        return height

    def outside(n: Vec3, h: Scalar) -> Vec3:
        return n * (h + above(h))

    def ends(now: _State, nearest: Vec3) -> Scalar:
        height = above(now.least) * (1.0 + _CONVERGED)
        is_last: Scalar = maximum(1.0 - touching, less_equal(nearest.dot(nearest), height * height))
        return is_last

    end = _search(pair, (n, h), _WITHIN, ends, outside, _SHORTER * size)
    return [*_flat(end.simplex), *end.best.components(), end.least + above(end.least), end.least], end


def _longest(rows: Sequence[Sequence[Vec3]], tiny: Scalar) -> tuple[Vec3, Scalar, Sequence[Vec3]]:
    """The direction of the longest first vector of a row, whether it is longer than something tiny, and its row.

    Where it is not, the direction is zero.
    """
    best, most = rows[0], rows[0][0].dot(rows[0][0])
    for row in rows[1:]:
        squared = row[0].dot(row[0])
        longer = less(most, squared)
        best, most = [chosen(longer, x, y) for x, y in zip(row, best, strict=True)], maximum(most, squared)
    is_one = less(tiny * tiny, most)
    return best[0] * (is_one / sqrt(select(is_one, most, 1.0))), is_one, best


def _is_among(d: Vec3, now: _State) -> Scalar:
    """Whether a point of C is one of those that the nearest point lies between."""
    among: Scalar = 0.0
    for (_, other), weight in zip(now.simplex, now.weights, strict=True):
        same = equal(d.x, other.x) * equal(d.y, other.y) * equal(d.z, other.z)
        among = maximum(among, same * less(0.0, weight))
    return among


def _with_newest(simplex: _Simplex, weights: Sequence[Scalar], newest: tuple[Vec3, Vec3]) -> _Simplex:
    """The newest corner first, in place of one without weight."""
    replaced, free, (first_p, first_d) = [newest], 1.0 - equal(weights[0], 0.0), simplex[0]
    for (p, d), weight in zip(simplex[1:], weights[1:], strict=True):
        here = free * equal(weight, 0.0)
        free = free * (1.0 - here)
        replaced.append((chosen(here, first_p, p), chosen(here, first_d, d)))
    return replaced


def _at_end(
    pair: _Pair,
    fixed: _Pair,
    twin: _Pair,
    simplex: _Simplex,
    outside: tuple[Vec3, Scalar],
    touching: Scalar,
    X_a: Transform,
) -> ContactPoint:
    """The contact, from the points that the iterations have chosen. These are constants as far as derivatives go."""
    on_both = [(p, fixed.in_b(p - d)) for p, d in simplex]
    points = [p - pair.of_b(q) - outside[0] * outside[1] for p, q in on_both]
    weights = nearest_weights(points)
    toward, _length = unit(-weighted(weights, points))
    if pair.is_round:
        weights, toward = (
            [frozen(weight) for weight in weights],
            frozen_vector(chosen(touching, outside[0], toward)),
        )
    on_a = weighted(weights, [p for p, _ in on_both])
    on_b = pair.of_b(weighted(weights, [q for _, q in on_both]))
    along_toward = toward.dot(on_b - on_a)
    # Both are the distance where the iterations have converged; of overlapping shapes no depth is less than this one.
    distance = select(touching, -pair.extent(toward), along_toward)
    if pair.is_round:
        distance = frozen(distance - along_toward) + along_toward
    turned, *ends = _moving(twin, on_both, weights, toward)
    distance = slopes_of(distance, turned.dot(ends[1] - ends[0])) - pair.a.radius - pair.b.radius
    middle, moved = _middle(pair, toward, on_a, on_b), _middle(twin, turned, *ends)
    position = X_a.r + X_a.E.T @ middle
    position = _with_slopes(position, position + X_a.E.T @ (moved - middle))
    return along(_with_slopes(X_a.E.T @ toward, X_a.E.T @ turned), distance, position)


def _middle(pair: _Pair, toward: Vec3, on_a: Vec3, on_b: Vec3) -> Vec3:
    """The place midway between the surfaces, from nearest points of the cores."""
    return (on_a + toward * pair.a.radius + on_b - toward * pair.b.radius) * 0.5


def _with_slopes(value: Vec3, moving: Vec3) -> Vec3:
    return Vec3(*map(slopes_of, value.components(), moving.components()))


def _moving(
    pair: _Pair, on_both: Sequence[tuple[Vec3, Vec3]], weights: Sequence[Scalar], n: Vec3
) -> tuple[Vec3, Vec3, Vec3]:
    """The direction and the nearest points as functions of placements and lengths, near those that are given.

    h is least along n, so one step of Newton's method from there has the derivative of the solution. Where C is flat,
    at an edge or a face with the directions u and v, n stays across these, and the nearest point c of C moves along
    them so that it stays along n.
    """
    weights, n = [frozen(weight) for weight in weights], frozen_vector(n)

    def places(n: Vec3) -> tuple[list[Vec3], list[Vec3]]:
        m = -(pair.R.T @ n)
        return [pair.a.moved(p, n) for p, _ in on_both], [pair.of_b(pair.b.moved(q, m)) for _, q in on_both]

    on_a, on_b = places(n)
    points = [p - q for p, q in zip(on_a, on_b, strict=True)]
    base, most = (on_a[0], points[0]), weights[0]
    for p, d, weight in zip(on_a[1:], points[1:], weights[1:], strict=True):
        more = less(most, weight)
        base, most = (chosen(more, p, base[0]), chosen(more, d, base[1])), maximum(most, weight)
    rows = [(edge, edge) for edge in pair.a.flat(n)]
    rows += [(-(pair.R @ edge), Vec3.zero()) for edge in pair.b.flat(-(pair.R.T @ n))]
    for p, d, weight in zip(on_a, points, weights, strict=True):
        counts = less(0.0, weight)
        rows.append((chosen(counts, d - base[1], Vec3.zero()), chosen(counts, p - base[0], Vec3.zero())))
    tiny = _SAME_CORNER * (pair.a.reach + pair.b.reach)
    u, has_edge, first = _longest(rows, tiny)
    across = [(edge - u * u.dot(edge), edge, of_a) for edge, of_a in rows]
    v, has_face, (_, *second) = _longest(across, tiny)

    def nearest(n: Vec3) -> tuple[Vec3, Vec3]:
        on_a, on_b = places(n)
        return weighted(weights, on_a), weighted(weights, on_b)

    start, _length = unit(n - u * u.dot(n), n)
    p, q = nearest(start)
    step, exists = pair.newton_step(start, p - q, n.dot(p - q), (u, has_edge), (v, has_face))
    n = chosen(exists, step, n)
    p, q = nearest(n)
    y = -v.dot(p - q) / select(has_face, v.dot(second[0]), 1.0)
    x = -u.dot(p - q + second[0] * y) / select(has_edge, u.dot(first[0]), 1.0)
    return n, p + first[1] * x + second[1] * y, q + (first[1] - first[0]) * x + (second[1] - second[0]) * y


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

    def in_b(self, p: Vec3) -> Vec3:
        """A point in the second shape's axes, from the first one's."""
        return self.R.T @ (p - self.center)

    def farthest(self, n: Vec3) -> tuple[Vec3, Vec3]:
        """The point of A and that of C that are farthest along a direction."""
        p, q = self.a.support(n), self.b.support(-(self.R.T @ n))
        return p, p - self.of_b(q)

    def farthest_each(self, directions: Sequence[Vec3]) -> list[tuple[Vec3, Vec3]]:
        """The farthest points along each of some directions."""
        of_a, of_b = self.a.supports(directions), self.b.supports([-(self.R.T @ n) for n in directions])
        return [(p, p - self.of_b(q)) for p, q in zip(of_a, of_b, strict=True)]

    def extent(self, n: Vec3) -> Scalar:
        """h(n) of the cores."""
        return n.dot(self.farthest(n)[1])

    def extents(self, directions: Sequence[Vec3]) -> list[Scalar]:
        """h of each."""
        of_a, of_b = self.a.extents(directions), self.b.extents([-(self.R.T @ n) for n in directions])
        return [x + y - n.dot(self.center) for x, y, n in zip(of_a, of_b, directions, strict=True)]

    def flat_parts(self, simplex: _Simplex, weights: Sequence[Scalar]) -> tuple[tuple[Vec3, Scalar], ...]:
        """Directions along which C is flat between corners that both count in its nearest point, the first one and
        others; and whether there are such."""
        corners = [self.a.corner(p) - self.R @ self.b.corner(self.in_b(p - d)) for p, d in simplex]
        counts = [less(0.0, weight) for weight in weights[1:]]
        edges = [chosen(is_one, p - corners[0], Vec3.zero()) for is_one, p in zip(counts, corners[1:], strict=True)]
        tiny = _SAME_CORNER * (self.a.reach + self.b.reach)
        u, has_edge, _ = _longest([(edge,) for edge in edges], tiny)
        v, has_face, _ = _longest([(edge - u * u.dot(edge),) for edge in edges], tiny)
        return (u, has_edge), (v, has_face)

    def newton_step(
        self, n: Vec3, newest: Vec3, h: Scalar, edge: tuple[Vec3, Scalar], face: tuple[Vec3, Scalar]
    ) -> tuple[Vec3, Scalar]:
        """A step of Newton's method for the least h, from n and its farthest point of C; and whether there is one.

        C may be flat there, along the direction of an edge, or that and another one across it in a face, where they
        exist: n becomes normal to these.
        """
        (u, has_edge), (v, has_face) = edge, face
        s, t = tangents(n)
        s, t = chosen(has_edge, unit(u.cross(n))[0], s), chosen(has_edge, u, t)
        m = -(self.R.T @ n)
        along_s, along_t = (self.a.bend(n, x) + self.R @ self.b.bend(m, self.R.T @ x) for x in (s, t))
        a, b, c = s.dot(along_s) - h, s.dot(along_t), t.dot(along_t) - h
        x, y = s.dot(newest), t.dot(newest)
        b, c, y = select(has_edge, 0.0, b), select(has_edge, 1.0, c), select(has_edge, t.dot(n), y)
        determinant = a * c - b * b
        exists = less(0.0, a) * less(0.0, determinant)
        inverse = 1.0 / select(exists, determinant, 1.0)
        step = n + s * ((b * y - c * x) * inverse) + t * ((b * x - a * y) * inverse)
        normal = u.cross(v)
        step = chosen(has_face, normal * sign_of(normal.dot(n)), step) + (u + v) * _TILT
        return unit(step)[0], maximum(has_face, exists)


def _directions(pair: _Pair, around: Sequence[Vec3], otherwise: Vec3) -> list[Vec3]:
    """Directions of the axes, of their products, between the centres, and normal to the faces of a tetrahedron around
    the origin."""
    x, y, z = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)
    of_a, of_b = (x, y, z), (pair.R.T.x, pair.R.T.y, pair.R.T.z)
    directions = [sign for axis in (*of_a, *of_b) for sign in (axis, -axis)]
    for u in of_a:
        for w in of_b:
            product, _length = unit(u.cross(w), otherwise)
            directions.append(product * select(less(product.dot(pair.center), 0.0), -1.0, 1.0))
    directions += [unit(pair.center - u * u.dot(pair.center), otherwise)[0] for u in (z, of_b[2])]
    for a, b, c in combinations(around, 3):
        normal, _length = unit((b - a).cross(c - a), otherwise)
        directions.append(normal * select(less(normal.dot(a), 0.0), -1.0, 1.0))
    return directions


_TINY = 1e-30
_THIN = 1e-16
"""The squared sine of an angle below which a face has no direction."""
_FLAT = 1e-6
"""The volume, relative to the cube of its size, below which a tetrahedron has no inside."""


def weighted(weights: Sequence[Scalar], points: Sequence[Vec3]) -> Vec3:
    """Σ weight · point."""
    total = points[0] * weights[0]
    for weight, point in zip(weights[1:], points[1:], strict=True):
        total = total + point * weight
    return total


def nearest_weights(corners: Sequence[Vec3], at_first: bool = False) -> list[Scalar]:
    """The weights of four corners, for an origin outside; those of the best edge or face at the first one, if asked."""
    edges, faces = ([k for k in combinations(range(4), size) if k[0] == 0 or not at_first] for size in (2, 3))
    candidates = [_on_edge(corners, edge) for edge in edges] + [_on_face(corners, face) for face in faces]
    best = candidates[0]
    for new in candidates[1:]:
        best = _better(new, best)
    return best[1]


def _better(new: tuple[Scalar, list[Scalar]], best: tuple[Scalar, list[Scalar]]) -> tuple[Scalar, list[Scalar]]:
    is_better = less(new[0], best[0])
    return select(is_better, new[0], best[0]), [select(is_better, x, y) for x, y in zip(new[1], best[1], strict=True)]


def _at(places: Sequence[int], weights: Sequence[Scalar]) -> list[Scalar]:
    point: list[Scalar] = [0.0] * 4
    for place, weight in zip(places, weights, strict=True):
        point[place] = weight
    return point


def _on_edge(corners: Sequence[Vec3], ends: Sequence[int]) -> tuple[Scalar, list[Scalar]]:
    """Squared distance and weights of the nearest point of an edge."""
    a, b = (corners[k] for k in ends)
    edge = b - a
    t = clipped(-a.dot(edge) / maximum(edge.dot(edge), _TINY), 0.0, 1.0)
    point = a + edge * t
    return point.dot(point), _at(ends, (1.0 - t, t))


def _on_face(corners: Sequence[Vec3], face: Sequence[int]) -> tuple[Scalar, list[Scalar]]:
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


def contains_origin(corners: Sequence[Vec3]) -> Scalar:
    """Whether the origin is inside a tetrahedron, by the volumes with it in place of a corner."""
    a, b, c, d = corners
    u, v, w = b - a, c - a, d - a
    volume = u.dot(v.cross(w))
    size2 = maximum(u.dot(u), maximum(v.dot(v), w.dot(w)))
    s, t, r = (x * volume for x in (-a.dot(v.cross(w)), -u.dot(a.cross(w)), -u.dot(v.cross(a))))
    squared = volume * volume
    least = minimum(minimum(squared - s - t - r, s), minimum(t, r))
    contains: Scalar = less(0.0, least) * less(_FLAT * _FLAT * size2 * size2 * size2, squared)
    return contains


def holds_ball(corners: Sequence[Vec3], radius: Scalar) -> Scalar:
    """Whether a ball about the origin is inside a tetrahedron."""
    holds: Scalar = 1.0
    for k in range(4):
        a, b, c, opposite = (corners[(k + j) % 4] for j in range(4))
        normal = (b - a).cross(c - a)
        height, up = normal.dot(a), normal.dot(a - opposite)
        holds = holds * less(0.0, height * up) * less_equal(radius * radius * normal.dot(normal), height * height)
    return holds


@record(frozen=True, slots=True)
class Core:
    """A convex shape in its own axes."""

    radius: Scalar
    """All points at most so far from the core belong to the shape."""
    reach: Scalar
    """No point of the shape is farther from its origin."""
    support: Callable[[Vec3], Vec3]
    """A point of the core that is farthest along a direction, of any length."""
    extents: Callable[[Sequence[Vec3]], list[Scalar]]
    """How far the core reaches along each of some directions."""
    bend: Callable[[Vec3, Vec3], Vec3] = lambda _n, _t: Vec3.zero()
    """How fast that point moves as the direction, a unit vector, turns toward another one across it."""
    corner: Callable[[Vec3], Vec3] = lambda p: p
    """The part of such a point that stays where the direction changes a little."""
    moved: Callable[[Vec3, Vec3], Vec3] = lambda p, _n: p
    """Such a point as a function of the core's lengths and of a direction near the one along which it is farthest."""
    flat: Callable[[Vec3], Sequence[Vec3]] = lambda _n: ()
    """Two edges of a round face along a direction, or zeros."""
    is_round: bool = False
    """Whether the core is not a polyhedron."""
    edges: Corners | Sequence[tuple[float, ...]] | None = None
    """A row for each edge of a polyhedron: the normals of its faces, turned less than 180° from each other, its
    direction along their product, and an end of it. None where edges are not known."""
    normals: Corners | Sequence[tuple[float, ...]] = ()
    """Normals of its faces."""
    scale: Vec3 | None = None
    """The lengths by which the axes of these ends are multiplied."""
    each: Callable[[Sequence[Vec3]], list[Vec3]] | None = None
    """The farthest points along several directions, if that is quicker than one after the other."""

    def supports(self, directions: Sequence[Vec3]) -> list[Vec3]:
        """The farthest point along each of some directions."""
        return self.each(directions) if self.each else [self.support(d) for d in directions]

    def edge(self, row: Sequence[Scalar]) -> tuple[Vec3, Vec3, Vec3, Vec3]:
        """The vectors of a row of `edges`."""
        n1, n2, e, p = (Vec3(*row[k : k + 3]) for k in (0, 3, 6, 9))
        return n1, n2, e, Vec3(p.x * self.scale.x, p.y * self.scale.y, p.z * self.scale.z) if self.scale else p


def core_of(shape: Shape) -> Core:
    if isinstance(shape, Hull):
        points = shape.vertices
        return Core(
            0.0,
            reach_of(points),
            lambda d: farthest(points, d),
            lambda directions: highest_each(points, directions),
            edges=edges_of(points),
            normals=normals_of(points),
            each=lambda directions: farthest_each(points, directions),
        )
    core = _core_of_sum(sum_of(shape))
    if isinstance(shape, Sphere):
        return replace(core, edges=())
    if isinstance(shape, Capsule):
        h = shape.half_length
        return replace(core, edges=edges_of(((0.0, 0.0, -1.0), (0.0, 0.0, 1.0))), scale=Vec3(h, h, h))
    if isinstance(shape, Box):
        scale = Vec3(shape.x, shape.y, shape.z)
        return replace(core, edges=edges_of(_CUBE), normals=normals_of(_CUBE), scale=scale)
    return replace(core, is_round=True)


_CUBE: Sequence[tuple[float, float, float]] = tuple(
    (x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)
)


def _core_of_sum(shape: MinkowskiSum) -> Core:
    half, axes = Vec3(shape.half_x, shape.half_y, shape.half_z), Vec3(shape.x, shape.y, shape.z)
    is_disc = equal(axes.z, 0.0)

    def scaled(d: Vec3) -> Vec3:
        return Vec3(d.x * axes.x, d.y * axes.y, d.z * axes.z)

    def corner(d: Vec3) -> Vec3:
        return Vec3(sign_of(d.x) * half.x, sign_of(d.y) * half.y, sign_of(d.z) * half.z)

    def support(d: Vec3) -> Vec3:
        return corner(d) + scaled(unit(scaled(d))[0])

    def extents(directions: Sequence[Vec3]) -> list[Scalar]:
        of_box = [absolute(d.x) * half.x + absolute(d.y) * half.y + absolute(d.z) * half.z for d in directions]
        return [x + sqrt(scaled(d).dot(scaled(d))) for x, d in zip(of_box, directions, strict=True)]

    def bend(n: Vec3, t: Vec3) -> Vec3:
        direction, length = unit(scaled(n))
        along, inverse = scaled(t), 1.0 / maximum(length, _TINY)
        rate: Vec3 = scaled(along - direction * direction.dot(along)) * inverse
        return rate

    def is_end(n: Vec3) -> Scalar:
        end: Scalar = is_disc * less(n.x * n.x + n.y * n.y, _UPRIGHT * _UPRIGHT)
        return end

    def moved(p: Vec3, n: Vec3) -> Vec3:
        stays = is_end(n)
        direction, _length = unit(scaled(Vec3(select(stays, p.x, n.x), select(stays, p.y, n.y), n.z)))
        return corner(p) + scaled(direction)

    def flat(n: Vec3) -> Sequence[Vec3]:
        if is_zero(axes.x) or is_zero(is_disc):
            return ()
        stays = is_end(n)
        return Vec3(stays * axes.x, 0.0, 0.0), Vec3(0.0, stays * axes.y, 0.0)

    longest = maximum(axes.x, maximum(axes.y, axes.z))
    reach = shape.radius + sqrt(half.dot(half) + longest * longest)
    return Core(shape.radius, reach, support, extents, bend, corner, moved, flat)
