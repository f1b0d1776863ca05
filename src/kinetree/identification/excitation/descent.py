"""Quasi-Newton descent for smooth functions that are infinite outside of the allowed set.

Source: Nocedal and Wright, *Numerical Optimization* (2006), algorithm 6.1 with a backtracking search, where pairs that
would make the matrix indefinite are left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["descend"]

Array = NDArray[np.float64]

_DESCENT = 1e-4
_HALVINGS = 40


def descend(function: Callable[[Array], tuple[float, Array]], start: Array, steps: int, enough: float = 1e-5) -> Array:
    """A point lower than the start, after at most so many steps, or when ten of them gain less than `enough`."""
    x, n = start, len(start)
    value, gradient = function(x)
    inverse = np.eye(n) / max(float(np.linalg.norm(gradient)), 1e-12)
    history = [value]
    for k in range(steps):
        step = -inverse @ gradient
        slope = float(gradient @ step)
        if not slope < 0.0:
            inverse = np.eye(n) / max(float(np.linalg.norm(gradient)), 1e-12)
            step = -inverse @ gradient
            slope = float(gradient @ step)
        length = 1.0
        for _ in range(_HALVINGS):
            ahead, next_gradient = function(x + length * step)
            if ahead <= value + _DESCENT * length * slope:
                break
            length *= 0.5
        else:
            return x
        s, y = length * step, next_gradient - gradient
        x, value, gradient = x + s, ahead, next_gradient
        curvature = float(s @ y)
        if curvature > 1e-10 * float(np.linalg.norm(s) * np.linalg.norm(y)):
            if k == 0:
                inverse = np.eye(n) * curvature / float(y @ y)
            rest = np.eye(n) - np.outer(s, y) / curvature
            inverse = rest @ inverse @ rest.T + np.outer(s, s) / curvature
        history.append(value)
        if len(history) > 10 and history[-11] - value < enough:
            return x
    return x
