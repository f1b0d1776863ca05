"""The search for a configuration in which the errors are zero, from several starts: Levenberg–Marquardt within limits.

Sources: Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg–Marquardt method", IEEE Transactions on
Robotics 27 (2011): damping in proportion to the cost; Fan, "A modified Levenberg–Marquardt algorithm for singular
system of nonlinear equations", Journal of Computational Mathematics 21 (2003): the factor of it, by how well the linear
model predicted the cost; Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM
Journal on Control and Optimization 20 (1982): limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.numbers import damped, solve, unless_idle
from kinetree.control.kinematics.rows import Errors
from kinetree.functions.kinematics import integrate
from kinetree.programs.loops import fori

__all__ = ["Bounds", "Search", "pushed", "room", "search"]

_MOST = 1_000_000
"""Evaluations that no search reaches: the argument `evaluations` ends it before."""
_FIRST, _LEAST, _LEAST_AT_LAST = 0.3, 0.1, 1e-7
"""The factor of the cost that is the damping: at a start, the least while searching, the least when only the nearest
configuration is left to be found."""
_POOR, _GOOD, _CHANGE = 0.25, 0.75, 4.0
"""Parts of the predicted decrease below which the factor grows, and above which it shrinks, by how much."""
_SHORTER = 0.25
"""Factor of a step that did not decrease the cost."""
_SLOW, _PATIENCE = 0.9, 4
"""A start is given up after so many evaluations in a row without a decrease of the cost to this part of it."""
_NEAR = 1e-3
"""A distance (rad, m) from a limit that counts as being there."""
_SETTLED, _PATIENCE_AT_LAST = 1.0 - 1e-7, 8


class Bounds(NamedTuple):
    """Limits of coordinates, (nq,) each."""

    lower: Any
    upper: Any


class Search(NamedTuple):
    """How a search goes on: arguments of a program, one number each, and the shift of the starts."""

    tolerance: Any
    starts: Any
    evaluations: Any
    shift: Any


class _State(NamedTuple):
    base: Any
    """The best configuration of this start."""
    step: Any
    """The displacement that is tried from there."""
    best: Any
    """The best configuration of all starts."""
    best_cost: Any
    cost: Any
    predicted: Any
    """The decrease of the cost that the linear model promises for the step."""
    factor: Any
    slow: Any
    start: Any
    count: Any
    is_reached: Any
    is_over: Any


def search(
    at: Coordinates, errors: Callable[[Any], Errors], is_met: Callable[[Any], Any], q0: Any, bounds: Bounds,
    setting: Search,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """The configuration found, whether the errors are met there, from how many starts, in how many evaluations.

    `errors` gives those of a configuration, and a function for their decrease A (m, nv) per displacement; `is_met` says
    whether they are small enough.
    """
    far = np.inf

    def step(_: Any, s: _State) -> _State:
        q = at.clipped(integrate(at.robot, s.base, s.step), *bounds)
        e, slopes = errors(q)
        cost = 0.5 * (e @ e)
        is_better, is_last = cost < s.cost, s.start >= setting.starts
        factor = _next_factor(s, cost, np.where(is_last, _LEAST_AT_LAST, _LEAST))
        is_slow = ~(cost < np.where(is_last, _SETTLED, _SLOW) * s.cost)
        slow = np.where(is_slow, s.slow + 1.0, 0.0)
        is_stuck = slow >= np.where(is_last, _PATIENCE_AT_LAST, _PATIENCE)
        is_reached = is_better & is_met(e)
        is_best = is_reached | (cost < s.best_cost)
        best = np.where(is_best, q, s.best)

        def following() -> Any:
            A = slopes()
            d = damped_step(at, q, e, A, factor * cost, bounds)
            moved = A @ d
            return np.concatenate([d, np.stack([(A.T @ e) @ d - 0.5 * (moved @ moved)])])

        is_idle = ~is_better | is_reached | is_stuck
        *taken, gain = unless_idle(is_idle, following, at.robot.nv + 1)
        taken = np.stack(taken)
        restart = at.clipped(at.start(s.start + 1.0, q0, *bounds, setting.shift), *bounds)
        restart = np.where(s.start + 1.0 < setting.starts, restart, best)
        return _State(
            base=np.where(is_stuck, restart, np.where(is_better, q, s.base)),
            step=np.where(is_stuck, 0.0, np.where(is_better, taken, _SHORTER * s.step)),
            best=best,
            best_cost=np.where(is_best, cost, s.best_cost),
            cost=np.where(is_stuck, far, np.where(is_better, cost, s.cost)),
            predicted=np.where(is_stuck, far, np.where(is_better, gain, _SHORTER * s.predicted)),
            factor=np.where(is_stuck, _FIRST, factor),
            slow=np.where(is_stuck, 0.0, slow),
            start=np.where(is_stuck & ~is_last, s.start + 1.0, s.start),
            count=s.count + 1.0,
            is_reached=is_reached,
            is_over=(is_stuck & is_last) | (s.count + 1.0 >= setting.evaluations),
        )

    begin = at.clipped(q0, *bounds)
    first = _State(begin, np.zeros(at.robot.nv), begin, far, far, far, _FIRST, 0.0, 0.0, 0.0, False, False)
    last = fori(_MOST, step, first, until=lambda s: s.is_reached | s.is_over)
    tried = np.minimum(last.start + 1.0, np.maximum(setting.starts, 1.0))  # the best one, improved, does not count
    return last.best, last.is_reached, tried, last.count


def damped_step(at: Coordinates, q: Any, e: Any, A: Any, damping: Any, bounds: Bounds) -> Any:
    """The displacement d within limits that makes ½|e − A d|² + ½ damping |d|² small.

    Coordinates near a limit that the gradient pushes against go to it. The others are solved for, and once more without
    those that would pass a limit, which go as far as that.
    """
    low, high = room(at, q, bounds)
    to_limit, at_limit = pushed(A.T @ e, low, high)
    d = to_limit + solved_for(e - A @ to_limit, A * (1.0 - at_limit), damping)
    cut = np.clip(d, low, high)
    is_cut = d != cut

    def again() -> Any:
        to, all_at_limit = np.where(is_cut, cut, to_limit), np.where(is_cut, 1.0, at_limit)
        return np.clip(to + solved_for(e - A @ to, A * (1.0 - all_at_limit), damping), low, high)

    is_within = ~np.any(is_cut)
    return np.where(is_within, cut, unless_idle(is_within, again, len(cut)))


def solved_for(e: Any, A: Any, damping: Any) -> Any:
    """The displacement d that minimises ½|e − A d|² + ½ damping |d|²."""
    m, n = A.shape
    if m <= n:
        return A.T @ solve(damped(A @ A.T, damping), e)
    return solve(damped(A.T @ A, damping), A.T @ e)


def room(at: Coordinates, q: Any, bounds: Bounds) -> tuple[Any, Any]:
    """How far each degree of freedom may move down and up, (nv,) each."""
    own, far = q[at.own], np.full(at.robot.nv, np.inf)
    return at.spread(bounds.lower[at.own] - own, -far), at.spread(bounds.upper[at.own] - own, far)


def pushed(downhill: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The ways to limits that are near and that the gradient pushes against, and ones for the coordinates at these."""
    to_low, to_high = (low >= -_NEAR) & (downhill < 0.0), (high <= _NEAR) & (downhill > 0.0)
    return np.where(to_low, low, np.where(to_high, high, 0.0)), np.where(to_low | to_high, 1.0, 0.0)


def _next_factor(s: _State, cost: Any, least: Any) -> Any:
    decrease = s.cost - cost
    smaller = np.maximum(s.factor / _CHANGE, least)
    factor = np.where(decrease > _GOOD * s.predicted, smaller, s.factor)
    return np.where(decrease < _POOR * s.predicted, s.factor * _CHANGE, factor)
