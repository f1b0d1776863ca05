"""Forward dynamics with soft constraints: the minimum of a strictly convex function of the acceleration.

    a* = argmin ½ (a - a₀)ᵀ M (a - a₀) + Σ s(J a - a_ref),    M a₀ = τ

Each block of rows J has its cost s (row_costs.py); τ is the part of the joint forces left for acceleration. The
gradient is g = M a - τ - Jᵀ f with f = -s', the Hessian is H = M + Jᵀ s'' J, and Newton's method with an exact line
search converges from anywhere. Since H ≥ M everywhere, ‖a - a*‖_M ≤ ‖g‖_M⁻¹: that is the bound on the error which ends
the iterations, and which is reported.

H has the zeros of M, except for blocks that push bodies of two branches against each other; so it has sparse factors
(ltdl.py), in an order that suits all blocks.

Source: Todorov, "Convex and analytically-invertible dynamics with contacts and constraints", ICRA 2014; MuJoCo
documentation, "Computation"; for Newton's method with line searches, Boyd and Vandenberghe, *Convex Optimization*
(2004), sections 9.1.2 and 9.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from kinetree.algorithms.ltdl import block_half, block_ltdl, block_rest, ltdl, ltdl_half, ltdl_rest
from kinetree.algorithms.row_costs import Response, RowCost
from kinetree.algorithms.sleeping_islands import Sleep
from kinetree.expr import Scalar, absolute, less, less_equal, maximum, repeat, select, slopes_of, sqrt, unless
from kinetree.records import record

__all__ = ["Block", "Bounce", "Effort", "LoopedRows", "LoopedTable", "Minimum", "minimum_acceleration"]

_FAR = 1e300
"""Larger than any step of a line search."""
_EXACT = 0.1
"""The part of the slope that may be left at the end of a line search."""
_TINY = 1e-300
_USUAL, _ROUNDING = 18.5, 1e-3
"""Iterations after which an error below this ends them that no longer halves: in single precision it is rounding."""


class Block(NamedTuple):
    """Rows of J in the order of v, zeros as plain floats, their reference accelerations, and their cost."""

    J: Sequence[Sequence[Scalar]]
    reference: Sequence[Scalar]
    cost: RowCost
    pull: Scalar = 0.0
    """A force against the first row, in addition to that of the cost: adhesion."""
    idle: Scalar = 0.0
    """1.0 where J and the curvature are zero everywhere, as of a contact that is open: it can be left out there."""
    softer: Block | None = None
    """The block whose derivatives count in place of this one's; None where they are its own."""
    bounce: Bounce | None = None
    """The limit of the bounce of a contact with restitution."""


class Bounce(NamedTuple):
    """The reference of a contact without its restitution, and the motion of its points."""

    dead: Scalar
    """The first reference acceleration without restitution."""
    rates: Sequence[Scalar]
    """The velocity along each row before the step."""
    still: Sequence[Scalar]
    """The accelerations along each row after which nothing moves."""
    step: Scalar
    """h, s."""


@record(frozen=True, slots=True)
class Effort:
    """When to stop: the most iterations, the most evaluations of a line search, and the relative error wanted.

    That is enough for rows that are a thousand times stiffer across a contact than along its normal, and from a guess
    far away.
    """

    iterations: int = 100
    line_search: int = 24
    tolerance: float = 1e-10


class LoopedRows(Protocol):
    """Rows that are gone through in loops of the program (contact_table.py, soft_lengths.py)."""

    def away(self, a: Any) -> None:
        """Set their x to J a - a_ref."""

    def respond(self, gradient: Any, costs: Scalar, alpha: Scalar | None = None) -> Scalar:
        """Take Jᵀ f from the gradient, at `alpha` on the line if it is given; return a sum with the costs."""

    def add_square(self, H: Any) -> None:
        """H += Jᵀ s'' J."""

    def set_out(self, p: Any) -> None:
        """Begin a line along p."""

    def with_slope(self, alpha: Scalar, sums: Sequence[Scalar]) -> Sequence[Scalar]:
        """The slope and the curvature at alpha, with those of these rows."""


class LoopedTable(Protocol):
    """Such rows at a state."""

    @property
    def overflows(self) -> Scalar:
        """1.0 where more of them act than there is room for."""
        ...

    @property
    def together(self) -> Sequence[Sequence[int]]:
        """Degrees of freedom that share entries of the Hessian in every sample, by their places in v."""
        ...

    def coupled(self) -> Sequence[Sequence[int]]:
        """Degrees of freedom that may share entries of the Hessian, by their places in v."""
        ...

    def with_matrix(self, M: Any) -> LoopedRows:
        """The rows in the convex problem with this matrix."""
        ...


