"""Contacts of many pairs of shapes, in loops of the program: one loop per kind of pair, and one per kind of row.

Contact k is at a point P, where body b moves relative to body a. With A, of one row per row of the contact, which
gives the motion at P along its axes and about them,

    J m = A (V_b - V_a),    V_i = Σ S_j m_j    over the joints j that carry body i
    Jᵀ f:  W_b += Aᵀ f,  W_a -= Aᵀ f,  and S_jᵀ Σ W_i over the bodies i that joint j carries

in the world's coordinates. So the rows of a contact take a few operations, however many joints there are, and all
joints are gone through once for all contacts. Only the entries Jᵀ s'' J of the Hessian are sums over pairs of joints,
those that carry one of the bodies and not the other.

What a contact that is open would do is left out, or is zero.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 3.5 and Table 5.1, for V and W.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from math import isqrt
from typing import Any, NamedTuple

from kinetree.algorithms.dot import dot
from kinetree.algorithms.row_costs import RowCost
from kinetree.algorithms.soft_rows import Friction, Law, Sight, cost_of, pressed, seen_at, told_of
from kinetree.collision import FAR, ContactPoint
from kinetree.expr import Grid, Scalar, minimum, otherwise, select, unless
from kinetree.records import record
from kinetree.spatial import Force, Mat3, Motion, Transform, Vec3
from kinetree.tree import Tree

__all__ = ["ContactRows", "ContactTable", "Found", "PairLoop", "Row", "RowLoop"]

_POINT = 10
"""Numbers of a point: its distance, its place, the normal and a tangent."""


class Found(NamedTuple):
    """Where two shapes touch."""

    far: Scalar
    """1.0 where they are so far apart that the points need not be found."""
    points: Callable[[], Sequence[ContactPoint]]


@record(frozen=True, slots=True)
class PairLoop:
    """Pairs of shapes whose points are found in one loop; they are the next contacts of the table."""

    bodies: tuple[Sequence[int], Sequence[int]]
    """The slots of both bodies of each pair."""
    slots: int
    """Points per pair."""
    find: Callable[[Any, Transform, Transform], Found]
    """find(k, X_a, X_b): the points of pair k, from the placements of its bodies."""


class Row(NamedTuple):
    """How a contact resists motion."""

    margin: Scalar
    law: Law
    friction: Friction | None


@record(frozen=True, slots=True)
class RowLoop:
    """Pairs whose contacts have the same rows, in one loop."""

    pairs: Sequence[PairLoop]
    size: int
    """Rows per contact."""
    stiffnesses: int
    """How many of the rows have a stiffness of their own; the others have that of the first."""
    row: Callable[[Any], Row]
    """row(k): of contact k of the loop."""


class ContactTable:
    """The contacts at a state: their points, reference accelerations and stiffnesses."""

    def __init__(self, sight: Sight, loops: Sequence[RowLoop]) -> None:
        tree = sight.tree
        slots = sorted({0, *(slot for loop in loops for pairs in loop.pairs for side in pairs.bodies for slot in side)})
        self.sight = sight
        self.bodies = slots
        self._starts: dict[int, int] = {}
        """The place in v of each joint's first degree of freedom."""
        total = 0
        for j in sorted(j for j, _ in tree.outward):
            self._starts[j] = total
            total += len(sight.columns[j])
        place = {slot: k for k, slot in enumerate(slots)}
        poses = tree.grid(len(slots), 12, clear=False)
        for k, slot in enumerate(slots):
            _put(poses, k, _numbers(sight.X_0[slot] if slot else Transform.identity()))
        v, drift = (self.written(tree.grid(len(slots), 6, clear=False), x) for x in (sight.v, sight.drift))
        self.loops = [_Contacts(tree, loop, place) for loop in loops]
        for contacts in self.loops:
            contacts.find(poses)
            contacts.press(v, drift)

    def coupled(self) -> list[list[int]]:
        """For each two bodies, the degrees of freedom that move one relative to the other, by their places in v."""
        return [[j for j, _ in self.between(*pair)] for pair in self.body_pairs()]

    def body_pairs(self) -> list[tuple[int, int]]:
        """The slots of bodies that may touch."""
        return list(dict.fromkeys(pair for contacts in self.loops for pair in contacts.body_pairs))

    def between(self, first: int, second: int) -> list[tuple[int, float]]:
        """The degrees of freedom that move one body relative to another, by their places in v, and with which sign."""
        tree = self.sight.tree
        meeting = tree.meeting(first, second)
        found: list[tuple[int, float]] = []
        for body, sign in ((first, -1.0), (second, 1.0)):
            for j, _ in tree.toward_tip(meeting, body):
                found += [(self._starts[j] + k, sign) for k in range(len(self.sight.columns[j]))]
        return found

    def written(self, grid: Grid, rates: Sequence[Scalar]) -> Grid:
        """The motions of the bodies at these rates of the joints, in the order of v, written into a grid."""
        tree, columns = self.sight.tree, self.sight.columns
        pieces, V = tree.split(rates, "nv"), tree.slots(Motion)
        V[0] = Motion.zero()
        for i, p in tree.outward:
            V[i] = V[p]
            for s, x in zip(columns[i], pieces[i], strict=True):
                V[i] = V[i] + s * x
        for k, slot in enumerate(self.bodies):
            _put(grid, k, _six(V[slot]))
        return grid

    def pushed(self, wrenches: Grid) -> list[Scalar]:
        """The joint forces of wrenches on the bodies, in the order of v."""
        tree, columns = self.sight.tree, self.sight.columns
        W, tau = tree.slots(Force), tree.pieces()
        for i, _ in tree.outward:
            W[i] = Force.zero()
        for k, slot in enumerate(self.bodies):
            if slot:
                w = wrenches.row(k, range(6))
                W[slot] = Force(Vec3(*w[:3]), Vec3(*w[3:]))
        for i, p in tree.inward:
            tau[i] = [s.dot(W[i]) for s in columns[i]]
            if p:
                W[p] = W[p] + W[i]
        return tree.numbers(tau[1:], "forces")

    def forces(self, a: Sequence[Scalar]) -> list[list[Scalar]]:
        """The numbers of `told_of` for each contact, at accelerations in the order of v."""
        grid = self.sight.tree.grid
        motions = self.written(grid(len(self.bodies), 6, clear=False), a)
        told: list[list[Scalar]] = []
        for contacts in self.loops:
            found = grid(contacts.count, 13, clear=False, is_scratch=True)
            contacts.tell(motions, found)
            told += [found.row(k, range(13)) for k in range(contacts.count)]
        return told

    def with_matrix(self, M: Any) -> ContactRows:
        """The rows of the contacts in the convex problem with this matrix."""
        return ContactRows(self, M)


