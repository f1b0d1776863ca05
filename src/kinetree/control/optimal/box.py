"""The best change of controls within their limits, a quadratic program with bounds, by a projected Newton method.

Source: Tassa, Mansard and Todorov, "Control-limited differential dynamic programming", ICRA (2014), section IV.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats
from kinetree.control.optimal.rows import Workspace

__all__ = ["best_change", "factored", "solved"]

_MOST = 100
_SAME = 1e-12
_ENOUGH = 0.1


def best_change(mu: float, w: Workspace) -> bool:
    """Minimise ½ xᵀ(H + μ 1) x + hᵀx between the rows of `room`, H and h the last m rows of Q and q.

    False if it has no minimum. `free` then marks the controls that are not held by a limit, and L (m, m) is the
    Cholesky factor of H + μ 1 with rows and columns of the identity for those that are held.
    """
    n, m = w.n, w.m
    for a in range(m):
        w.x[a] = min(max(0.0, w.room[0, a]), w.room[1, a])
    for _ in range(_MOST):
        held = 0
        for a in range(m):
            w.g[a] = w.q[n + a] + mu * w.x[a]
            for b in range(m):
                w.g[a] += w.Q[n + a, n + b] * w.x[b]
            is_held = (w.x[a] <= w.room[0, a] and w.g[a] > 0.0) or (w.x[a] >= w.room[1, a] and w.g[a] < 0.0)
            w.free[a] = 0.0 if is_held else 1.0
            held += 1 if is_held else 0
        if not factored(mu, w):
            return False
        largest, size = 0.0, 0.0
        for a in range(m):
            w.d[a] = -w.g[a] * w.free[a]
        solved(w.L, w.d, m)
        for a in range(m):
            largest, size = max(largest, abs(w.d[a])), max(size, abs(w.x[a]))
        if largest <= _SAME * size:
            break
        is_whole = went(mu, w)
        if is_whole and held == 0:
            break
    return True


def went(mu: float, w: Workspace) -> bool:
    """Go along d as far as it pays, along the limits where they are met; whether all of it was free to go."""
    n, m, step = w.n, w.m, 1.0
    while step > 1e-10:
        slope, gain, is_whole = 0.0, 0.0, step == 1.0
        for a in range(m):
            to = w.x[a] + step * w.d[a]
            value = min(max(to, w.room[0, a]), w.room[1, a])
            is_whole = is_whole and value == to
            w.moved[a] = value - w.x[a]
            slope += w.g[a] * w.moved[a]
        for a in range(m):
            bent = mu * w.moved[a]
            for b in range(m):
                bent += w.Q[n + a, n + b] * w.moved[b]
            gain += w.moved[a] * (w.g[a] + 0.5 * bent)
        if gain <= _ENOUGH * slope:
            for a in range(m):
                w.x[a] = min(max(w.x[a] + step * w.d[a], w.room[0, a]), w.room[1, a])
            return is_whole
        step = 0.5 * step
    return False


def factored(mu: float, w: Workspace) -> bool:
    """Cholesky's factor of the last m rows and columns of Q, plus μ on the diagonal; False if it does not exist."""
    n, m = w.n, w.m
    for a in range(m):
        for b in range(a + 1):
            total = 0.0
            if w.free[a] > 0.0 and w.free[b] > 0.0:
                total = w.Q[n + a, n + b] + (mu if a == b else 0.0)
            elif a == b:
                total = 1.0
            for c in range(b):
                total -= w.L[a, c] * w.L[b, c]
            if a > b:
                w.L[a, b] = total / w.L[b, b]
            elif total > 0.0:
                w.L[a, a] = sqrt(total)
            else:
                return False
    return True


def solved(L: Floats, x: Floats, m: int) -> None:
    """Solve L Lᵀ x = x in place."""
    for a in range(m):
        for b in range(a):
            x[a] -= L[a, b] * x[b]
        x[a] = x[a] / L[a, a]
    for back in range(m):
        a = m - 1 - back
        for b in range(a + 1, m):
            x[a] -= L[b, a] * x[b]
        x[a] = x[a] / L[a, a]
