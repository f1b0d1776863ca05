"""How long the next step of an embedded pair is, from the error of the last ones.

    h⁺ = 0.9 h e_n^(-5/32) e_(n-1)^(1/16)

where e is the estimated error in parts of what is allowed: a proportional and an integral part, for errors of order
five, so that steps do not swing about the longest ones that are stable. All powers are square roots of square roots,
which are rounded exactly: so steps have the same bits in a batch of any size and on any processor.

Source: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4; II, section IV.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.sim.tolerances import Tolerances

__all__ = ["after_acceptance", "after_rejection", "errors_in_parts", "first_length", "shortest"]

Array = NDArray[np.float64]
_SAFETY = 0.9
_SMALLEST_ERROR = 1e-4
_LEAST, _MOST = 0.2, 10.0
_LEAST_AFTER_REJECTION = 0.1
_ROUNDING = 2.0**-48


def errors_in_parts(error: Array, before: Array, after: Array, tolerances: Tolerances) -> Array:
    """Errors (m, 2 nv) of displacements and velocities in parts of what is allowed.

    `before` and `after` (m, nv) are the velocities.
    """
    rtol, atol = tolerances.rtol, tolerances.atol
    allowed = atol + rtol * np.maximum(np.abs(before), np.abs(after))
    parts: Array = np.abs(error) / np.concatenate((np.full_like(allowed, atol + rtol), allowed), axis=-1)
    return parts


def first_length(w: Array, rates: Array, tolerances: Tolerances) -> Array:
    """A length for the first step (m,): one in which a hundredth of the state changes, in parts of what is allowed."""
    rtol, atol = tolerances.rtol, tolerances.atol
    allowed = np.concatenate((np.full_like(w, atol + rtol), atol + rtol * np.abs(w)), axis=-1)
    state = np.concatenate((np.ones_like(w), np.abs(w)), axis=-1)
    sizes, changes = (np.max(np.abs(x) / allowed, axis=-1, initial=least) for x, least in ((state, 1.0), (rates, 0.0)))
    length: Array = 0.01 * sizes / np.maximum(changes, 1e-300)
    return length


def after_acceptance(error: Array, last: Array) -> tuple[Array, Array]:
    """The factor from an accepted step to the next one, and the error to be remembered."""
    e = np.maximum(error, 1e-12)
    factor = _SAFETY * _root(last, 4) / (_root(e, 3) * _root(e, 5))
    return np.minimum(np.maximum(factor, _LEAST), _MOST), np.maximum(error, _SMALLEST_ERROR)


def after_rejection(error: Array) -> Array:
    """The factor from a rejected step to the next try; its error is more than 1, or NaN."""
    factor = _SAFETY / (_root(error, 3) * _root(error, 4))
    return np.where(factor > _LEAST_AFTER_REJECTION, factor, _LEAST_AFTER_REJECTION)


def shortest(time: Array, dt: float) -> Array:
    """The length below which steps no longer move the time on."""
    return _ROUNDING * np.maximum(time, dt)


def _root(x: Array, times: int) -> Array:
    """The square root, so many times."""
    for _ in range(times):
        x = np.sqrt(x)
    return x