class _Contacts:
    """The contacts of a loop over rows."""

    def __init__(self, tree: Tree, loop: RowLoop, place: dict[int, int]) -> None:
        self.loop = loop
        pairs = [(a, b, of.slots) for of in loop.pairs for a, b in zip(*of.bodies, strict=True)]
        self.body_pairs = [(a, b) for a, b, slots in pairs for _ in range(slots)]
        self.count = len(self.body_pairs)
        self._first, self._second = ([place[pair[side]] for pair in self.body_pairs] for side in (0, 1))
        self._place = place
        self._begin = [0, *accumulate(slots for _, _, slots in pairs)]
        self._points = tree.grid(self.count, _POINT, clear=False, is_scratch=True)
        self._rows = tree.grid(self.count, loop.size + loop.stiffnesses + 1, clear=False, is_scratch=True)
        self._pairs = tree.grid(len(pairs), 2, clear=False)
        size = max(1, isqrt(len(pairs)))
        self._blocks = [*range(0, len(pairs), size), len(pairs)]
        """The first pair of each block of neighbours, which are passed over at once where all are open."""
        self._open_blocks = tree.grid(len(self._blocks) - 1, 1, clear=False)

    def find(self, poses: Grid) -> None:
        """Find the points of all pairs."""
        done = 0
        for pairs in self.loop.pairs:
            sides = [[self._place[slot] for slot in side] for side in pairs.bodies]
            for k in poses.rounds(0, len(sides[0])):
                found = pairs.find(k, *(_transform(_row(poses, side, k)) for side in sides))
                first = k * pairs.slots + self._begin[done]
                _put(self._pairs, k + done, (found.far, *unless(found.far, [1.0], partial(self._found, found, first))))
            done += len(sides[0])
        for block in self._open_blocks.rounds(0, len(self._blocks) - 1):
            (is_open,) = self._fold_block(block, [1.0], lambda p, state: [minimum(state[0], self._pairs[p, 1])])
            self._open_blocks[block, 0] = is_open

    def _fold_block(
        self, block: Any, state: Sequence[Scalar], step: Callable[[Any, Sequence[Scalar]], Sequence[Scalar]]
    ) -> Sequence[Scalar]:
        """Iterate over the pairs of a block."""
        begin, end = (self._pairs.looked_up(some, block) for some in (self._blocks[:-1], self._blocks[1:]))
        return self._pairs.fold(begin, end, state, step)

    def _found(self, found: Found, first: Any, _: Sequence[Scalar]) -> Sequence[Scalar]:
        """Keep the points of a pair, from contact `first` on; 1.0 where all of them are open."""
        points = found.points()
        for n, point in enumerate(points):
            parts = (point.position, point.normal, point.tangent)
            _put(self._points, first + n, (point.distance, *(x for part in parts for x in part.components())))
        (is_open,) = self._points.fold(
            first, first + len(points), [1.0], lambda k, state: [minimum(state[0], self._open(k))]
        )
        return [select(found.far, 1.0, is_open)]

    def _open(self, k: Any) -> Scalar:
        """1.0 where contact k is open."""
        margin, law, _ = self.loop.row(k)
        return 1.0 - law.acts(self._points[k, 0] - margin)

    def fold(
        self, state: Sequence[Scalar], step: Callable[[Any, Sequence[Scalar]], Sequence[Scalar]]
    ) -> Sequence[Scalar]:
        """Iterate over the contacts that are closed, pair by pair: `step(k, values)` gives the next values."""
        return self._fold_pairs(state, lambda k, state: unless(self.idle(k), state, partial(step, k)))

    def _fold_pairs(
        self, state: Sequence[Scalar], step: Callable[[Any, Sequence[Scalar]], Sequence[Scalar]]
    ) -> Sequence[Scalar]:
        """Iterate over the contacts of pairs that are not open."""

        def of_block(block: Any, state: Sequence[Scalar]) -> Sequence[Scalar]:
            of_pair = partial(self._fold_pair, 1, step)
            return unless(self._open_blocks[block, 0], state, lambda state: self._fold_block(block, state, of_pair))

        return self._open_blocks.fold(0, len(self._blocks) - 1, state, of_block)

    def _fold_pair(
        self, flag: int, step: Callable[[Any, Sequence[Scalar]], Sequence[Scalar]], p: Any, state: Sequence[Scalar]
    ) -> Sequence[Scalar]:
        """Iterate over the contacts of a pair, unless it is far apart (flag 0), or open (1)."""
        begin, end = (self._pairs.looked_up(some, p) for some in (self._begin[:-1], self._begin[1:]))
        return unless(self._pairs[p, flag], state, lambda state: self._points.fold(begin, end, state, step))

    def press(self, v: Grid, drift: Grid) -> None:
        """Find the rows of the contacts that are closed."""
        size, stiffnesses = self.loop.size, self.loop.stiffnesses

        def step(k: Any, _: Sequence[Scalar]) -> Sequence[Scalar]:
            idle = self._open(k)
            numbers = otherwise(idle, [0.0] * (size + stiffnesses), partial(self._pressed, k, v, drift))
            _put(self._rows, k, (*numbers, idle))
            return []

        self._fold_pairs([], step)

    def _pressed(self, k: Any, v: Grid, drift: Grid) -> list[Scalar]:
        margin, law, friction = self.loop.row(k)
        r = self._points[k, 0] - margin
        reference, D = pressed(self.along(k, v), self.along(k, drift), r, law, friction)
        return [*reference, *D]

    def idle(self, k: Any) -> Scalar:
        """1.0 where contact k is open."""
        return self._rows[k, self.loop.size + self.loop.stiffnesses]

    def reference(self, k: Any) -> list[Scalar]:
        """The reference accelerations of contact k."""
        return self._rows.row(k, range(self.loop.size))

    def cost(self, k: Any) -> RowCost:
        """The cost of its rows."""
        size = self.loop.size
        _, law, friction = self.loop.row(k)
        return cost_of(self._rows.row(k, range(size, size + self.loop.stiffnesses)), law, friction)

    def along(self, k: Any, motions: Grid) -> list[Scalar]:
        """A (V_b - V_a), from the motions of the bodies."""
        second = _motion(_row(motions, self._second, k))
        first = None if not any(self._first) else _motion(_row(motions, self._first, k))
        point, axes = self._place_of(k)
        return seen_at(second if first is None else second - first, point, axes, self.loop.size, 1.0)

    def seen(self, k: Any, m: Motion, sign: Scalar) -> list[Scalar]:
        """A m, times a sign."""
        return seen_at(m, *self._place_of(k), self.loop.size, sign)

    def push(self, k: Any, f: Sequence[Scalar], wrenches: Grid) -> None:
        """Add Aᵀ f to the wrenches on both bodies."""
        p, axes = self._place_of(k)
        force, couple = Vec3.zero(), Vec3.zero()
        for axis, x in zip(axes, f[:3], strict=False):
            force = force + axis * x
        for axis, x in zip(axes, f[3:], strict=False):
            couple = couple + axis * x
        couple = couple + p.cross(force)
        numbers = (*couple.components(), *force.components())
        for side, sign in ((self._second, 1.0), (self._first, -1.0)):
            if any(side):
                i = wrenches.looked_up(side, k)
                _put(wrenches, i, [w + sign * x for w, x in zip(wrenches.row(i, range(6)), numbers, strict=True)])

    def tell(self, motions: Grid, told: Grid) -> None:
        """The numbers of `told_of` for each contact, from the accelerations of the bodies."""
        for k in told.rounds(0, self.count):
            _put(told, k, (FAR, 0.0, 0.0, 0.0, 1.0, *[0.0] * 8))

        def step(k: Any, _: Sequence[Scalar]) -> Sequence[Scalar]:
            x = self._points.row(k, range(_POINT))
            point = ContactPoint(x[0], Vec3(*x[1:4]), Vec3(*x[4:7]), Vec3(*x[7:]))
            force = otherwise(self._open(k), [0.0] * self.loop.size, partial(self._force, k, motions))
            _put(told, k, told_of(point, force))
            return []

        self._pairs.fold(0, len(self._begin) - 1, [], partial(self._fold_pair, 0, step))

    def _force(self, k: Any, motions: Grid) -> Sequence[Scalar]:
        away = [a - r for a, r in zip(self.along(k, motions), self.reference(k), strict=True)]
        return self.cost(k).at(away).force

    def _place_of(self, k: Any) -> tuple[Vec3, tuple[Vec3, Vec3, Vec3]]:
        x = self._points.row(k, range(1, _POINT))
        n, t = Vec3(*x[3:6]), Vec3(*x[6:])
        return Vec3(*x[:3]), (n, t, n.cross(t))


