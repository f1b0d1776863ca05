"""One step of each of some motions, tried until its error is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms import dormand_prince_step
from kinetree.sim.error_control import after_rejection, errors_in_parts, first_length, shortest
from kinetree.sim.pair_steps import PairSteps
from kinetree.sim.tolerances import Tolerances

__all__ = ["Attempted", "Beginning", "attempted"]

Array = NDArray[np.float64]
Samples = NDArray[np.intp]
Rates = Callable[[Array, Array, Samples], Array]
"""(y, times, which of the motions) -> ẏ."""


class Beginning(NamedTuple):
    """Where the steps of m motions begin."""

    time: Array
    q: Array
    y: Array
    """[d, w, work, loss, 0]."""
    rates: Array
    """ẏ; NaN where it is not known yet."""
    length: Array
    """How long a step is tried first; NaN for the first one of a motion."""
    limit: Array
    """The time at which a step must end."""


class Attempted(NamedTuple):
    """What became of m steps."""

    steps: PairSteps
    y: Array
    """At the end."""
    error: Array
    """In parts of what is allowed; more than 1, or NaN, if no step is short enough."""
    chosen: Array
    """The length before the limit shortened it."""
    rejections: NDArray[np.int64]
    worst: Samples
    """The degree of freedom with the largest error."""

    def of(self, some: NDArray[np.bool_]) -> Attempted:
        """The steps of some motions."""
        return Attempted(
            self.steps.of(some), self.y[some], self.error[some], self.chosen[some], self.rejections[some],
            self.worst[some],
        )  # fmt: skip


def attempted(begin: Beginning, rates: Rates, tolerances: Tolerances, longest: float, dt: float) -> Attempted:
    """The first step of each motion whose error is allowed."""
    m, nv = len(begin.time), begin.y.shape[-1] // 2 - 1
    w, first = begin.y[:, nv : 2 * nv], begin.rates.copy()
    unknown = np.flatnonzero(np.isnan(first).any(axis=-1))
    if unknown.size:
        first[unknown] = rates(begin.y[unknown], begin.time[unknown], unknown)
    guess = np.maximum(first_length(w, first[:, : 2 * nv], tolerances), shortest(begin.time, dt))
    chosen = np.minimum(np.where(np.isnan(begin.length), guess, begin.length), longest)
    h = np.minimum(chosen, begin.limit - begin.time)
    found = Attempted(
        PairSteps.none(m, begin.q.shape[-1], nv), begin.y.copy(), np.empty(m), chosen, np.zeros(m, np.int64),
        np.zeros(m, np.intp),
    )  # fmt: skip
    left = np.arange(m)
    while left.size:
        time, length = begin.time[left], h[left]

        def rate(c: float, y: Sequence[Any], *, of: Samples = left, t: Array = time, h: Array = length) -> list[Any]:
            return [rates(y[0], t + c * h, of)]

        step = dormand_prince_step(rate, [begin.y[left]], length[:, None], [first[left]])
        after = step.y[0]
        errors = errors_in_parts(step.error[0][:, : 2 * nv], w[left], after[:, nv : 2 * nv], tolerances)
        error = np.max(errors, axis=-1, initial=0.0)
        good = error <= 1.0
        shorter = np.where(good, length, length * after_rejection(error))
        stuck = ~good & ~(shorter >= shortest(time, dt))
        over = good | stuck
        ends = np.where(length == begin.limit[left] - time, begin.limit[left], time + length)
        stages = np.stack([k for (k,) in step.rates], axis=1)
        taken = PairSteps(time, ends, length, begin.q[left], begin.y[left], stages)
        done = left[over]
        found.steps.put(done, taken.of(over))
        found.y[done], found.error[done] = after[over], error[over]
        found.worst[done] = np.argmax(errors[over], axis=-1) % nv if nv else 0
        found.rejections[left[~good]] += 1
        h[left] = shorter
        left = left[~over]
    return found
