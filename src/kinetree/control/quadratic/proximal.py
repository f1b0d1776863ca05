"""Quadratic programs that are not strictly convex, by proximal steps that are.

Each step minimises the objective plus ½ ρ |x − x̂|² from the last x̂, and the steps end at a minimum if it exists (R.
T. Rockafellar, "Monotone operators and the proximal point algorithm", SIAM J. Control 14 (1976)).
"""

from __future__ import annotations

from kinetree.control.quadratic.active_set import FLAT, SOLVED, active_set
from kinetree.control.quadratic.workspace import Workspace

__all__ = ["NOT_CONVEX", "SLOW", "UNBOUNDED", "minimised"]

UNBOUNDED, NOT_CONVEX, SLOW = 4, 5, 7
"""In addition to those of `active_set`: SLOW is a minimum that was not reached in all proximal steps."""
_STEPS = 100
_PART, _SLOPE = 1e-6, 1e-3
"""ρ relative to the largest of the diagonal, or, where all is flat, to the slope: so small that few steps are needed,
and so large that rounding does not count."""
_REACHED = 1e-11
"""The last step, relative to x."""
_NOISE = 1e-8
"""The last step, relative to x, where steps become no shorter: rounding decides in directions that are nearly flat."""
_AS_LONG = 0.99
"""Where the last step is as long as the one before, up to this factor, x goes away along a straight line."""
_ACROSS = 1e-6
"""The part of a step across a row, relative to it, that counts as zero."""
_NO_BOUND = float("inf")


def minimised(n: int, m: int, w: Workspace) -> tuple[int, int]:
    """`active_set` for a matrix `w.H` that may be flat in some directions, and a gradient `w.g`; both are kept."""
    for i in range(n):
        for j in range(n):
            w.factor[i, j] = w.H[i, j]
    status, steps = active_set(n, m, w.g, w)
    if status != FLAT:
        return status, steps
    largest, steepest = 0.0, 0.0
    for i in range(n):
        largest = max(largest, w.H[i, i])
        steepest = max(steepest, abs(w.g[i]))
        w.last[i] = 0.0
    weight = _PART * largest if largest > 0.0 else _SLOPE * steepest
    weight = weight if weight > 0.0 else 1.0
    total, moved, before = 0, 0.0, 0.0
    for _ in range(_STEPS):
        for i in range(n):
            for j in range(n):
                w.factor[i, j] = w.H[i, j]
            w.factor[i, i] += weight
            w.pulled[i] = w.g[i] - weight * w.last[i]
        status, steps = active_set(n, m, w.pulled, w)
        total += steps
        if status != SOLVED:
            return NOT_CONVEX if status == FLAT else status, total
        before = moved
        moved, size = 0.0, 0.0
        for i in range(n):
            w.pulled[i] = w.x[i] - w.last[i]
            moved = max(moved, abs(w.pulled[i]))
            size = max(size, abs(w.x[i]))
            w.last[i] = w.x[i]
        if moved <= _REACHED * (1.0 + size) or (moved <= _NOISE * (1.0 + size) and moved > 0.5 * before):
            return SOLVED, total
    goes_on = moved > _AS_LONG * before and _is_free(n, m, _ACROSS * moved, w)
    return UNBOUNDED if goes_on else SLOW, total


def _is_free(n: int, m: int, small: float, w: Workspace) -> bool:
    """Whether no bound ends a way along the step `w.pulled`."""
    for i in range(m):
        along = 0.0
        for k in range(n):
            along += w.pulled[k] * w.C[k, i]
        if (along < -small and w.lower[i] > -_NO_BOUND) or (along > small and w.upper[i] < _NO_BOUND):
            return False
    return True
