"""How a solution changes with targets, limits and weights: as one more step from it would.

The search itself is not differentiated. At a solution the errors stay zero, so a displacement d follows a change of the
errors δe by A d = δe; of all such d it is the shortest, in which coordinates at a limit move as the limit does.

Sources: Nocedal and Wright, *Numerical Optimization* (2006), appendix A.2 (implicit function theorem); Bolte, Pauwels
and Vaiter, "One-step differentiation of iterative algorithms", NeurIPS 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.numbers import constant, with_slopes_of
from kinetree.control.kinematics.priorities import solved_by_priority
from kinetree.control.kinematics.search import Bounds, room, solved_for
from kinetree.functions.kinematics import integrate

__all__ = ["with_slopes"]

_DAMPING = 1e-8
"""Damping relative to the trace of A Aᵀ, for matrices without full rank, in addition to the cost of unmet tasks. A
second step takes its error away."""


def with_slopes(at: Coordinates, q: Any, levels: Sequence[tuple[Any, Any]], bounds: Bounds) -> Any:
    """The configuration q with the derivatives of one more step.

    `levels` has, for each priority, weighted errors at a constant q, and their derivatives A, which are constant.
    """
    fixed = constant(q)
    low, high = room(at, fixed, bounds)
    is_low, is_high = low >= 0.0, high <= 0.0
    d = np.where(is_low, low, np.where(is_high, high, 0.0))
    at_limit = np.where(is_low | is_high, 1.0, 0.0)
    damping = [_DAMPING * np.sum(A * A) + 0.5 * np.sum(constant(e) ** 2) for e, A in levels]
    for _ in range(2):
        if len(levels) == 1:
            ((e, A),) = levels
            d = d + solved_for(e - A @ d, A * (1.0 - at_limit), damping[0])
        else:
            d = solved_by_priority(levels, damping, d, at_limit)
    return with_slopes_of(q, integrate(at.robot, fixed, with_slopes_of(np.zeros(at.robot.nv), d)))
