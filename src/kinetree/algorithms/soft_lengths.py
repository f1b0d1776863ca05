"""Rows of one length each: limits, dry friction and followers, for coordinates of joints and for tendons.

A length ℓ with the moment J has the rate ℓ̇ = J v (transmissions.py). A row that is not active has D = 0.

Robots whose contacts are in loops of the program (contact_table.py) have limits and dry friction in loops as well,
where the moment is constant: one loop for all rows of the same kind with as many degrees of freedom.

Source: MuJoCo documentation, "Computation", sections on equality, friction loss and limit; version 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

from kinetree.algorithms.contact_table import ContactTable
from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.row_costs import DryFriction, Equality, OneSided, RowCost
from kinetree.algorithms.soft_rows import Law, Sight, jacobian
from kinetree.algorithms.transmissions import Reach, View
from kinetree.expr import Grid, Scalar, dot, less, maximum, select, sqrt, unless
from kinetree.records import record
from kinetree.spatial import Vec3

__all__ = [
    "LengthLoop",
    "LengthRow",
    "LengthRows",
    "LengthTable",
    "degree_of_freedom",
    "dry_friction",
    "follower",
    "inertia",
    "largest_angle",
    "limits",
]

_TINY = 1e-30
"""The smallest square of an angle with a defined axis."""


def degree_of_freedom(view: View, slot: int, dof: int) -> Reach:
    """A degree of freedom of a joint, without a length."""
    return Reach(0.0, {slot: [float(k == dof) for k in range(view.tree.joint[slot].nv)]})


def limits(sight: Sight, reach: Reach, lower: Scalar, upper: Scalar, margin: Scalar, softness: Law) -> list[Block]:
    """The smallest and the largest length; an infinite one has no row."""
    return [
        _one_sided(sight, _scaled(reach, sign), sign * (reach.length - bound), margin, softness)
        for sign, bound in ((1.0, lower), (-1.0, upper))
        if bound not in (-inf, inf)
    ]


def largest_angle(sight: Sight, slot: int, upper: Scalar, margin: Scalar, softness: Law) -> Block:
    """The limit of a ball joint."""
    joint = sight.tree.joint[slot]
    turn = Vec3(*joint.difference(joint.neutral(), sight.q[slot]))
    angle = sqrt(maximum(turn.dot(turn), _TINY))
    axis = turn * (1.0 / angle)
    toward = Reach(0.0, {slot: [-x for x in axis.components()]})
    return _one_sided(sight, toward, upper - angle, margin, softness)


def dry_friction(sight: Sight, reach: Reach, loss: Scalar, softness: Law) -> Block:
    """Dry friction of a length, or of a degree of freedom."""
    row = _row(sight, reach)
    a_ref, D = _slowed(row, sight.v, sight.drift, softness)
    return Block([row], [a_ref], DryFriction(D, loss))


def follower(
    sight: Sight,
    reach: Reach,
    leader: Reach | None,
    coefficients: Sequence[float],
    reference: tuple[float, float],
    softness: Law,
) -> Block:
    """A length that follows a polynomial of another one; or that is held, without another one.

    Both count from their references.
    """
    away: Scalar = 0.0
    slope: Scalar = 0.0
    if leader is not None:
        away = leader.length - reference[1]
        for k, c in reversed(list(enumerate(coefficients))[1:]):
            slope = slope * away + k * c
    goal: Scalar = 0.0
    for c in reversed(coefficients if leader is not None else coefficients[:1]):
        goal = goal * away + c
    r = reach.length - reference[0] - goal
    row = _row(sight, reach, *([] if leader is None else [_scaled(leader, -slope)]))
    d = softness.at(r)
    a_ref = softness.acceleration(dot(row, sight.v), d, r) - dot(row, sight.drift)
    return Block([row], [a_ref], Equality([1.0 / softness.regularisation(d)]))


def inertia(sight: Sight, reach: Reach, armature: float) -> Block:
    """The inertia ½ m ℓ̇² of a length whose moment is constant: as a cost, ½ m (J a)²."""
    return Block([_row(sight, reach)], [0.0], Equality([armature]))


def _one_sided(sight: Sight, reach: Reach, distance: Scalar, margin: Scalar, softness: Law) -> Block:
    row = _row(sight, reach)
    a_ref, D = _kept_within(row, sight.v, sight.drift, distance - margin, softness)
    return Block([row], [a_ref], OneSided(D))


_Row = Sequence[Scalar]


def _kept_within(row: _Row, v: _Row, drift: _Row, r: Scalar, softness: Law) -> tuple[Scalar, Scalar]:
    """The reference acceleration and the stiffness of a row with the violation r."""
    d = softness.at(r)
    D = select(softness.acts(r), 1.0 / softness.regularisation(d), 0.0)
    return softness.acceleration(dot(row, v), d, r) - dot(row, drift), D


def _slowed(row: _Row, v: _Row, drift: _Row, softness: Law) -> tuple[Scalar, Scalar]:
    """The same of a row of dry friction."""
    d = softness.at(0.0)
    rate = dot(row, v)
    return softness.slowing(rate) - dot(row, drift), 1.0 / softness.regularisation(d, has_spring=False)


def _scaled(reach: Reach, factor: Scalar) -> Reach:
    return Reach(reach.length * factor, {slot: [factor * x for x in row] for slot, row in reach.moment.items()})


def _row(sight: Sight, *reaches: Reach) -> list[Scalar]:
    """The sum of their moments, for the robot's degrees of freedom."""
    columns: dict[int, list[list[Scalar]]] = {}
    for reach in reaches:
        for slot, numbers in reach.moment.items():
            before = columns.get(slot, [[0.0]] * len(numbers))
            columns[slot] = [[x + y] for (x,), y in zip(before, numbers, strict=True)]
    (row,) = jacobian(sight, columns, 1)
    return row


