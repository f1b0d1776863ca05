"""Newton's method with backtracking, for convex functions that are infinite outside of an open set.

Source: Boyd and Vandenberghe, *Convex Optimization* (2004), algorithm 9.5.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError

__all__ = ["minimize"]

Array = NDArray[np.float64]
Terms = Callable[[Array], tuple[float, Array, Array]]
"""Value, M (m, n) and r (m,): the gradient is Mᵀ r and the Hessian Mᵀ M; the value is infinite outside.

In this form a step is a least squares problem, which loses half as many digits as one with the Hessian.
"""

_STEPS = 200
_DESCENT = 0.1
"""The part of the promised descent that a step must reach."""
_SHORTEST = 1e-12


def minimize(terms: Terms, start: Array, accuracy: float = 1e-10) -> Array:
    """The minimum, from a start inside, to within `accuracy` of its value.

    Raises:
        LogError: no more progress is possible, which only numbers of very different sizes bring about.
    """
    x = start
    value, M, r = terms(x)
    for _ in range(_STEPS):
        Q, R = np.linalg.qr(M)
        along = Q.T @ r
        step = -np.linalg.solve(R, along)
        decrement = float(along @ along)
        if decrement <= 2.0 * accuracy * max(1.0, abs(value)):
            return x
        length = 1.0
        while True:
            ahead, next_M, next_r = terms(x + length * step)
            if ahead <= value - _DESCENT * length * decrement:
                break
            length *= 0.5
            if length < _SHORTEST:
                if decrement <= 1e-6 * max(1.0, abs(value)):
                    return x  # rounding hides the rest of the descent
                raise LogError(
                    "the search for possible inertias stopped early: the parameters or their noise are of very "
                    "different sizes; check the units of the log"
                )
        x, value, M, r = x + length * step, ahead, next_M, next_r
    return x
