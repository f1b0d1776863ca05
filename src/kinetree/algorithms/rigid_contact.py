"""Rigid contacts with Coulomb's friction, as a fixed point of convex problems.

With De Saxcé's shift s = Φ(y) as a number, the conditions of such contacts (natural_map.py) are those of the convex
problem (convex_dynamics.py) with the reference a_ref - s. So s is found as a fixed point: solve, take Φ(y), solve
again.

The first s is that of the state: a body that slides at y, and meets the surface with y_n, slides on as friction leaves
it,

    s = max(0, ‖μ_j y_j‖ + μ₁² min(y_n, 0))

A step that ends there takes friction's lift from the motion at its beginning. Without the second term a body that is to
stop would fall instead: with s too large the normal conditions count by 1 / (1 + μ²) only. From the second round on,
rows also begin at the forces found so far,

    f = Π_K(f_before - D (y + s)),

the method of multipliers: the compliance of the regularisation R = 1 / D vanishes, so that the fixed point is a rigid
contact. Rounds end early: Newton's method (rigid_newton.py) finds the solution from there, and has the derivatives. If
it fails, more rounds come closer, and at last another method (admm.py), before it begins again.

Sources: Acary, Cadoux, Lemaréchal and Malick, "A formulation of the linear discrete Coulomb friction problem via convex
optimization", ZAMM 91 (2011); Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm",
Mathematics of Operations Research 1 (1976).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinetree.algorithms.admm import admm
from kinetree.algorithms.convex_dynamics import Block, Effort, Minimum, minimum_acceleration
from kinetree.algorithms.natural_map import Numbers, RigidContact, away, flat, inverse, residual, shift, split, weights
from kinetree.algorithms.rigid_newton import differentiated, newton
from kinetree.algorithms.row_costs import OneSided, RowCost
from kinetree.expr import Scalar, less, less_equal, maximum, minimum, repeat, select, slopes_of, sqrt, unless

__all__ = ["has_rigid_contacts", "in_one_round", "rigid_acceleration"]

_ALTERNATIONS = 500
"""The most iterations of the method of multipliers with alternating directions."""
_ATTEMPTS, _CLOSE, _CLOSER = 3, 1e-2, 1e-3
"""How often Newton's method begins at most; the residual that rounds end at before, m/s, and by how much it shrinks."""
_STEEPEST = 10.0
"""The largest μ of rounds: beyond it they converge slowly, and more holds the same bodies."""
_FAR = 1e300


def has_rigid_contacts(blocks: Sequence[Block]) -> bool:
    """Whether any contact has it."""
    return any(isinstance(block.cost, RigidContact) for block in blocks)


def in_one_round(blocks: Sequence[Block]) -> list[Block]:
    """The rows of the first round: a body that slides when the step begins, and is not stopped, does not lift."""
    return _shifted(blocks, [[0.0] * len(block.J) for block in blocks], _first_shifts(blocks))