class LengthRow(NamedTuple):
    """A row of a limit or of dry friction, in a loop."""

    factors: Sequence[Scalar]
    """Its numbers for the degrees of freedom that it moves."""
    law: Law
    bound: Scalar
    """The least sum of the coordinates times these numbers, and the margin; of dry friction not used."""
    loss: Scalar
    """The force of dry friction; of a limit not used."""


@record(frozen=True, slots=True)
class LengthLoop:
    """Rows of one kind of cost that move as many degrees of freedom each, in one loop."""

    rubs: bool
    """Whether they are dry friction; or else limits, whose degrees of freedom are the rates of coordinates."""
    places: Sequence[Sequence[int]]
    """The degrees of freedom of each row, by their places in v."""
    row: Callable[[Any], LengthRow]
    """row(k): the numbers of row k of the loop."""


class LengthTable:
    """The rows of lengths with constant moments at a state, in loops."""

    overflows: Scalar = 0.0
    """As for `LoopedTable`: there is room for all rows."""

    def __init__(self, contacts: ContactTable, loops: Sequence[LengthLoop]) -> None:
        """`contacts`: of the same robot. The degrees of freedom of a row do not turn the axes in which v counts."""
        self.contacts: ContactTable = contacts
        self.loops: Sequence[LengthLoop] = loops
        rates = contacts.in_places(contacts.sight.v)
        q = self._coordinates()
        self.numbers: list[Grid] = [self.grid(len(loop.places), 2) for loop in loops]
        """The reference acceleration and the stiffness of each row."""
        for n, (loop, numbers) in enumerate(zip(loops, self.numbers, strict=True)):
            still = [0.0] * len(loop.places[0])
            for k in numbers.rounds(0, len(loop.places)):
                row, v = loop.row(k), self.of_row(n, k, rates)
                if loop.rubs:
                    a_ref, D = _slowed(row.factors, v, still, row.law)
                else:
                    violation = dot(row.factors, self.of_row(n, k, q)) - row.bound
                    a_ref, D = _kept_within(row.factors, v, still, violation, row.law)
                numbers[k, 0], numbers[k, 1] = a_ref, D
        pairs = [
            [(places[r], places[s]) for places in loop.places] for loop in loops for r, s in _lower(len(loop.places[0]))
        ]
        number = {pair: n for n, pair in enumerate(dict.fromkeys(pair for some in pairs for pair in some))}
        self.pairs: list[tuple[int, int]] = list(number)
        """Degrees of freedom that have an entry of the Hessian."""
        rows = iter([[number[pair] for pair in some] for some in pairs])
        self.entries: list[list[list[int]]] = [[next(rows) for _ in _lower(len(loop.places[0]))] for loop in loops]
        """For each loop, and each entry of a row's square, its number among the pairs for each row."""

    @property
    def together(self) -> Sequence[Sequence[int]]:
        """As for `LoopedTable`."""
        return [places for loop in self.loops for places in loop.places if len(places) > 1]

    def coupled(self) -> Sequence[Sequence[int]]:
        """As for `LoopedTable`."""
        return self.together

    def with_matrix(self, M: Any) -> LengthRows:
        """The rows in the convex problem with this matrix."""
        return LengthRows(self, M)

    def _coordinates(self) -> Grid:
        """The coordinates whose rates are degrees of freedom, by the places of these."""
        sight, first = self.contacts.sight, self.contacts.first
        grid = sight.tree.grid(self.contacts.size, 1, clear=False)
        for j, _ in sight.tree.outward:
            if sight.tree.joint[j].is_flat:
                for k, x in enumerate(sight.q[j]):
                    grid[sight.tree.of_slot(first, j) + k, 0] = x
        return grid

    def grid(self, rows: int, columns: int) -> Grid:
        """A matrix that rows which are left out do not write to."""
        return self.contacts.sight.tree.grid(rows, columns, clear=False, is_scratch=True)

    def places(self, n: int, k: Any) -> list[Any]:
        """The rows of `ContactTable.in_places` of the degrees of freedom of row k of loop n."""
        place, of_rows = self.contacts.chains.place, self.loops[n].places
        return [self.numbers[n].looked_up([place[i] for i in column], k) for column in zip(*of_rows, strict=True)]

    def of_row(self, n: int, k: Any, numbers: Grid) -> list[Scalar]:
        """The numbers of the degrees of freedom of row k of loop n."""
        return [numbers[at, 0] for at in self.places(n, k)]

    def cost(self, n: int, k: Any) -> RowCost:
        """The cost of row k of loop n."""
        D = self.numbers[n][k, 1]
        return DryFriction(D, self.loops[n].row(k).loss) if self.loops[n].rubs else OneSided(D)