class Minimum(NamedTuple):
    """The minimum, and how it was found."""

    acceleration: Sequence[Scalar]
    forces: list[list[Scalar]]
    """Along the rows of each block."""
    error: Scalar
    """‖g‖_M⁻¹ / (‖a₀‖_M² + ‖a‖_M² + 2 Σ s)^½, a bound on the error ‖a - a*‖_M relative to the forces as well."""
    iterations: Scalar
    softer: Minimum | None = None
    """The minimum with softer blocks, if derivatives are those of it."""
    looped: Sequence[Scalar] = ()
    """Jᵀ f of the rows in loops, in the order of v."""
    system: tuple[Any, Sequence[Scalar]] | None = None
    """M, and the joint forces τ without the soft constraints', in the order of v, where rows are in loops."""

    def push(self, blocks: Sequence[Block]) -> Sequence[Scalar]:
        """Jᵀ f, less the blocks' pulls, in the order of v."""
        if not blocks and self.looped:
            return self.looped
        total: list[Scalar] = [*self.looped] or [0.0] * len(self.acceleration)
        for block, (first, *others) in zip(blocks, self.forces, strict=True):
            for row, f in zip(block.J, (first - block.pull, *others), strict=True):
                total = [x + j * f for x, j in zip(total, row, strict=True)]
        if self.softer is not None:
            slopes = self.softer.push([block.softer or block for block in blocks])
            total = [slopes_of(x, y) for x, y in zip(total, slopes, strict=True)]
        return total


