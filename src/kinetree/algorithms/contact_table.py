"""Contacts of many pairs of shapes, in loops of the program: one loop per way to find points, and one per kind of row.

Contact k is at a point P, where body b moves relative to body a. With A, of one row per row of the contact, which
gives the motion at P along its axes and about them,

    J m = A (V_b - V_a),    V_i = Σ S_j m_j    over the joints j that carry body i
    Jᵀ f:  W_b += Aᵀ f,  W_a -= Aᵀ f,  and S_jᵀ Σ W_i over the bodies i that joint j carries

in the world's coordinates. So the rows of a contact take a few operations, however many joints there are, and all
joints are gone through once for all contacts. For the Hessian the contacts of two bodies are summed first,

    Jᵀ s'' J = Σ S_jᵀ K S_k,    K = Σ Aᵀ s'' A

over the pairs of joints that carry one of the bodies and not the other, in blocks of six, where A is about a point of
one of the bodies.

Contacts of pairs that touch in some sample are in memory, one after another; those of all others cost nothing but the
search for them. What a contact that is open would do is left out, or is zero.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 3.5 and Table 5.1, for V and W.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

from kinetree.algorithms.ltdl import symmetric_product
from kinetree.algorithms.row_costs import RowCost
from kinetree.algorithms.sleeping_islands import Met, Sleep
from kinetree.algorithms.soft_rows import Friction, Law, Sight, contact_values, cost_of, pressed, seen_at
from kinetree.collision import FAR, ContactPoint
from kinetree.expr import Grid, Memory, Scalar, dot, less, less_equal, maximum, minimum, otherwise, select, unless
from kinetree.records import record
from kinetree.spatial import Mat3, Motion, Transform, Vec3
from kinetree.tree import Tree
from kinetree.tree.elimination import WIDTH, Chains, chains

__all__ = ["ContactRows", "ContactTable", "PairKind", "PairLoop", "PlacedShapes", "Row", "RowLoop"]

_POINT = 10
"""Numbers of a point: its distance, its place, the normal and a tangent."""


class _Pair(NamedTuple):
    """A pair of shapes that touches in some sample."""

    number: Any
    place: Any
    """In the list of pairs that touch."""


class _At(NamedTuple):
    """A contact of such a pair."""

    pair: Any
    """The pair's number."""
    row: Any
    """The contact's place in memory."""


_Step = Callable[[_At, Sequence[Scalar]], Sequence[Scalar]]


_Signs = dict[int, tuple[float, ...]]
"""By rows of places, a sign for each place; 0 where nothing moves."""


def _less(second: _Signs, first: _Signs) -> list[tuple[int, tuple[float, ...]]]:
    """The signs of what moves one body relative to another, by those of each of them: rows that are not zero."""
    rows = dict(second)
    for k, signs in first.items():
        rows[k] = _difference(second.get(k, _NONE), signs)
    return [(k, rows[k]) for k in sorted(rows) if rows[k] != _NONE]


_NONE = (0.0,) * WIDTH