class LengthRows:
    """These rows in the convex problem; what one step leaves to the next is in memory."""

    def __init__(self, table: LengthTable, M: Any) -> None:
        self._table, self._M = table, M
        self._x, self._d, self._weights = ([table.grid(len(loop.places), 1) for loop in table.loops] for _ in range(3))
        self._rates, self._forces = (table.grid(table.contacts.size, 1) for _ in range(2))
        self._square = table.grid(len(table.pairs), 1)

    def _fold(self, state: Sequence[Scalar], step: Callable[..., Sequence[Scalar]]) -> Sequence[Scalar]:
        """Iterate over the rows that are active: `step(n, k, values)` of row k of loop n gives the next values."""

        def of_row(n: int, k: Any, state: Sequence[Scalar]) -> Sequence[Scalar]:
            idle = 0.0 if self._table.loops[n].rubs else 1.0 - less(0.0, self._table.numbers[n][k, 1])
            return unless(idle, state, partial(step, n, k))

        for n, loop in enumerate(self._table.loops):
            state = self._x[n].fold(0, len(loop.places), state, partial(of_row, n))
        return state

    def _along(self, n: int, k: Any) -> Scalar:
        """J m of a row, at the rates m that are in memory."""
        return dot(self._table.loops[n].row(k).factors, self._table.of_row(n, k, self._rates))

    def _keep(self, m: Any) -> None:
        for k in self._M.outward:
            self._rates[self._M.place(k), 0] = m[k]

    def away(self, a: Any) -> None:
        """x = J a - a_ref of each row."""

        def step(n: int, k: Any, _: Sequence[Scalar]) -> Sequence[Scalar]:
            self._x[n][k, 0] = self._along(n, k) - self._table.numbers[n][k, 0]
            return []

        self._keep(a)
        self._fold([], step)

    def respond(self, gradient: Any, costs: Scalar, alpha: Scalar | None = None) -> Scalar:
        """Take Jᵀ f from the gradient, where x is now x + alpha d if that is given; return a sum with the costs."""
        forces = self._forces

        def step(n: int, k: Any, state: Sequence[Scalar]) -> Sequence[Scalar]:
            x = self._x[n][k, 0]
            if alpha is not None:
                x = x + alpha * self._d[n][k, 0]
                self._x[n][k, 0] = x
            response = self._table.cost(n, k).at([x])
            self._weights[n][k, 0] = response.weight[0][0]
            for at, j in zip(self._table.places(n, k), self._table.loops[n].row(k).factors, strict=True):
                forces[at, 0] = forces[at, 0] + j * response.force[0]
            return [state[0] + response.cost]

        for at in forces.rounds(0, self._table.contacts.size):
            forces[at, 0] = 0.0
        (costs,) = self._fold([costs], step)
        for k in self._M.outward:
            gradient[k] = gradient[k] - forces[self._M.place(k), 0]
        return costs

    def add_square(self, H: Any) -> None:
        """H += Jᵀ s'' J."""
        square, table = self._square, self._table

        def step(n: int, k: Any, _: Sequence[Scalar]) -> Sequence[Scalar]:
            factors = table.loops[n].row(k).factors
            for (r, s), numbers in zip(_lower(len(factors)), table.entries[n], strict=True):
                at = square.looked_up(numbers, k)
                square[at, 0] = square[at, 0] + self._weights[n][k, 0] * (factors[r] * factors[s])
            return []

        for at in square.rounds(0, len(table.pairs)):
            square[at, 0] = 0.0
        self._fold([], step)
        H.add_entries(table.pairs, square)

    def set_out(self, p: Any) -> None:
        """d = J p of each row: how x changes along a line."""

        def step(n: int, k: Any, _: Sequence[Scalar]) -> Sequence[Scalar]:
            self._d[n][k, 0] = self._along(n, k)
            return []

        self._keep(p)
        self._fold([], step)

    def with_slope(self, alpha: Scalar, sums: Sequence[Scalar]) -> Sequence[Scalar]:
        """The slope and the curvature along the line, with those of the rows at x + alpha d."""

        def step(n: int, k: Any, sums: Sequence[Scalar]) -> Sequence[Scalar]:
            d = self._d[n][k, 0]
            response = self._table.cost(n, k).at([self._x[n][k, 0] + alpha * d])
            return [sums[0] - response.force[0] * d, sums[1] + response.weight[0][0] * (d * d)]

        return self._fold(sums, step)


def _lower(size: int) -> list[tuple[int, int]]:
    """The entries of a lower triangle."""
    return [(r, s) for r in range(size) for s in range(r + 1)]
