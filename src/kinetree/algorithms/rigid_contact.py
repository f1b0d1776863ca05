"""Rigid contacts with Coulomb's friction, as a fixed point of convex problems.

With De Saxcé's shift s = Φ(y) as a number, the conditions of such contacts (natural_map.py) are those of the convex
problem (convex_dynamics.py) with the reference a_ref - s. So s is found as a fixed point: solve, take Φ(y), solve
again.

The first s is that of the state, Φ at no acceleration. A step that ends there takes friction's lift from the motion at
its beginning. From the second round on, rows also begin at the forces found so far,

    f = Π_K(f_before - D (y + s)),

the method of multipliers: what the regularisation R = 1 / D gives way vanishes, so that the fixed point is a rigid
contact. Where it does not converge, another method goes on (admm.py). Derivatives are those of the conditions at the
solution, and not of the rounds (rigid_derivatives.py).

Sources: Acary, Cadoux, Lemaréchal and Malick, "A formulation of the linear discrete Coulomb friction problem via convex
optimization", ZAMM 91 (2011); Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm",
Mathematics of Operations Research 1 (1976).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.admm import admm
from kinetree.algorithms.convex_dynamics import Block, Effort, Minimum, minimum_acceleration
from kinetree.algorithms.natural_map import Numbers, RigidContact, away, inverse, residual, shift, split, weights
from kinetree.algorithms.rigid_derivatives import differentiable
from kinetree.expr import Scalar, less_equal, repeat, slopes_of

__all__ = ["has_rigid_contacts", "in_one_round", "rigid_acceleration"]

_ALTERNATIONS = 500
"""The most iterations of the other method."""


def has_rigid_contacts(blocks: Sequence[Block]) -> bool:
    """Whether any contact has it."""
    return any(isinstance(block.cost, RigidContact) for block in blocks)


def in_one_round(blocks: Sequence[Block]) -> list[Block]:
    """The rows of the first round: what slides at the beginning of the step does not lift."""
    nothing = [[0.0] * len(block.J) for block in blocks]
    return _shifted(blocks, nothing, [[-r for r in block.reference] for block in blocks])


def rigid_acceleration(
    M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], guess: Sequence[Scalar] | None, effort: Effort
) -> Minimum:
    """The acceleration with Coulomb's friction; its error is the largest residual of all rows, m/s or rad/s.

    The arguments are those of `minimum_acceleration`. Iterations are those of all rounds together.
    """
    cones = [block.cost for block in blocks if isinstance(block.cost, RigidContact)]
    rounds, tolerance, h = max(cone.rounds for cone in cones), min(cone.tolerance for cone in cones), cones[0].step
    if rounds == 1:
        found = minimum_acceleration(M, tau, in_one_round(blocks), guess, effort)
        error = h * residual(blocks, found.forces, away(blocks, found.acceleration, found.forces))
        return found._replace(error=slopes_of(error, 0.0))
    n, m = len(tau), sum(len(block.J) for block in blocks)

    def turn(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        a, f, y = state[:n], split(blocks, state[n : n + m]), split(blocks, state[n + m : n + 2 * m])
        found = minimum_acceleration(M, tau, _shifted(blocks, f, y), a, effort)
        y = away(blocks, found.acceleration, found.forces)
        error = h * residual(blocks, found.forces, y)
        numbers = [x for part in (found.forces, y) for rows in part for x in rows]
        return [*found.acceleration, *numbers, state[-2] + found.iterations, error], less_equal(error, tolerance)

    nothing = [[0.0] * len(block.J) for block in blocks]
    at_rest = [[-r for r in block.reference] for block in blocks]
    start = [0.0] * n if guess is None else guess
    numbers = [x for part in (nothing, at_rest) for rows in part for x in rows]
    end = repeat(rounds, [*start, *numbers, 0.0, 0.0], turn)
    found = Minimum(list(end[:n]), split(blocks, end[n : n + m]), end[-1], end[-2])
    return differentiable(M, tau, blocks, admm(M, tau, blocks, found, h, _ALTERNATIONS, tolerance))


def _shifted(blocks: Sequence[Block], f: Numbers, y: Numbers) -> list[Block]:
    """The rows of a round: what slides at y does not lift, and forces begin at f."""
    found = []
    for block, f_b, y_b in zip(blocks, f, y, strict=True):
        R = [inverse(d) if isinstance(block.cost, RigidContact) else 0.0 for d in weights(block.cost)]
        reference = [r + R_k * f_k for r, R_k, f_k in zip(block.reference, R, f_b, strict=True)]
        reference[0] = reference[0] - shift(block.cost, y_b)
        found.append(block._replace(reference=reference))
    return found
