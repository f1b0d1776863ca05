"""Tasks of lower priority: they use the freedom that those before leave.

A step meets the linearised tasks of the first priority, then those of the next as well as the directions allow that
leave the first as they are, and so on. Steps are accepted by a cost in which each priority far outweighs the next.

Sources: Nakamura, Hanafusa and Yoshikawa, "Task-priority based redundancy control of robot manipulators", International
Journal of Robotics Research 6 (1987); Siciliano and Slotine, "A general framework for managing multiple tasks in highly
redundant robotic systems", ICAR 1991; Nocedal and Wright, *Numerical Optimization* (2006), section 15.4 (merit).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.numbers import damped, solve, unless_idle
from kinetree.control.kinematics.rows import Errors
from kinetree.control.kinematics.search import Bounds, pushed, room
from kinetree.functions.kinematics import integrate
from kinetree.programs.loops import fori

__all__ = ["hierarchical_step", "refined", "solved_by_priority"]

_BEFORE, _SHARPER, _STRICT = 1e2, 1e3, 1e8
"""How much more a cost counts than that of the next priority: at first, which lets large steps pass; more by this
factor whenever no more is gained; in the end."""
_FIRST, _LARGER, _SMALLER, _LEAST = 1e-2, 4.0, 0.25, 1e-8
"""The factor of the cost that is the damping: at the start, after steps that were not accepted and that were."""
_SHORTER = 0.25
_NONE = 1e-300
_SHARED = 1e-9
"""Damping of demands that contradict tasks before."""
_SETTLED, _PATIENCE = 1.0 - 1e-7, 5
_MOST = 500
"""Evaluations at most."""


class _State(NamedTuple):
    base: Any
    step: Any
    costs: Any
    """The cost of each priority at the base."""
    before: Any
    factor: Any
    slow: Any
    is_over: Any


def refined(at: Coordinates, errors: Callable[[Any], Sequence[Errors]], q0: Any, bounds: Bounds) -> Any:
    """From a configuration with the first tasks met, one in which those of lower priorities are met as well as can be.

    `errors` gives e and a function for A of each priority, as in `search`.
    """

    def step(_: Any, s: _State) -> _State:
        q = at.clipped(integrate(at.robot, s.base, s.step), *bounds)
        levels = errors(q)
        costs = np.stack([0.5 * (e @ e) for e, _ in levels])
        cost, least = _merit(costs, s.before), _merit(s.costs, s.before)
        is_better = cost < least
        slow = np.where(cost < _SETTLED * least, 0.0, s.slow + 1.0)
        is_settled = slow >= _PATIENCE
        factor = np.maximum(s.factor * np.where(is_better, _SMALLER, _LARGER), _LEAST)

        def following() -> Any:
            systems = [(e, slopes()) for e, slopes in levels]
            return hierarchical_step(at, q, systems, factor * costs, s.before, bounds)

        refined_step = unless_idle(~is_better, following, at.robot.nv)
        return _State(
            base=np.where(is_better, q, s.base),
            step=np.where(is_better, refined_step, np.where(is_settled, 0.0, _SHORTER * s.step)),
            costs=np.where(is_better, costs, np.where(is_settled, np.inf, s.costs)),
            before=np.where(is_settled, s.before * _SHARPER, s.before),
            factor=factor,
            slow=np.where(is_settled, 0.0, slow),
            is_over=is_settled & (s.before >= _STRICT),
        )

    number = len(errors(q0))
    first = _State(q0, np.zeros(at.robot.nv), np.full(number, np.inf), _BEFORE, _FIRST, 0.0, False)
    return fori(_MOST, step, first, until=lambda s: s.is_over).base


def _merit(costs: Any, before: Any) -> Any:
    """The sum of costs in which each counts `before` times as much as the next."""
    total = costs[0]
    for c in costs[1:]:
        total = before * total + c
    return total


def hierarchical_step(
    at: Coordinates, q: Any, levels: Sequence[tuple[Any, Any]], damping: Any, before: Any, bounds: Bounds
) -> Any:
    """The displacement within limits that meets A d = e of each level as the levels before allow.

    Limits count as in a step of `search`.
    """
    low, high = room(at, q, bounds)
    to_limit, at_limit = pushed(_merit([A.T @ e for e, A in levels], before), low, high)
    d = solved_by_priority(levels, damping, to_limit, at_limit)
    cut = np.clip(d, low, high)
    to_limit, at_limit = np.where(d != cut, cut, to_limit), np.where(d != cut, 1.0, at_limit)
    return np.clip(solved_by_priority(levels, damping, to_limit, at_limit), low, high)


def solved_by_priority(levels: Sequence[tuple[Any, Any]], damping: Any, d: Any, at_limit: Any) -> Any:
    """The displacement in which the coordinates that are held have those of d."""
    displacements: list[Any] = []
    """For each level before, its rows among the directions that were left, and these times their inverse."""

    def left(x: Any) -> Any:
        """The part of displacements (nv,) or (nv, k) that the levels before, and the limits, leave."""
        x = (1.0 - at_limit if x.ndim == 1 else (1.0 - at_limit)[:, None]) * x
        for rows, weighted in displacements:
            x = x - weighted.T @ (rows @ x)
        return x

    for k, ((e, A), amount) in enumerate(zip(levels, damping, strict=True)):
        is_last, r = k == len(levels) - 1, e - A @ d
        if is_last and len(e) >= len(d):
            return d + _along(left(A.T @ r), A)
        rows = left(A.T).T
        K = rows @ rows.T
        step = rows.T @ solve(damped(K, amount + (_SHARED if k else 0.0)), r)
        d = d + (left(step) if k else step)  # projected again, since the directions have rounding errors
        if not is_last:
            displacements.append((rows, solve(damped(K, 0.0), rows)))
    return d


def _along(p: Any, A: Any) -> Any:
    """The step along p = Aᵀ r after which |r − A d| is smallest: the whole way, if A is a rotation.

    A posture uses it in place of a system with as many unknowns as velocities.
    """
    change = A @ p
    return p * ((p @ p) / (change @ change + _NONE))