class ContactRows:
    """The rows of the contacts in the convex problem; what one step leaves to the next is in memory."""

    def __init__(self, table: ContactTable, M: Any) -> None:
        tree = table.sight.tree
        self._table, self._M = table, M
        self._n = n = len(table.sight.v)

        def grid(rows: int, columns: int) -> Grid:
            return tree.grid(rows, columns, clear=False, is_scratch=True)

        self._grid = grid
        self._motions, self._wrenches = grid(len(table.bodies), 6), grid(len(table.bodies), 6)
        self._columns = tree.grid(n + 1, 6, clear=False)
        columns = [m for j in sorted(j for j, _ in tree.outward) for m in table.sight.columns[j]]
        for k, place in enumerate(M.places, 1):
            _put(self._columns, k, _six(columns[place]))
        self._parts = [_Part(grid, contacts) for contacts in table.loops]
        self._dofs: list[int] = []
        self._signs: list[float] = []
        spans: dict[tuple[int, int], tuple[int, int]] = {}
        number = {place: k for k, place in enumerate(M.places, 1)}
        for pair in table.body_pairs():
            between = sorted((number[place], sign) for place, sign in table.between(*pair))
            spans[pair] = len(self._dofs), len(self._dofs) + len(between)
            self._dofs += [k for k, _ in between]
            self._signs += [sign for _, sign in between]
        self._spans = [[spans[pair] for pair in contacts.body_pairs] for contacts in table.loops]
        self._products = grid(max(len(self._dofs), 1), 2 * max(part.contacts.loop.size for part in self._parts))

    def away(self, a: Any) -> None:
        """x = J a - a_ref of each contact."""
        self._move(a)
        for part in self._parts:
            part.contacts.fold([], partial(self._away, part))

    def _away(self, part: _Part, k: Any, _: Sequence[Scalar]) -> list[Scalar]:
        along = part.contacts.along(k, self._motions)
        _put(part.x, k, [x - r for x, r in zip(along, part.contacts.reference(k), strict=True)])
        return []

    def respond(self, gradient: Any, costs: Scalar, alpha: Scalar | None = None) -> Scalar:
        """Take Jᵀ f from the gradient, where x is now x + alpha d if that is given; return a sum with the costs."""
        for k in self._wrenches.rounds(0, len(self._table.bodies)):
            _put(self._wrenches, k, [0.0] * 6)
        for part in self._parts:
            (costs,) = part.contacts.fold([costs], partial(self._respond, part, alpha))
        push = self._M.column(self._table.pushed(self._wrenches))
        for k in self._M.outward:
            gradient[k] = gradient[k] - push[k]
        return costs

    def _respond(self, part: _Part, alpha: Scalar | None, k: Any, state: Sequence[Scalar]) -> Sequence[Scalar]:
        idle, cost = part.contacts.idle(k), part.contacts.cost(k)
        x = part.x.row(k, range(cost.size))
        if alpha is not None:
            x = [a + alpha * b for a, b in zip(x, part.d.row(k, range(cost.size)), strict=True)]
            _put(part.x, k, x)
        found = cost.at(x)
        part.contacts.push(k, [select(idle, 0.0, f) for f in found.force], self._wrenches)
        _put(part.weights, k, [select(idle, 0.0, found.weight[r][s]) for r, s in cost.pattern])
        return [state[0] + found.cost]

    def add_square(self, H: Any) -> None:
        """H += Jᵀ s'' J."""
        target = H
        if not H.has_counters:
            target = _Square(self._n + 1, self._grid((self._n + 1) ** 2, 1))
        for part, spans in zip(self._parts, self._spans, strict=True):
            part.contacts.fold([], partial(self._add_square, target, part, spans))
        if target is not H:
            for k in H.outward:
                for i in (k, *H.above(k)):
                    H[k, i] = H[k, i] + target[k, i]

    def _add_square(
        self, H: Any, part: _Part, spans: Sequence[tuple[int, int]], k: Any, _: Sequence[Scalar]
    ) -> list[Scalar]:
        contacts, size, grid = part.contacts, part.contacts.loop.size, self._products
        cost = contacts.cost(k)
        weights: list[list[Scalar]] = [[0.0] * size for _ in range(size)]
        for (r, s), x in zip(cost.pattern, part.weights.row(k, range(len(cost.pattern))), strict=True):
            weights[r][s] = weights[s][r] = x
        begin, end = (grid.looked_up([span[side] for span in spans], k) for side in (0, 1))
        for r in grid.rounds(begin, end):
            m = _motion(_row(self._columns, self._dofs, r))
            J = contacts.seen(k, m, grid.constant(self._signs, r))
            WJ = [dot(row, J) for row in weights]
            _put(grid, r, (*J, *WJ))
        for r in grid.rounds(begin, end):
            J, row = grid.row(r, range(size)), grid.looked_up(self._dofs, r)
            for s in grid.rounds(begin, r + 1):
                at = row, grid.looked_up(self._dofs, s)
                H[at] = H[at] + dot(J, grid.row(s, range(size, 2 * size)))
        return []

    def set_out(self, p: Any) -> None:
        """d = J p of each contact: how x changes along a line."""
        self._move(p)
        for part in self._parts:
            part.contacts.fold([], partial(self._set_out, part))

    def _set_out(self, part: _Part, k: Any, _: Sequence[Scalar]) -> list[Scalar]:
        _put(part.d, k, part.contacts.along(k, self._motions))
        return []

    def with_slope(self, alpha: Scalar, sums: Sequence[Scalar]) -> Sequence[Scalar]:
        """The slope and the curvature along the line, with those of the contacts at x + alpha d."""
        for part in self._parts:
            sums = part.contacts.fold(sums, partial(self._with_slope, part, alpha))
        return sums

    def _with_slope(self, part: _Part, alpha: Scalar, k: Any, sums: Sequence[Scalar]) -> Sequence[Scalar]:
        cost = part.contacts.cost(k)
        x, d = (grid.row(k, range(cost.size)) for grid in (part.x, part.d))
        found = cost.at([a + alpha * b for a, b in zip(x, d, strict=True)])
        down, bend = sums
        for f, b in zip(found.force, d, strict=True):
            down = down - f * b
        for r, s in cost.pattern:
            bend = bend + found.weight[r][s] * (d[r] * d[s]) * (1.0 if r == s else 2.0)
        return [down, bend]

    def _move(self, m: Any) -> None:
        """The motions of the bodies at the rates m, in elimination order."""
        self._table.written(self._motions, self._M.as_in_v(self._M.numbers(m)))


