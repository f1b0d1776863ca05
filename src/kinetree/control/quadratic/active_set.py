"""The dual active-set method of Goldfarb and Idnani: a strictly convex quadratic program under inequalities.

Source: D. Goldfarb, A. Idnani, "A numerically stable dual method for solving strictly convex quadratic programs",
Mathematical Programming 27 (1983), with the names in `working_set.py`. It starts at the minimum without constraints,
and adds the one that is violated most until none is.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats
from kinetree.control.quadratic.working_set import directions, dropped, restored, taken_in
from kinetree.control.quadratic.workspace import Workspace

__all__ = ["FLAT", "INFEASIBLE", "SOLVED", "TOO_MANY", "active_set", "multipliers_of", "satisfied"]

SOLVED, INFEASIBLE, TOO_MANY, FLAT = 0, 1, 2, 3
"""Outcomes: FLAT is a matrix H that is not positive definite."""

_INFINITE = float("inf")
_FLAT = 1e-11
"""A pivot of the factorisation, relative to the largest of the diagonal, that counts as zero."""
_DEPENDENT = 1e-14
"""The part, squared, of a row outside the active ones that counts as zero."""
_VIOLATED = 1e-11
"""The violation, relative to the bound, below which a row is satisfied."""
_TOLERATED = 1e-7
"""The violation, likewise, of rows that cannot be satisfied better: rounding where rows depend on each other."""


def active_set(n: int, m: int, g: Floats, w: Workspace) -> tuple[int, int]:
    """Minimise ½ xᵀ H x + gᵀ x where lower ≤ base + Cᵀ x ≤ upper; returns the outcome and the number of steps.

    Args:
        n, m: how many unknowns and rows there are; arrays may be larger.
        g: (n,).
        w: H is its `factor`, which is overwritten; C, bounds, x and multipliers are those of the same names.
    """
    if not _factored(n, w.factor, w.J):
        return FLAT, 0
    for i in range(m):
        w.side[i] = 0
    count = restored(n, m, 0, g, w)
    ended, steps, count = satisfied(n, m, count, w)
    multipliers_of(m, count, w)
    return ended, steps


def satisfied(n: int, m: int, count: int, w: Workspace) -> tuple[int, int, int]:
    """From a minimum on `count` active rows whose multipliers have the right signs to one that violates no row.

    Returns the outcome, the number of steps, and how many rows are active.
    """
    steps, most, ended = 0, 10 * (n + m) + 50, -1
    while ended < 0:
        new, is_lower, violation = _most_violated(m, w)
        if new < 0:
            ended = SOLVED
            break
        sign = 1.0 if is_lower else -1.0
        multiplier = 0.0  # the new row's multiplier
        while True:
            steps += 1
            if steps > most:
                ended = TOO_MANY
                break
            squared, outside = directions(n, count, new, sign, w)
            can_move = outside > _DEPENDENT * squared and count < n
            length, blocking = _INFINITE, -1
            for k in range(count):
                if w.r[k] > 0.0 and w.u[k] < length * w.r[k]:
                    length, blocking = w.u[k] / w.r[k], k
            if can_move and violation <= length * outside:
                length, blocking = violation / outside, -1
            elif blocking < 0:
                bound = w.lower[new] if is_lower else w.upper[new]
                if violation <= _TOLERATED * (1.0 + abs(bound)):
                    w.side[new] = 2
                else:
                    ended = INFEASIBLE
                break
            for k in range(count):
                w.u[k] -= length * w.r[k]
            multiplier += length
            if can_move:
                violation -= length * outside
                for k in range(n):
                    w.x[k] += length * w.z[k]
                for k in range(n):
                    for i in range(m):
                        w.slack[i] += length * w.z[k] * w.C[k, i]
            if blocking < 0:
                taken_in(n, count, w)
                w.u[count] = multiplier
                w.active[count] = new
                w.side[new] = 1 if is_lower else -1
                count += 1
                break
            w.side[int(w.active[blocking])] = 0
            dropped(n, count, blocking, w)
            count -= 1
    return ended, steps, count


def multipliers_of(m: int, count: int, w: Workspace) -> None:
    """One number per row, with the signs of bounds."""
    for i in range(m):
        w.multipliers[i] = 0.0
    for k in range(count):
        i = int(w.active[k])
        w.multipliers[i] = -w.u[k] if int(w.side[i]) == 1 else w.u[k]


def _factored(n: int, H: Floats, J: Floats) -> bool:
    """H = Uᵀ U, with U in its place, and U⁻ᵀ in J; False if it is not positive definite."""
    largest = 0.0
    for k in range(n):
        largest = max(largest, H[k, k])
    for k in range(n):
        pivot = H[k, k]
        if not pivot > _FLAT * largest:
            return False
        scale = 1.0 / sqrt(pivot)
        for j in range(k, n):
            H[k, j] *= scale
        for i in range(k + 1, n):
            factor = H[k, i]
            for j in range(i, n):
                H[i, j] -= factor * H[k, j]
    for i in range(n):
        for j in range(n):
            J[i, j] = 0.0
        J[i, i] = 1.0
        for k in range(i):
            factor = H[k, i]
            for j in range(k + 1):
                J[i, j] -= factor * J[k, j]
        scale = 1.0 / H[i, i]
        for j in range(i + 1):
            J[i, j] *= scale
    return True


def _most_violated(m: int, w: Workspace) -> tuple[int, bool, float]:
    """The row that is violated most, relative to its bound: its index (−1 for none), at which bound, by how much."""
    row, is_lower, violation, worst = -1, False, 0.0, _VIOLATED
    for i in range(m):
        if int(w.side[i]) == 0:
            below, above = w.lower[i] - w.slack[i], w.slack[i] - w.upper[i]
            if below > worst * (1.0 + abs(w.lower[i])):
                row, is_lower, violation, worst = i, True, below, below / (1.0 + abs(w.lower[i]))
            if above > worst * (1.0 + abs(w.upper[i])):
                row, is_lower, violation, worst = i, False, above, above / (1.0 + abs(w.upper[i]))
    return row, is_lower, violation
