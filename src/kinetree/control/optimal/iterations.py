"""The iterations of iLQR, for a few problems side by side: a step, a trial of it, and how much of it is taken.

Sources: Mastalli et al., "Crocoddyl: An Efficient and Versatile Framework for Multi-Contact Optimal Control", ICRA
(2020), for steps that close gaps; Nocedal and Wright, *Numerical Optimization* (2006), sections 3.1 and 18.3, for the
condition of sufficient decrease and the penalty of gaps; Tassa et al. (2012) for the schedule of the regularisation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.control.optimal.backward import LARGEST, LEAST
from kinetree.control.optimal.shooting import Array, Motions, Promise, Shooting, Step

__all__ = ["REASONS", "Outcome", "solve"]

REASONS = ("converged", "iterations", "line_search", "regularization", "not_finite", "dependent")
_CONVERGED, _ITERATIONS, _LINE_SEARCH, _REGULARIZATION, _NOT_FINITE, _DEPENDENT = range(len(REASONS))
_SHORTER = 0.5 ** np.arange(1, 11)
_SUFFICIENT = 1e-4
_SPARED = 0.5  # the part of the penalty of gaps that a step must gain
_SMALL = 1e3 * LEAST  # a regularisation that does not make steps shorter
_ROUNDING = 1e-14  # of a cost, relative


class Outcome(NamedTuple):
    """The end of each problem, along the first axis."""

    at: Motions
    K: Array
    cost: Array
    costs: Array
    gap: Array
    iterations: NDArray[np.int64]
    reason: NDArray[np.int64]


def solve(
    shooting: Shooting, at: Motions, given: Array, is_open: bool, most: int, tolerance: float, is_exact: bool
) -> Outcome:
    """Iterate until every problem has an end; `is_open`: whether the motions may have gaps between knots."""
    b, T, m = at.u.shape
    outcome = Outcome(
        Motions(*(np.array(x) for x in at)), np.zeros((b, T, m, 2 * at.v.shape[-1])), np.full(b, np.nan),
        np.full((b, most + 1), np.nan), np.zeros(b), np.zeros(b, np.int64), np.full(b, _ITERATIONS),
    )  # fmt: skip
    left = np.arange(b)
    setting = np.tile([LEAST, 1.0 if is_open else 0.0, 1.0], (b, 1))
    penalty, work = np.zeros(b), shooting.workspace()
    for iteration in range(most + 1):
        step, promise = shooting.direction(at, given, setting, work, tolerance, is_exact)
        outcome.costs[left, iteration] = promise.cost
        reason = _ended(promise, setting, tolerance)
        if iteration == most:
            reason = np.where(reason < 0, _ITERATIONS, reason)
        alpha = np.zeros(len(left))
        goes_on = reason < 0
        if goes_on.any():
            at, penalty = _advanced(shooting, at, given, step, promise, setting, penalty, goes_on, alpha)
            reason[goes_on & (setting[:, 0] >= LARGEST)] = _LINE_SEARCH
        is_over = reason >= 0
        if is_over.any():
            over = left[is_over]
            for x, y in zip(outcome.at, at, strict=True):
                x[over] = y[is_over]
            outcome.K[over], outcome.cost[over], outcome.gap[over] = (
                step.K[is_over],
                promise.cost[is_over],
                promise.gaps[is_over],
            )
            outcome.reason[over], outcome.iterations[over] = reason[is_over], iteration
            stays = ~is_over
            left, setting, penalty, at = left[stays], setting[stays], penalty[stays], at.of(stays)
            given = given[stays]
            if not len(left):
                break
    outcome.reason[~shooting.are_independent(outcome.at.q)] = _DEPENDENT
    return outcome


def _ended(promise: Promise, setting: Array, tolerance: float) -> NDArray[np.int64]:
    """Why each problem ends here, or −1."""
    reason = np.full(len(setting), -1)
    reason[promise.is_small(tolerance) & (setting[:, 0] <= _SMALL) & (setting[:, 1] == 0.0)] = _CONVERGED
    reason[~promise.is_found] = _REGULARIZATION
    reason[~np.isfinite(promise.cost)] = _NOT_FINITE
    return reason


def _advanced(
    shooting: Shooting, at: Motions, given: Array, step: Step, promise: Promise, setting: Array, penalty: Array,
    goes_on: NDArray[np.bool_], alpha: Array,
) -> tuple[Motions, Array]:  # fmt: skip
    """The motions after the largest part of the step that is good enough, and the penalties; the rest is in place."""
    has_gaps = promise.gaps > 0.0
    most = np.maximum(promise.slope, promise.change)  # with the curvature, where it is positive
    needed = most / ((1.0 - _SPARED) * np.where(has_gaps, promise.gaps, 1.0))
    penalty = np.where(has_gaps, np.maximum(penalty, needed), penalty)
    before = promise.cost + penalty * promise.gaps
    slope = promise.slope - penalty * promise.gaps

    def is_good(cost: Array, part: Array, which: NDArray[np.intp]) -> NDArray[np.bool_]:
        shape = (len(which), *(1,) * (cost.ndim - 1))
        start, fall, gaps, price = (x[which].reshape(shape) for x in (before, slope, promise.gaps, penalty))
        most = start + _SUFFICIENT * part * fall + _ROUNDING * np.abs(start)
        good: NDArray[np.bool_] = (cost + price * (1.0 - part) * gaps <= most) & (fall < 0.0)
        return good

    which = np.flatnonzero(goes_on)
    tried, cost = _tried(shooting, at, given, step, np.ones(len(which)), which)
    good = is_good(cost, np.ones(len(which)), which)
    accepted = which[good]
    if len(accepted) == len(alpha):
        at = tried
    else:
        at = Motions(*(x.copy() for x in at))
        _put(at, accepted, tried.of(good))
    alpha[accepted] = 1.0
    short = which[~good]
    if len(short):
        parts = np.broadcast_to(_SHORTER, (len(short), len(_SHORTER)))
        tried, cost = _tried(shooting, at, given, step, parts, short)
        fine = is_good(cost, parts, short)
        first, any_fine = fine.argmax(axis=1), fine.any(axis=1)
        _put(at, short[any_fine], tried.of((np.flatnonzero(any_fine), first[any_fine])))
        alpha[short[any_fine]] = _SHORTER[first[any_fine]]
    _schedule(setting, alpha, goes_on)
    return at, penalty


def _tried(
    shooting: Shooting, at: Motions, given: Array, step: Step, parts: Array, which: NDArray[np.intp]
) -> tuple[Motions, Array]:
    if len(which) < len(at.q):
        at, given = at.of(which), given[which]
        step = Step(*(x[which] for x in step))
    return shooting.tried(at, step, parts, given)


def _put(at: Motions, which: NDArray[np.intp], new: Motions) -> None:
    for x, y in zip(at, new, strict=True):
        x[which] = y


def _schedule(setting: Array, alpha: Array, goes_on: NDArray[np.bool_]) -> None:
    """Less regularisation after a long step, more after a short one or none; a whole step has closed the gaps."""
    setting[:, 0] = np.where(alpha >= 0.5, np.maximum(0.1 * setting[:, 0], LEAST), setting[:, 0])
    more = goes_on & (alpha < 0.01)
    setting[more, 0] = np.minimum(10.0 * np.maximum(setting[more, 0], 1e-2 * _SMALL), LARGEST)
    setting[alpha == 1.0, 1] = 0.0
