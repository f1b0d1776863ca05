"""Loops that end early, and steps that may be left out, on numbers of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.expr.functions import maximum, select
from kinetree.expr.symbol import Scalar, Symbol

__all__ = ["otherwise", "repeat", "unless"]


def repeat(
    count: int, state: Sequence[Scalar], step: Callable[[Sequence[Scalar]], tuple[Sequence[Scalar], Scalar]]
) -> Sequence[Scalar]:
    """Replace a state by the next one at most `count` times: `step(state)` gives it, and whether it is the last.

    On floats this is a Python loop, and on arrays of samples, each of which ends for itself; in a trace it is a loop of
    the program, whose body is traced once. Whether it ends is 0.0 or 1.0, as of a comparison.

    >>> repeat(50, [1.0], lambda x: ([0.5 * (x[0] + 2.0 / x[0])], float(abs(x[0] * x[0] - 2.0) < 1e-15)))
    [1.414213562373095]
    """
    start = next((x for x in state if isinstance(x, Symbol)), None)
    if start is not None:
        return _recorded(start, count, state, step)
    ended: Any = 0.0
    for k in range(count):
        following, ends = step(state)
        if isinstance(ends, Symbol):  # the state is constant so far, but the step is not
            return _recorded(ends, count - k, state, step)
        state = [select(ended, old, new) for old, new in zip(state, following, strict=True)] if k else following
        ended = maximum(ended, ends)
        if np.all(ended):
            break
    return state


def unless(
    idle: Scalar, state: Sequence[Scalar], step: Callable[[Sequence[Scalar]], Sequence[Scalar]]
) -> Sequence[Scalar]:
    """`step(state)`, which must be the state itself where `idle` is not zero, so that the step may be left out there.

    On floats it is left out; a compiled program leaves it out where all samples that it computes together are idle.

    >>> unless(1.0, [3.0], lambda x: [x[0] + 0.0 * x[0]])
    [3.0]
    """
    if not isinstance(idle, Symbol):
        return state if np.all(idle) else step(state)
    recorder: Any = idle.graph.recorder
    if recorder is None:
        return step(state)
    result: Sequence[Scalar] = recorder.unless(idle, state, step)
    return result


def otherwise(idle: Scalar, values: Sequence[float], make: Callable[[], Sequence[Scalar]]) -> Sequence[Scalar]:
    """`make()`, but `values` where `idle` is not zero, so that it may be left out there, as by `unless`.

    >>> otherwise(1.0, [0.0], lambda: [1.0 / 0.0])
    [0.0]
    """

    def chosen() -> list[Scalar]:
        return [select(idle, a, b) for a, b in zip(values, make(), strict=True)]

    if not isinstance(idle, Symbol):
        return values if np.all(idle) else chosen()
    recorder: Any = idle.graph.recorder
    return chosen() if recorder is None else recorder.otherwise(idle, values, chosen)


def _recorded(
    symbol: Symbol,
    count: int,
    state: Sequence[Scalar],
    step: Callable[[Sequence[Scalar]], tuple[Sequence[Scalar], Scalar]],
) -> Sequence[Scalar]:
    """The loop in the program that a symbol belongs to."""
    recorder: Any = symbol.graph.recorder
    if recorder is None:
        raise TypeError("a loop that ends early needs a trace with memory: trace it with a Recorder")
    result: Sequence[Scalar] = recorder.repeat(count, state, step)
    return result