@cache
def _difference(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(x - y for x, y in zip(a, b, strict=True))


class PlacedShapes(NamedTuple):
    """The shapes that may touch."""

    bodies: Sequence[int]
    """The slot of each one's body."""
    placement: Callable[[Any], Transform]
    """placement(k): where shape k is on its body."""


class PairKind(NamedTuple):
    """Pairs with as many points."""

    slots: int
    """Points per pair."""
    points: Callable[[Any, Transform, Transform, Any], Sequence[ContactPoint]]
    """points(k, X_a, X_b, found): where pair k touches, after the search."""


@record(frozen=True, slots=True)
class PairLoop:
    """Pairs of shapes that are searched in one loop; they are the next pairs of the table."""

    shapes: tuple[Sequence[int], Sequence[int]]
    """Both shapes of each pair."""
    kinds: Sequence[PairKind]
    kind_of: Sequence[int]
    """The kind of each pair, by its place among these."""
    is_far: Callable[[Any, Vec3, Vec3], Scalar]
    """is_far(k, r_a, r_b): 1.0 where pair k is so far apart that its points need not be found, from the origins."""
    search: Callable[[Any, Transform, Transform], Any]
    """search(k, X_a, X_b): whatever is found in the same way for all kinds."""
    absent: Callable[[Any], Scalar] | None = None
    """absent(k): 1.0 where pair k is far apart whatever the placements are."""


class Row(NamedTuple):
    """How a contact resists motion."""

    margin: Scalar
    law: Law
    friction: Friction | None


@record(frozen=True, slots=True)
class RowLoop:
    """Pairs whose contacts have the same rows, in one loop."""

    pairs: Sequence[int]
    """Their numbers in the table, in ascending order."""
    size: int
    """Rows per contact."""
    stiffnesses: int
    """How many of the rows have a stiffness of their own; the others have that of the first."""
    row: Callable[[Any], Row]
    """row(p): of the contacts of pair p of the loop."""


class ContactTable:
    """The contacts at a state: their points, reference accelerations and stiffnesses."""

    together: Sequence[Sequence[int]] = ()
    """As for `LoopedTable`: which contacts are closed differs from sample to sample."""

    def __init__(
        self, sight: Sight, shapes: PlacedShapes, pairs: Sequence[PairLoop], loops: Sequence[RowLoop], capacity: int,
        sleep: Sleep | None = None,
    ) -> None:  # fmt: skip
        """`capacity`: the most pairs that may touch; `sleep`: pairs of bodies that sleep, or do not move at all, are
        left out."""
        tree, topology = sight.tree, sight.tree.topology
        self.sight = sight
        self._starts = topology.v_starts
        self.chains: Chains = chains(topology)
        self.size: int = (self.chains.count + 1) * WIDTH
        self._S = tree.grid(self.size, 6, clear=False)
        """The motion per unit rate of the degree of freedom at each place, in the world's coordinates."""
        for at in set(range(self.size)) - set(self.chains.place):
            _put(self._S, at, [0.0] * 6)
        self.first: list[int] = [self.chains.place[k] if k < len(self.chains.place) else 0 for k in self._starts]
        """The place of each slot's first degree of freedom."""
        self.poses: Grid = tree.grid(topology.size, 12, clear=False)
        """By slot."""
        _put(self.poses, 0, _numbers(Transform.identity()))
        for j, _ in tree.outward:
            for k, m in enumerate(sight.columns[j]):
                _put(self._S, tree.of_slot(self.first, j) + k, _six(m))
            _put(self.poses, tree.of_slot(range(topology.size), j), _numbers(sight.X_0[j]))
        placed = tree.grid(len(shapes.bodies), 12, clear=False)
        for k in placed.rounds(0, len(shapes.bodies)):
            _put(placed, k, _numbers(shapes.placement(k) @ _transform(_row(self.poses, shapes.bodies, k))))
        v, drift = (self.motions(self.in_places(x)) for x in (sight.v, sight.drift))
        self._pairs = _Pairs(tree, shapes, pairs, capacity, sleep)
        self.loops: list[_Contacts] = [_Contacts(loop, self._pairs, self.chains.of_slot) for loop in loops]
        between = list(dict.fromkeys(pair for contacts in self.loops for pair in contacts.body_pairs))
        paths = {body: self._path(body) for body in {body for pair in between for body in pair}}
        self._between = {pair: _less(paths[pair[1]], paths[pair[0]]) for pair in between}
        self.blocks: list[int] = []
        """The rows of degrees of freedom that move one body relative to another, for each two bodies."""
        patterns: dict[tuple[float, ...], int] = {}
        self._pattern_of: list[int] = []
        """The signs of each entry of `blocks`, by their number in `_signs`."""
        spans: dict[tuple[int, int], tuple[int, int]] = {}
        for pair, rows in self._between.items():
            spans[pair] = len(self.blocks), len(self.blocks) + len(rows)
            for k, signs in rows:
                self.blocks.append(k)
                self._pattern_of.append(patterns.setdefault(signs, len(patterns)))
        self._signs = [*zip(*patterns, strict=True)]
        """For each degree of freedom of a block, the signs that it may have."""
        self.spans: list[list[tuple[int, int]]] = [
            [spans[pair] for pair in contacts.body_pairs] for contacts in self.loops
        ]
        """The part of `blocks` for each pair of shapes."""
        find = partial(self._pairs.find, placed, self.loops)
        self.overflows: Scalar = find() if sleep is None else sleep.search(find, self)
        """1.0 where more pairs touch than may: the others are left out."""
        for contacts in self.loops:
            contacts.press(v, drift)

    def fold_trees(self, step: Met) -> Scalar:
        """The largest of what `step` gives for the trees of each pair that touches."""
        largest: Sequence[Scalar] = [0.0]
        for contacts in self.loops:
            largest = contacts.fold_pairs(largest, partial(contacts.met, step))
        return largest[0]

    def coupled(self) -> list[list[int]]:
        """For each two bodies, the degrees of freedom that move one relative to the other, by their places in v."""
        at = dict(zip(self.chains.place, range(len(self.chains.place)), strict=True))
        return [
            [at[k * WIDTH + r] for k, signs in between for r, sign in enumerate(signs) if sign]
            for between in self._between.values()
        ]

    def _path(self, body: int) -> _Signs:
        """The degrees of freedom that move a body, by rows of places: 1 for each."""
        rows: dict[int, list[float]] = {}
        for j, _ in self.sight.tree.topology.toward_root(body):
            for k in range(self._starts[j], self._starts[j + 1]):
                row, r = divmod(self.chains.place[k], WIDTH)
                rows.setdefault(row, [*_NONE])[r] = 1.0
        return {row: tuple(signs) for row, signs in rows.items()}

    def in_places(self, rates: Any) -> Grid:
        """Numbers in the order of v, in a list or in memory, by the places of the degrees of freedom."""
        grid, place = self.sight.tree.grid(self.size, 1, clear=False, is_scratch=True), self.chains.place
        for k in set(range(self.size)) - set(place):
            grid[k, 0] = 0.0
        rounds: Iterable[Any] = rates.rounds(0, len(place)) if isinstance(rates, Memory) else range(len(place))
        for k in rounds:
            grid[grid.looked_up(place, k), 0] = rates[k]
        return grid

    def motions(self, rates: Grid, into: Grid | None = None) -> Grid:
        """The motions of what each degree of freedom carries, from rates by their places."""
        grid = into or self.sight.tree.grid(self.size, 6, clear=False)
        _put(grid, 0, [0.0] * 6)
        for k in grid.rounds(1, self.chains.count + 1):
            V = _row(grid, self.chains.parent, k, 1)
            for at in (k * WIDTH + r for r in range(WIDTH)):
                x = rates[at, 0]
                V = [a + s * x for a, s in zip(V, self._S.row(at, range(6)), strict=True)]
                _put(grid, at, V)
        return grid

    def push(self, wrenches: Grid, forces: Grid) -> None:
        """The joint forces of wrenches on what each degree of freedom carries, which are summed up."""
        for k in wrenches.rounds(self.chains.count, 0):
            W: list[Scalar] = [0.0] * 6
            for at in (k * WIDTH + r for r in reversed(range(WIDTH))):
                W = [a + b for a, b in zip(W, wrenches.row(at, range(6)), strict=True)]
                forces[at, 0] = dot(self._S.row(at, range(6)), W)
            parent = wrenches.looked_up(self.chains.parent, k, 1)
            _put(wrenches, parent, [a + b for a, b in zip(wrenches.row(parent, range(6)), W, strict=True)])

    def column(self, e: Any, r: int, origin: Vec3) -> list[Scalar]:
        """The motion of degree of freedom r of entry e of `blocks`, about a point, with its sign."""
        S, signs = self._S, self._signs[r]
        sign = signs[0] if len({*signs}) == 1 else S.constant(signs, S.looked_up(self._pattern_of, e))
        m = S.row(S.looked_up(self.blocks, e) * WIDTH + r, range(6))
        angular, linear = Vec3(*m[:3]), Vec3(*m[3:])
        return [sign * x for x in (*angular.components(), *(linear + angular.cross(origin)).components())]

    def forces(self, a: Sequence[Scalar]) -> list[list[Scalar]]:
        """The numbers of `contact_values` for each contact, at accelerations in the order of v."""
        motions, count = self.motions(self.in_places(a)), self._pairs.count
        into = self.sight.tree.grid(count, 13, clear=False, is_scratch=True)
        self._pairs.report(into)
        for contacts in self.loops:
            contacts.report(motions, into)
        return [into.row(k, range(13)) for k in range(count)]

    def with_matrix(self, M: Any) -> ContactRows:
        """The rows of the contacts in the convex problem with this matrix."""
        return ContactRows(self, M)


class _Pairs:
    """All pairs of shapes, and the search for those that touch."""

    def __init__(
        self, tree: Tree, shapes: PlacedShapes, loops: Sequence[PairLoop], capacity: int, sleep: Sleep | None
    ) -> None:
        """`capacity`: the most pairs that may touch; `sleep`: as for `ContactTable`."""
        self._loops = loops
        self._sleep = sleep
        self.capacity = capacity
        numbers = [pair for of in loops for pair in zip(*of.shapes, strict=True)]
        self.bodies: list[tuple[int, int]] = [(shapes.bodies[a], shapes.bodies[b]) for a, b in numbers]
        """The slots of both bodies."""
        self.trees: list[list[int]] = (
            [sleep.numbers(slots) for slots in zip(*self.bodies, strict=True)] if sleep else []
        )
        """The numbers of the kinematic trees of the first bodies, and of the second ones."""
        self.slots: list[int] = [of.kinds[kind].slots for of in loops for kind in of.kind_of]
        *self.begin, self.count = accumulate(self.slots, initial=0)
        """The first contact of each pair, and how many there are in all pairs."""
        self.far: Grid = tree.grid(len(numbers), 1, clear=False, is_scratch=sleep is not None)
        self._near = tree.grid(self.count, _POINT, clear=False, is_scratch=True)
        """The points of the contacts of all pairs that are near."""
        self.touching: Grid | None = None
        """How many pairs have touched, if more may than there is room for."""
        if capacity < len(numbers):
            self.touching = tree.grid(1, 1, clear=False, is_scratch=True)

    def find(self, placed: Grid, parts: Sequence[_Contacts]) -> Scalar:
        """Find the points of all pairs, from the shapes' placements in the world; 1.0 where too many touch."""
        for part in parts:
            part.begin()
        if self.touching is not None:
            self.touching[0, 0] = 0.0
        where = {p: (part, k) for part in parts for k, p in enumerate(part.loop.pairs)}
        done = 0
        for loop in self._loops:
            count = len(loop.shapes[0])
            of_each = [where[p] for p in range(done, done + count)]
            placed.fold(0, count, [], partial(self._look, loop, done, placed, of_each))
            done += count
        return 0.0 if self.touching is None else less(float(self.capacity), self.touching[0, 0])

    def _look(
        self, loop: PairLoop, done: int, placed: Grid, of_each: Sequence[tuple[_Contacts, int]], k: Any, _: Any
    ) -> Sequence[Scalar]:
        """Give pair k of a loop, where it touches, to those whose contacts have the same rows."""
        ends = list(dict.fromkeys((kind, part) for kind, (part, _) in zip(loop.kind_of, of_each, strict=True)))
        begin = self.begin[done : done + len(of_each)]

        def near(_: Any) -> Sequence[Scalar]:
            at = [placed.looked_up(side, k) for side in loop.shapes]
            far = loop.is_far(k, *(Vec3(*placed.row(i, range(9, 12))) for i in at))
            if self._sleep is not None:
                far = maximum(far, left_out)
            unless(far, [], partial(touch, far, at))
            return [far]

        def touch(far: Scalar, at: Sequence[Any], _: Any) -> Sequence[Scalar]:
            X_a, X_b = (_transform(placed.row(i, range(12))) for i in at)
            nearest = loop.search(k, X_a, X_b)
            for n, kind in placed.cases(loop.kind_of, k, [*enumerate(loop.kinds)]):
                points = [_of_point(point) for point in kind.points(k, X_a, X_b, nearest)]
                first = placed.looked_up(begin, k)
                for slot, numbers in enumerate(points):
                    _put(self._near, first + slot, numbers)
                parts = [part for i, part in ends if i == n]
                case_of = [parts.index(part) if part in parts else 0 for part, _ in of_each]
                for part in placed.cases(case_of, k, parts):
                    part.append(placed.looked_up([own if x is part else 0 for x, own in of_each], k), points, far)
            return []

        left_out: Scalar = 0.0 if loop.absent is None else loop.absent(k)
        if self._sleep is not None:
            left_out = maximum(left_out, self._sleep.both(*(placed.looked_up(x, k + done) for x in self.trees)))
        (far,) = unless(left_out, [1.0], near)
        self.far[k + done, 0] = far
        return []

    def report(self, into: Grid) -> None:
        """The numbers of `contact_values` for each contact, without forces."""
        nowhere = (FAR, 0.0, 0.0, 0.0, 1.0, *[0.0] * 8)
        for k in into.rounds(0, self.count):
            _put(into, k, nowhere)

        def near(far: Scalar, k: Any, _: Sequence[Scalar]) -> Sequence[Scalar]:
            numbers = contact_values(_point(self._near.row(k, range(_POINT))), ())
            _put(into, k, [select(far, a, b) for a, b in zip(nowhere, numbers, strict=True)])
            return []

        def of_pair(p: Any, state: Sequence[Scalar]) -> Sequence[Scalar]:
            far, begin, end = self.far[p, 0], *(into.looked_up(x, p) for x in (self.begin, self.slots))
            return unless(far, state, lambda state: into.fold(0, end, state, lambda n, _: near(far, begin + n, _)))

        self.far.fold(0, len(self.begin), [], of_pair)


class _Contacts:
    """The contacts of a loop over rows.

    Pairs that touch are in a list, in the order of all pairs, and numbers of their contacts are in memory by the place
    in the list. Of a sample in which more of them touch than may, those that come first are there.
    """

    def __init__(self, loop: RowLoop, pairs: _Pairs, place: Sequence[int]) -> None:
        """`place`: of each slot's motion."""
        self.loop = loop
        self._pairs = pairs
        self.body_pairs = [pairs.bodies[p] for p in loop.pairs]
        self._first, self._second = ([place[pair[side]] for pair in self.body_pairs] for side in (0, 1))
        self.origins = [b or a for a, b in self.body_pairs]
        """A moving body of each pair."""
        self._slots, self._begin = ([x[p] for p in loop.pairs] for x in (pairs.slots, pairs.begin))
        self._trees = [[numbers[p] for p in loop.pairs] for numbers in pairs.trees]
        self._list = pairs.far.index_list(pairs.capacity, len(loop.pairs))
        self._each = max(self._slots)
        """Contacts in memory for each pair in the list."""
        self._open = self._list.grid(1, 1)
        self._points = self.grid(_POINT)
        self._rows = self.grid(loop.size + loop.stiffnesses + 1)

    def grid(self, columns: int) -> Grid:
        """Numbers of the contacts in memory."""
        return self._list.grid(self._each, columns)

    def append(self, p: Any, points: Sequence[Sequence[Scalar]], far: Scalar) -> None:
        """Append a pair to the list where it touches."""
        count = self._pairs.touching

        def at(place: Any, _: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
            for n, numbers in enumerate(points):
                _put(self._points, place * self._each + n, numbers)
            (is_open,) = self._points.fold(
                0, len(points), [1.0], lambda n, now: [minimum(now[0], self._is_open(p, place * self._each + n))]
            )
            is_open = select(far, 1.0, is_open)
            if count is not None:
                before = count[0, 0]
                count[0, 0] = before + (1.0 - is_open)
                is_open = maximum(is_open, less_equal(float(self._pairs.capacity), before))
            self._open[place, 0] = is_open
            return [], is_open

        self._list.append(p, [], at)

    def begin(self) -> None:
        """Begin a search, with none that touch."""
        self._list.clear()

    def met(self, step: Met, pair: _Pair, found: Sequence[Scalar]) -> list[Scalar]:
        """`step` with the trees of a pair that touches."""
        first, second = (self._points.looked_up(numbers, pair.number) for numbers in self._trees)
        return [maximum(found[0], step(first, second, 1.0 - self.is_open(pair)))]

    def _is_open(self, p: Any, k: Any) -> Scalar:
        """1.0 where contact k in memory, of pair p, is open."""
        margin, law, _ = self.loop.row(p)
        return 1.0 - law.acts(self._points[k, 0] - margin)

    def fold(self, state: Sequence[Scalar], step: _Step) -> Sequence[Scalar]:
        """Iterate over the contacts that are closed, pair by pair: `step(contact, values)` gives the next values."""
        return self.fold_pairs(state, lambda pair, state: self.fold_pair(pair, state, step))

    def fold_pairs(
        self, state: Sequence[Scalar], step: Callable[[_Pair, Sequence[Scalar]], Sequence[Scalar]]
    ) -> Sequence[Scalar]:
        """Iterate over the pairs that touch."""
        return self._list.fold(
            state, lambda place, p, state: unless(self._open[place, 0], state, partial(step, _Pair(p, place)))
        )

    def fold_pair(self, pair: _Pair, state: Sequence[Scalar], step: _Step) -> Sequence[Scalar]:
        """Iterate over the contacts of a pair that are closed."""
        return self._fold_points(pair, state, lambda at, state: unless(self.idle(at), state, partial(step, at)))

    def _fold_points(self, pair: _Pair, state: Sequence[Scalar], step: _Step) -> Sequence[Scalar]:
        """Iterate over all contacts of a pair."""
        first, end = pair.place * self._each, self._points.looked_up(self._slots, pair.number)
        return self._points.fold(0, end, state, lambda n, state: step(_At(pair.number, first + n), state))

    def press(self, v: Grid, drift: Grid) -> None:
        """Find the rows of the contacts that are closed."""
        size, stiffnesses = self.loop.size, self.loop.stiffnesses

        def step(pair: _Pair, at: _At, _: Sequence[Scalar]) -> Sequence[Scalar]:
            idle = maximum(self.is_open(pair), self._is_open(*at))  # others may have a pair that is left out here
            numbers = otherwise(idle, [0.0] * (size + stiffnesses), partial(self._pressed, at, v, drift))
            _put(self._rows, at.row, (*numbers, idle))
            return []

        self.fold_pairs([], lambda pair, state: self._fold_points(pair, state, partial(step, pair)))

    def _pressed(self, at: _At, v: Grid, drift: Grid) -> list[Scalar]:
        margin, law, friction = self.loop.row(at.pair)
        r = self._points[at.row, 0] - margin
        reference, D = pressed(self.along(at, v), self.along(at, drift), r, law, friction)
        return [*reference, *D]

    def is_open(self, pair: _Pair) -> Scalar:
        """1.0 where all contacts of a pair are open."""
        return self._open[pair.place, 0]

    def idle(self, at: _At) -> Scalar:
        """1.0 where a contact is open."""
        return self._rows[at.row, self.loop.size + self.loop.stiffnesses]

    def reference(self, at: _At) -> list[Scalar]:
        """The reference accelerations of a contact."""
        return self._rows.row(at.row, range(self.loop.size))

    def cost(self, at: _At) -> RowCost:
        """The cost of its rows."""
        size = self.loop.size
        _, law, friction = self.loop.row(at.pair)
        return cost_of(self._rows.row(at.row, range(size, size + self.loop.stiffnesses)), law, friction)

    def along(self, at: _At, motions: Grid) -> list[Scalar]:
        """A (V_b - V_a), from the motions of the bodies."""
        second = _motion(_row(motions, self._second, at.pair))
        first = None if not any(self._first) else _motion(_row(motions, self._first, at.pair))
        point, axes = self._place_of(at)
        return seen_at(second if first is None else second - first, point, axes, self.loop.size, 1.0)

    def with_square(
        self, at: _At, weights: Sequence[Sequence[Scalar]], origin: Vec3, K: Sequence[Scalar]
    ) -> list[Scalar]:
        """Add Aᵀ W A of a contact, about a point, to the lower triangle of K, given row by row."""
        point, axes = self._place_of(at)
        arm = point - origin
        A = [[*arm.cross(axis).components(), *axis.components()] for axis in axes]
        A += [[*axis.components(), 0.0, 0.0, 0.0] for axis in axes]
        A = A[: self.loop.size]
        columns = [*zip(*A, strict=True)]
        WA = [[dot(row, column) for column in columns] for row in weights]
        places = [(r, s) for r in range(6) for s in range(r + 1)]
        across = [*zip(*WA, strict=True)]
        return [x + dot(columns[r], across[s]) for x, (r, s) in zip(K, places, strict=True)]

    def push(self, at: _At, f: Sequence[Scalar], wrenches: Grid) -> None:
        """Add Aᵀ f to the wrenches on both bodies."""
        p, axes = self._place_of(at)
        force, couple = Vec3.zero(), Vec3.zero()
        for axis, x in zip(axes, f[:3], strict=False):
            force = force + axis * x
        for axis, x in zip(axes, f[3:], strict=False):
            couple = couple + axis * x
        couple = couple + p.cross(force)
        numbers = (*couple.components(), *force.components())
        for side, sign in ((self._second, 1.0), (self._first, -1.0)):
            if any(side):
                i = wrenches.looked_up(side, at.pair)
                _put(wrenches, i, [w + sign * x for w, x in zip(wrenches.row(i, range(6)), numbers, strict=True)])

    def report(self, motions: Grid, into: Grid) -> None:
        """The numbers of `contact_values` for each contact that is closed, from the accelerations of the bodies."""

        def touching(pair: _Pair, state: Sequence[Scalar]) -> Sequence[Scalar]:
            begin = into.looked_up(self._begin, pair.number)

            def step(at: _At, _: Sequence[Scalar]) -> Sequence[Scalar]:
                k = begin + (at.row - pair.place * self._each)
                numbers = contact_values(_point(self._points.row(at.row, range(_POINT))), self._force(at, motions))
                is_open = self.is_open(pair)
                before = into.row(k, range(into.columns))
                _put(into, k, [select(is_open, a, b) for a, b in zip(before, numbers, strict=True)])
                return []

            return self.fold_pair(pair, state, step)

        self.fold_pairs([], touching)

    def _force(self, at: _At, motions: Grid) -> Sequence[Scalar]:
        away = [a - r for a, r in zip(self.along(at, motions), self.reference(at), strict=True)]
        return self.cost(at).at(away).force

    def _place_of(self, at: _At) -> tuple[Vec3, tuple[Vec3, Vec3, Vec3]]:
        point = _point(self._points.row(at.row, range(_POINT)))
        n, t = point.normal, point.tangent
        return point.position, (n, t, n.cross(t))


class ContactRows:
    """The rows of the contacts in the convex problem; what one step leaves to the next is in memory."""

    def __init__(self, table: ContactTable, M: Any) -> None:
        self._table, self._M = table, M

        def grid(rows: int, columns: int) -> Grid:
            return table.sight.tree.grid(rows, columns, clear=False, is_scratch=True)

        self._motions, self._wrenches, self._forces = (grid(table.size, n) for n in (6, 6, 1))
        self._parts = [_Part(contacts) for contacts in table.loops]
        self._rates = grid(table.size, 1)
        for k in self._rates.rounds(0, table.size):
            self._rates[k, 0] = 0.0
        longest = max(end - begin for spans in table.spans for begin, end in spans)
        self._products = grid(longest, 72)
        self._square = M if M.is_in_blocks else M.block_zeros()

    def away(self, a: Any) -> None:
        """x = J a - a_ref of each contact."""
        self._move(a)
        for part in self._parts:
            part.contacts.fold([], partial(self._away, part))

    def _away(self, part: _Part, at: _At, _: Sequence[Scalar]) -> list[Scalar]:
        along = part.contacts.along(at, self._motions)
        _put(part.x, at.row, [x - r for x, r in zip(along, part.contacts.reference(at), strict=True)])
        return []

    def respond(self, gradient: Any, costs: Scalar, alpha: Scalar | None = None) -> Scalar:
        """Take Jᵀ f from the gradient, where x is now x + alpha d if that is given; return a sum with the costs."""
        for k in self._wrenches.rounds(0, self._table.size):
            _put(self._wrenches, k, [0.0] * 6)
        for part in self._parts:
            (costs,) = part.contacts.fold([costs], partial(self._respond, part, alpha))
        self._table.push(self._wrenches, self._forces)
        for k in self._M.outward:
            gradient[k] = gradient[k] - self._forces[self._M.place(k), 0]
        return costs

    def _respond(self, part: _Part, alpha: Scalar | None, at: _At, state: Sequence[Scalar]) -> Sequence[Scalar]:
        idle, cost = part.contacts.idle(at), part.contacts.cost(at)
        x = part.x.row(at.row, range(cost.size))
        if alpha is not None:
            x = [a + alpha * b for a, b in zip(x, part.d.row(at.row, range(cost.size)), strict=True)]
            _put(part.x, at.row, x)
        response = cost.at(x)
        part.contacts.push(at, [select(idle, 0.0, f) for f in response.force], self._wrenches)
        _put(part.weights, at.row, [select(idle, 0.0, response.weight[r][s]) for r, s in cost.pattern])
        return [state[0] + response.cost]

    def add_square(self, H: Any) -> None:
        """H += Jᵀ s'' J."""
        target = H
        if not H.is_in_blocks:
            target = self._square
            target.clear()
        for part, spans in zip(self._parts, self._table.spans, strict=True):
            part.contacts.fold_pairs([], partial(self._add_square, target, part, spans))
        if target is not H:
            H.add_blocks(target)

    def _add_square(
        self, H: Any, part: _Part, spans: Sequence[tuple[int, int]], pair: _Pair, _: Sequence[Scalar]
    ) -> list[Scalar]:
        contacts, size, grid = part.contacts, part.contacts.loop.size, self._products
        origin = Vec3(*_row(self._table.poses, contacts.origins, pair.number)[9:])

        def step(at: _At, K: Sequence[Scalar]) -> Sequence[Scalar]:
            cost = contacts.cost(at)
            weights: list[list[Scalar]] = [[0.0] * size for _ in range(size)]
            for (r, s), x in zip(cost.pattern, part.weights.row(at.row, range(len(cost.pattern))), strict=True):
                weights[r][s] = weights[s][r] = x
            return contacts.with_square(at, weights, origin, K)

        lower = contacts.fold_pair(pair, [0.0] * 21, step)
        K = [[lower[max(r, s) * (max(r, s) + 1) // 2 + min(r, s)] for s in range(6)] for r in range(6)]
        is_closed = 1.0 - contacts.is_open(pair)
        begin, end = (grid.looked_up([span[side] for span in spans], pair.number) for side in (0, 1))
        for e in grid.rounds(begin, end):
            S = [self._table.column(e, r, origin) for r in range(WIDTH)]
            KS = [[dot(row, m) for row in K] for m in S]
            _put(grid, e - begin, [x for m in (*S, *KS) for x in m])
            k = grid.looked_up(self._table.blocks, e)
            H.add(k, k, symmetric_product(S, [*zip(*KS, strict=True)]))
            for f in grid.rounds(begin, e):
                across = grid.row(f - begin, range(36, 72))
                columns = [across[6 * r : 6 * r + 6] for r in range(6)]
                H.add(k, grid.looked_up(self._table.blocks, f), [[dot(m, c) for c in columns] for m in S], is_closed)
        return []

    def set_out(self, p: Any) -> None:
        """d = J p of each contact: how x changes along a line."""
        self._move(p)
        for part in self._parts:
            part.contacts.fold([], partial(self._set_out, part))

    def _set_out(self, part: _Part, at: _At, _: Sequence[Scalar]) -> list[Scalar]:
        _put(part.d, at.row, part.contacts.along(at, self._motions))
        return []

    def with_slope(self, alpha: Scalar, sums: Sequence[Scalar]) -> Sequence[Scalar]:
        """The slope and the curvature along the line, with those of the contacts at x + alpha d."""
        for part in self._parts:
            sums = part.contacts.fold(sums, partial(self._with_slope, part, alpha))
        return sums

    def _with_slope(self, part: _Part, alpha: Scalar, at: _At, sums: Sequence[Scalar]) -> Sequence[Scalar]:
        cost = part.contacts.cost(at)
        x, d = (grid.row(at.row, range(cost.size)) for grid in (part.x, part.d))
        response = cost.at([a + alpha * b for a, b in zip(x, d, strict=True)])
        down, bend = sums
        for f, b in zip(response.force, d, strict=True):
            down = down - f * b
        for r, s in cost.pattern:
            bend = bend + response.weight[r][s] * (d[r] * d[s]) * (1.0 if r == s else 2.0)
        return [down, bend]

    def _move(self, m: Any) -> None:
        """The motions of the bodies at the rates m, one per degree of freedom."""
        rates = self._rates
        for k in self._M.outward:
            rates[self._M.place(k), 0] = m[k]
        self._table.motions(rates, self._motions)


class _Part:
    """Numbers of the contacts of a loop in the convex problem."""

    def __init__(self, contacts: _Contacts) -> None:
        size = contacts.loop.size
        self.contacts = contacts
        self.x, self.d, self.weights = (contacts.grid(n) for n in (size, size, size * (size + 1) // 2))


def _put(grid: Grid, k: Any, numbers: Iterable[Scalar], first: int = 0) -> None:
    for column, x in enumerate(numbers, first):
        grid[k, column] = x


def _row(grid: Grid, places: Sequence[int], k: Any, first: int = 0) -> list[Scalar]:
    """The row of a grid for entry k of a list of rows; `first` as for `looked_up`."""
    return grid.row(grid.looked_up(places, k, first), range(grid.columns))


def _point(x: Sequence[Scalar]) -> ContactPoint:
    return ContactPoint(x[0], Vec3(*x[1:4]), Vec3(*x[4:7]), Vec3(*x[7:]))


def _of_point(point: ContactPoint) -> list[Scalar]:
    parts = (point.position, point.normal, point.tangent)
    return [point.distance, *(x for part in parts for x in part.components())]


def _motion(x: Sequence[Scalar]) -> Motion:
    return Motion(Vec3(*x[:3]), Vec3(*x[3:]))


def _six(m: Motion) -> tuple[Scalar, ...]:
    return (*m.angular.components(), *m.linear.components())


def _numbers(X: Transform) -> list[Scalar]:
    return [x for part in (X.E.x, X.E.y, X.E.z, X.r) for x in part.components()]


def _transform(x: Sequence[Scalar]) -> Transform:
    return Transform(Mat3(Vec3(*x[:3]), Vec3(*x[3:6]), Vec3(*x[6:9])), Vec3(*x[9:]))