def rigid_acceleration(
    M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], guess: Sequence[Scalar] | None, effort: Effort
) -> Minimum:
    """The acceleration with Coulomb's friction; its error is the largest residual of all rows, m/s or rad/s.

    The arguments are those of `minimum_acceleration`. Iterations are those of all methods together.
    """
    cones = [block.cost for block in blocks if isinstance(block.cost, RigidContact)]
    rounds, tolerance, h = max(cone.rounds for cone in cones), min(cone.tolerance for cone in cones), cones[0].step
    if rounds == 1:
        minimum = minimum_acceleration(M, tau, in_one_round(blocks), guess, effort)
        error = h * residual(blocks, minimum.forces, away(blocks, minimum.acceleration, minimum.forces))
        return minimum._replace(error=slopes_of(error, 0.0))
    n, size = len(tau), len(tau) + sum(len(block.J) for block in blocks)
    flatter = [block._replace(cost=_flatter(block.cost)) for block in blocks]

    def turn(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        a, f, (*s, close, _, count) = state[:n], split(blocks, state[n:size]), state[size:]
        minimum = minimum_acceleration(M, tau, _shifted(flatter, f, s), a, effort)
        y = away(blocks, minimum.acceleration, minimum.forces)
        error = h * residual(blocks, minimum.forces, y)
        s = [shift(block.cost, y_b) for block, y_b in zip(flatter, y, strict=True)]
        after = [*minimum.acceleration, *flat(minimum.forces), *s, close, error, count + minimum.iterations]
        return after, less_equal(error, close)

    def attempt(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        begun, best, rank = state[: -3 * size - 2], state[-3 * size - 2 : -1], state[-1]
        begun = repeat(-(-rounds // _ATTEMPTS), begun, turn)
        *_, close, error, count = begun
        minimum = Minimum(list(begun[:n]), split(blocks, begun[n:size]), error, count)
        is_last = less_equal(close, tolerance)
        minimum = _alternated(M, tau, blocks, minimum, h, tolerance, is_last)
        solved = newton(M, tau, blocks, minimum.acceleration, minimum.forces, h, tolerance)
        better = maximum(less_equal(solved.error, tolerance), less(solved.error, minimum.error))
        others = [*minimum.acceleration, *flat(minimum.forces), *([0.0] * (2 * size)), minimum.error]
        candidate = [select(better, x, y) for x, y in zip(solved.numbers(), others, strict=True)]
        its_rank = select(better, candidate[-1], 2.0 * (candidate[-1] + tolerance))
        keeps = less_equal(rank, its_rank)
        best = [select(keeps, x, y) for x, y in zip(best, candidate, strict=True)]
        close = maximum(close * _CLOSER, tolerance)
        begun = [*begun[:-3], close, error, minimum.iterations + solved.steps]
        rank = select(keeps, rank, its_rank)
        return [*begun, *best, rank], less_equal(rank, tolerance)

    nothing = [0.0] * (size - n)
    start = [0.0] * n if guess is None else guess
    begun = [*start, *nothing, *_first_shifts(flatter), maximum(_CLOSE, tolerance), 0.0, 0.0]
    end = repeat(_ATTEMPTS, [*begun, *([0.0] * (3 * size)), 0.0, _FAR], attempt)
    best, count = end[-3 * size - 2 :], end[-3 * size - 3]
    a, f = best[:n], split(blocks, best[n:size])
    # Without a solution by Newton's method nobody knows how forces share what they hold: no derivatives, but NaN.
    known = sqrt(select(less_equal(best[-1], best[-2]), 1.0, -1.0))
    slopes_a, slopes_f = differentiated(M, tau, blocks, best[size : 2 * size], best[2 * size : 3 * size])
    return Minimum(
        [slopes_of(x, y * known) for x, y in zip(a, slopes_a, strict=True)],
        [[slopes_of(x, y * known) for x, y in zip(*rows, strict=True)] for rows in zip(f, slopes_f, strict=True)],
        slopes_of(best[-2], 0.0),
        slopes_of(count, 0.0),
    )


def _alternated(
    M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], found: Minimum, h: Scalar, tolerance: float, wanted: Scalar
) -> Minimum:
    """A solution improved by the alternating direction method of multipliers, where that is wanted."""
    n = len(tau)

    def step(state: Sequence[Scalar]) -> list[Scalar]:
        begun = Minimum(list(state[:n]), split(blocks, state[n:-2]), state[-2], state[-1])
        end = admm(M, tau, blocks, begun, h, _ALTERNATIONS, select(wanted, tolerance, _FAR))
        return [*end.acceleration, *flat(end.forces), end.error, end.iterations]

    start = [*found.acceleration, *flat(found.forces), found.error, found.iterations]
    end = unless(1.0 - wanted, start, step)
    return Minimum(list(end[:n]), split(blocks, end[n:-2]), end[-2], end[-1])


def _flatter(cost: RowCost) -> RowCost:
    """The same with a cone that is not steeper than convex problems can be solved with."""
    if not isinstance(cost, RigidContact) or isinstance(cost.cost, OneSided):
        return cost
    part = minimum(1.0, _STEEPEST / cost.cost.friction[0])
    friction = [mu * part for mu in cost.cost.friction]
    return replace(cost, cost=replace(cost.cost, friction=friction, slope=cost.cost.slope * part))


def _first_shifts(blocks: Sequence[Block]) -> list[Scalar]:
    """The shift of each block at no acceleration."""
    return [shift(block.cost, [-r for r in block.reference], [0.0] * len(block.J)) for block in blocks]


def _shifted(blocks: Sequence[Block], f: Numbers, s: Sequence[Scalar]) -> list[Block]:
    """The rows of a round: those with the shift s do not lift where they slide, and forces begin at f."""
    shifted = []
    for block, f_b, s_b in zip(blocks, f, s, strict=True):
        R = [inverse(d) if isinstance(block.cost, RigidContact) else 0.0 for d in weights(block.cost)]
        reference = [r + R_k * f_k for r, R_k, f_k in zip(block.reference, R, f_b, strict=True)]
        reference[0] = reference[0] - s_b
        shifted.append(block._replace(reference=reference))
    return shifted