class _Square:
    """A matrix of zeros, whose indices may be the counters of loops."""

    def __init__(self, n: int, grid: Grid) -> None:
        self._n, self._grid = n, grid
        for k in grid.rounds(0, n * n):
            grid[k, 0] = 0.0

    def __getitem__(self, at: tuple[Any, Any]) -> Scalar:
        return self._grid[at[0] * self._n + at[1], 0]

    def __setitem__(self, at: tuple[Any, Any], x: Scalar) -> None:
        self._grid[at[0] * self._n + at[1], 0] = x


class _Part:
    """Numbers of the contacts of a loop in the convex problem."""

    def __init__(self, grid: Callable[[int, int], Grid], contacts: _Contacts) -> None:
        size = contacts.loop.size
        self.contacts = contacts
        self.x = grid(contacts.count, size)
        self.d = grid(contacts.count, size)
        self.weights = grid(contacts.count, size * (size + 1) // 2)


def _put(grid: Grid, k: Any, numbers: Sequence[Scalar]) -> None:
    for column, x in enumerate(numbers):
        grid[k, column] = x


def _row(grid: Grid, places: Sequence[int], k: Any) -> list[Scalar]:
    """The row of a grid for entry k of a list of rows."""
    return grid.row(grid.looked_up(places, k), range(grid.columns))


def _motion(x: Sequence[Scalar]) -> Motion:
    return Motion(Vec3(*x[:3]), Vec3(*x[3:]))


def _six(m: Motion) -> tuple[Scalar, ...]:
    return (*m.angular.components(), *m.linear.components())


def _numbers(X: Transform) -> list[Scalar]:
    return [x for part in (X.E.x, X.E.y, X.E.z, X.r) for x in part.components()]


def _transform(x: Sequence[Scalar]) -> Transform:
    return Transform(Mat3(Vec3(*x[:3]), Vec3(*x[3:6]), Vec3(*x[6:9])), Vec3(*x[9:]))