def minimum_acceleration(
    M: Any,
    tau: Sequence[Scalar],
    blocks: Sequence[Block],
    guess: Sequence[Scalar] | None,
    effort: Effort,
    looped: Sequence[LoopedTable] = (),
    sleep: Sleep | None = None,
) -> Minimum:
    """The acceleration a*, from the better of a guess and a₀, in the order of v.

    M is a `SparseMatrix` whose pattern has room for all blocks (`coupled`) and for the rows in loops. Where bodies
    sleep tau is zero and no row acts, so that a* is zero.
    """
    if looped:
        n = len(tau)
        together = [[[float(k in places) for k in range(n)]] for table in looped for places in table.together]
        coupled = [
            sorted({k for row in J for k, _ in M.entries(row)}) for J in (*(block.J for block in blocks), *together)
        ]
        M = M.in_blocks(coupled)
    if sleep is not None and M.is_in_blocks:
        M = M.without_rows(sleep.in_row)
    problem = _Problem(M, tau, blocks, looped)
    start = problem.at(problem.smooth)
    begun = problem.numbers(start)
    if guess is not None:
        other = problem.at(M.column(guess))
        better = less(problem.cost(other), problem.cost(start))
        begun = [select(better, b, a) for a, b in zip(begun, problem.numbers(other, better), strict=True)]
        problem.look_again(begun)

    def step(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        count, ended, *numbers = state
        point = problem.restored(numbers)
        after = problem.moved(point, effort.line_search, ended)
        is_rounding = less(_USUAL, count) * less(after.error, _ROUNDING) * less_equal(0.5 * point.error, after.error)
        ends = maximum(less_equal(after.error, effort.tolerance), is_rounding)
        return [count + 1.0, ends, *problem.numbers(after)], ends

    count, _, *numbers = repeat(effort.iterations, [0.0, 0.0, *begun], step)
    if looped:  # before they are in memory, where the derivative that is not theirs cannot be seen
        numbers = [slopes_of(x, 0.0) for x in numbers]
    end = problem.restored(numbers)
    a = problem.differentiable(end.a)
    forces = [list(cost.force) for cost in problem.responses(problem.away(a))]
    error, iterations = slopes_of(end.error, 0.0), slopes_of(count, 0.0)
    system = (M, tau) if looped else None
    return Minimum(M.in_v(a), forces, error, iterations, looped=problem.push_of_looped(), system=system)


_Row = Sequence[tuple[int, Scalar]]
"""The entries of a row of J that are not always zero, with their places in elimination order."""


class _Point(NamedTuple):
    """An acceleration in elimination order, and quantities that follow from it."""

    a: Any
    rest: Any
    """M a - τ."""
    x: list[list[Scalar]]
    """J a - a_ref, per block."""
    gradient: Any
    weights: list[list[list[Scalar]]]
    error: Scalar
    costs: Scalar = 0.0
    """Σ s; an iteration does not leave it to the next."""


class _Problem:
    """The function to be minimised."""

    def __init__(self, M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], tables: Sequence[LoopedTable]) -> None:
        self._M = M
        factors = (block_ltdl, block_half, block_rest) if M.is_in_blocks else (ltdl, ltdl_half, ltdl_rest)
        self._factor, self._half, self._rest = factors
        self._tables = tables
        self._looped = [table.with_matrix(M) for table in tables]
        self._blocks = blocks
        self._left = [M.zeros() for _ in range(3)]
        """Rows that an iteration leaves to the next, in memory."""
        self._tau = M.column(tau)
        self._rows = [[M.entries(row) for row in block.J] for block in blocks]
        self._L = M.copy()
        self._factor(self._L)
        half = M.column(tau)
        self._half(self._L, half)
        self._size = self._norm(half)
        self.smooth = half
        self._rest(self._L, half)

    def at(self, a: Any) -> _Point:
        """Everything at an acceleration."""
        M = self._M
        rest = M.times(a)
        for k in M.outward:
            rest[k] = rest[k] - self._tau[k]
        return self._with_response(a, rest, self.away(a))

    def cost(self, point: _Point) -> Scalar:
        """The function's value."""
        away = self._M.total(lambda k: (point.a[k] - self.smooth[k]) * point.rest[k])
        total: Scalar = 0.5 * away + point.costs
        return total

    def moved(self, point: _Point, evaluations: int, ended: Scalar) -> _Point:
        """The point after a step of Newton's method with a line search; itself, if it is in memory, where `ended`."""
        p = self._direction(point)
        Mp = self._M.times(p)
        along = [
            list(unless(block.idle, [0.0] * len(rows), partial(_products, rows, p)))
            for block, rows in zip(self._blocks, self._rows, strict=True)
        ]
        for looped in self._looped:
            looped.set_out(p)
        alpha = self._line_search(point, p, Mp, along, evaluations)
        if self._M.is_in_blocks:
            alpha = select(ended, 0.0, alpha)
        a, rest = self._M.zeros(), self._M.zeros()
        for k in self._M.outward:
            a[k] = point.a[k] + alpha * p[k]
            rest[k] = point.rest[k] + alpha * Mp[k]
        x = [_along(old, alpha, new) for old, new in zip(point.x, along, strict=True)]
        return self._with_response(a, rest, x, alpha)

    def away(self, a: Any) -> list[list[Scalar]]:
        """J a - a_ref, per block."""
        for looped in self._looped:
            looped.away(a)
        return [
            [_dot(row, a) - r for row, r in zip(rows, block.reference, strict=True)]
            for rows, block in zip(self._rows, self._blocks, strict=True)
        ]

    def responses(self, x: Sequence[Sequence[Scalar]]) -> list[Response]:
        """The response of each block."""
        return [block.cost.at(x_b) for block, x_b in zip(self._blocks, x, strict=True)]

    def differentiable(self, a: Any) -> Any:
        """The minimum that was found, with the derivatives of the implicit function g(a, θ) = 0: da = -H⁻¹ ∂g/∂θ dθ.

        They are those of one more step of Newton's method from a constant a.
        """
        if self._looped:
            return self._differentiable_in_loops(a)
        M = self._M
        solution = M.zeros()
        for k in M.outward:
            solution[k] = slopes_of(a[k], 0.0)
        p = self._direction(self.at(solution))
        for k in M.outward:
            solution[k] = slopes_of(solution[k], solution[k] + p[k])
        return solution

    def _differentiable_in_loops(self, a: Any) -> Any:
        """The same by two steps with a constant H: each makes one more order of derivatives exact."""
        M = self._M
        solution = M.zeros()
        for k in M.outward:
            solution[k] = slopes_of(a[k], 0.0)
        factors: Any = None
        for _ in range(2):
            self._looped = [table.with_matrix(M) for table in self._tables]
            point = self.at(solution)
            if factors is None:
                factors = self._hessian(point).constant()
                self._factor(factors)
            p = self._solved(factors, point)
            before, solution = solution, M.zeros()
            for k in M.outward:
                solution[k] = slopes_of(before[k], before[k] + p[k])
        self._looped = [table.with_matrix(M) for table in self._tables]
        return solution

    def look_again(self, numbers: Sequence[Scalar]) -> None:
        """Bring the values in memory to the point with these numbers."""
        if self._looped:
            self.away(self.restored(numbers).a)
        for looped in self._looped:
            looped.respond(self._M.zeros(), 0.0)

    def push_of_looped(self) -> Sequence[Scalar]:
        """Jᵀ f of the rows in loops at their x, in the order of v."""
        if not self._looped:
            return []
        left = self._M.zeros()
        for looped in self._looped:
            looped.respond(left, 0.0)
        for k in self._M.outward:
            left[k] = -left[k]
        push: Sequence[Scalar] = self._M.in_v(left)
        return push

    def numbers(self, point: _Point, where: Scalar | None = None) -> list[Scalar]:
        """The numbers that an iteration leaves to the next; those in memory only where something is not zero."""
        numbers: list[Scalar] = []
        for row, before in zip((point.a, point.rest, point.gradient), self._left, strict=True):
            numbers += self._M.left(row, before, where)
        numbers.append(point.error)
        numbers += [x for rows in point.x for x in rows]
        for block, weight in zip(self._blocks, point.weights, strict=True):
            numbers += [weight[r][s] for r, s in block.cost.pattern]
        return numbers

    def restored(self, numbers: Sequence[Scalar]) -> _Point:
        """The inverse of `numbers`."""
        given = iter(numbers)
        a, rest, gradient = (self._M.taken(given, before) for before in self._left)
        error = next(given)
        x = [[next(given) for _ in block.J] for block in self._blocks]
        return _Point(a, rest, x, gradient, [_triangle(block, given) for block in self._blocks], error)

    def _with_response(self, a: Any, rest: Any, x: list[list[Scalar]], alpha: Scalar | None = None) -> _Point:
        """The gradient g = M a - τ - Jᵀ f and its size, from M a - τ and J a - a_ref; `alpha` as for `LoopedRows`."""
        M = self._M
        gradient = M.zeros()
        for k in M.outward:
            gradient[k] = rest[k]
        weights = []
        costs: Scalar = 0.0
        for block, rows, x_b in zip(self._blocks, self._rows, x, strict=True):
            costs, weight = self._respond(block, rows, x_b, gradient, costs)
            weights.append(weight)
        for looped in self._looped:
            costs = looped.respond(gradient, costs, alpha)
        return _Point(a, rest, x, gradient, weights, self._error(a, rest, gradient, costs), costs)

    def _respond(
        self, block: Block, rows: Sequence[_Row], x: Sequence[Scalar], gradient: Any, costs: Scalar
    ) -> tuple[Scalar, list[list[Scalar]]]:
        """Take a block's Jᵀ f from the gradient; return a sum with its cost, and its curvature."""
        places = sorted({k for row in rows for k, _ in row})
        pattern = block.cost.pattern

        def step(state: Sequence[Scalar]) -> list[Scalar]:
            response = block.cost.at(x)
            left = dict(zip(places, state[1:], strict=False))
            for row, f in zip(rows, response.force, strict=True):
                for k, j in row:
                    left[k] = left[k] - j * f
            return [state[0] + response.cost, *left.values(), *(response.weight[r][s] for r, s in pattern)]

        results = iter(unless(block.idle, [costs, *(gradient[k] for k in places), *([0.0] * len(pattern))], step))
        total = next(results)
        for k in places:
            gradient[k] = next(results)
        return total, _triangle(block, results)

    def _direction(self, point: _Point) -> Any:
        """p = -H⁻¹ g."""
        H = self._hessian(point)
        self._factor(H)
        return self._solved(H, point)

    def _solved(self, factors: Any, point: _Point) -> Any:
        p = self._M.zeros()
        for k in self._M.outward:
            p[k] = -point.gradient[k]
        self._half(factors, p)
        self._rest(factors, p)
        return p

    def _hessian(self, point: _Point) -> Any:
        """H = M + Jᵀ s'' J."""
        H = self._M.copy()
        for block, rows, weight in zip(self._blocks, self._rows, point.weights, strict=True):
            _add_square(H, rows, weight, block.idle)
        for looped in self._looped:
            looped.add_square(H)
        return H

    def _line_search(
        self, point: _Point, p: Any, Mp: Any, along: Sequence[Sequence[Scalar]], evaluations: int
    ) -> Scalar:
        """The minimum along p by Newton's method for the slope's zero, kept inside the bracket found so far."""
        slope, curvature = self._dot(p, point.rest), self._dot(p, Mp)
        first = self._dot(p, point.gradient)

        def at(alpha: Scalar) -> tuple[Scalar, Scalar]:
            found = [slope + alpha * curvature, curvature]
            for block, x, d in zip(self._blocks, point.x, along, strict=True):
                found = list(unless(block.idle, found, partial(_with_slope, block.cost, _along(x, alpha, d), d)))
            for looped in self._looped:
                found = list(looped.with_slope(alpha, found))
            return found[0], found[1]

        def step(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
            alpha, low, high = state
            down, bend = at(alpha)
            rises = less(0.0, down)
            low, high = select(rises, low, alpha), select(rises, alpha, high)
            newton = alpha - down / select(less(0.0, bend), bend, 1.0)
            inside = less(low, newton) * less(newton, high)
            # Before the slope has risen there is no middle: a step that rounding keeps at the end is doubled.
            middle = select(less(high, _FAR), 0.5 * (low + high), 2.0 * alpha)
            found = less_equal(absolute(down), _EXACT * absolute(first))
            return [select(found, alpha, select(inside, newton, middle)), low, high], found

        alpha, _, _ = repeat(evaluations, [1.0, 0.0, _FAR], step)
        return alpha

    def _dot(self, x: Any, y: Any) -> Scalar:
        total: Scalar = self._M.total(lambda k: x[k] * y[k])
        return total

    def _norm(self, half: Any) -> Scalar:
        """fᵀ M⁻¹ f, from L⁻ᵀ f."""
        total: Scalar = self._M.total(lambda k: half[k] * half[k] * (1.0 / self._L.pivot(k)))
        return total

    def _error(self, a: Any, rest: Any, gradient: Any, costs: Scalar) -> Scalar:
        """‖g‖_M⁻¹ in units of the present scale, (‖a₀‖_M² + ‖a‖_M² + 2 Σ s)^½."""
        M = self._M
        half = M.zeros()
        for k in M.outward:
            half[k] = gradient[k]
        size = M.total(lambda k: a[k] * (rest[k] + self._tau[k]), self._size + 2.0 * costs)
        self._half(self._L, half)
        error: Scalar = sqrt(self._norm(half) / maximum(size, _TINY))
        return error


def _triangle(block: Block, numbers: Iterator[Scalar]) -> list[list[Scalar]]:
    """A block's curvature, whose entries are the next numbers where its pattern has any."""
    weight: list[list[Scalar]] = [[0.0] * (k + 1) for k in range(len(block.J))]
    for r, s in block.cost.pattern:
        weight[r][s] = next(numbers)
    return weight


def _products(rows: Sequence[_Row], p: Any, _: Sequence[Scalar]) -> list[Scalar]:
    """J p."""
    return [_dot(row, p) for row in rows]


def _dot(row: Sequence[tuple[int, Scalar]], x: Any) -> Scalar:
    total: Scalar = 0.0
    for k, j in row:
        total = total + j * x[k]
    return total


def _along(x: Sequence[Scalar], alpha: Scalar, d: Sequence[Scalar]) -> list[Scalar]:
    return [a + alpha * b for a, b in zip(x, d, strict=True)]


def _square(weight: Sequence[Sequence[Scalar]], d: Sequence[Scalar]) -> Scalar:
    """dᵀ W d, for the lower triangle W."""
    total: Scalar = 0.0
    for r, row in enumerate(weight):
        across: Scalar = 0.0
        for s in range(r):
            across = across + row[s] * d[s]
        total = total + d[r] * (row[r] * d[r] + 2.0 * across)
    return total


def _with_slope(cost: RowCost, x: Sequence[Scalar], d: Sequence[Scalar], sums: Sequence[Scalar]) -> list[Scalar]:
    """The slope and the curvature along d, with those of a cost at x."""
    response = cost.at(x)
    down, bend = sums
    for f, d_k in zip(response.force, d, strict=True):
        down = down - f * d_k
    return [down, bend + _square(response.weight, d)]


def _add_square(H: Any, rows: Sequence[_Row], weight: Sequence[Sequence[Scalar]], idle: Scalar) -> None:
    """H += Jᵀ W J."""
    W = [[weight[max(r, s)][min(r, s)] for s in range(len(rows))] for r in range(len(rows))]
    columns = sorted({k for row in rows for k, _ in row})
    J = [dict(row) for row in rows]
    places = [(k, i) for i in columns for k in columns if k >= i]

    def step(entries: Sequence[Scalar]) -> list[Scalar]:
        sums = dict(zip(places, entries, strict=True))
        for i in columns:
            WJ: list[Scalar] = []
            for w in W:
                total: Scalar = 0.0
                for w_s, row in zip(w, J, strict=True):
                    total = total + w_s * row.get(i, 0.0)
                WJ.append(total)
            for k in columns[columns.index(i) :]:
                for row, x in zip(J, WJ, strict=True):
                    sums[k, i] = sums[k, i] + row.get(k, 0.0) * x
        return [sums[place] for place in places]

    for (k, i), entry in zip(places, unless(idle, [H[place] for place in places], step), strict=True):
        H[k, i] = entry
