"""The best change of controls within their limits, a quadratic program with bounds, by a projected Newton method.

Source: Tassa, Mansard and Todorov, "Control-limited differential dynamic programming", ICRA (2014), section IV.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats

__all__ = ["best_change", "factored", "solved"]

_MOST = 100
_SAME = 1e-12
_ENOUGH = 0.1


def best_change(
    Q: Floats, q: Floats, room: Floats, L: Floats, x: Floats, g: Floats, d: Floats, moved: Floats, free: Floats,
    mu: float, n: int, m: int,
) -> bool:  # fmt: skip
    """Minimise ½ xᵀ(H + μ 1) x + hᵀx between the rows of `room`, H and h the last m rows of Q and q.

    False if it has no minimum. `free` then tells which controls are not held by a limit, and L (m, m) is the Cholesky
    factor of H + μ 1 with rows and columns of the identity for those that are held.
    """
    for a in range(m):
        x[a] = min(max(0.0, room[0, a]), room[1, a])
    for _ in range(_MOST):
        held = 0
        for a in range(m):
            g[a] = q[n + a] + mu * x[a]
            for b in range(m):
                g[a] += Q[n + a, n + b] * x[b]
            is_held = (x[a] <= room[0, a] and g[a] > 0.0) or (x[a] >= room[1, a] and g[a] < 0.0)
            free[a] = 0.0 if is_held else 1.0
            held += 1 if is_held else 0
        if not factored(Q, L, free, mu, n, m):
            return False
        largest, size = 0.0, 0.0
        for a in range(m):
            d[a] = -g[a] * free[a]
        solved(L, d, m)
        for a in range(m):
            largest, size = max(largest, abs(d[a])), max(size, abs(x[a]))
        if largest <= _SAME * size:
            break
        is_whole = went(Q, room, x, g, d, moved, mu, n, m)
        if is_whole and held == 0:
            break
    return True


def went(Q: Floats, room: Floats, x: Floats, g: Floats, d: Floats, moved: Floats, mu: float, n: int, m: int) -> bool:
    """Go along d as far as it pays, along the limits where they are met; whether all of it was free to go."""
    step = 1.0
    while step > 1e-10:
        slope, gain, is_whole = 0.0, 0.0, step == 1.0
        for a in range(m):
            to = x[a] + step * d[a]
            kept = min(max(to, room[0, a]), room[1, a])
            is_whole = is_whole and kept == to
            moved[a] = kept - x[a]
            slope += g[a] * moved[a]
        for a in range(m):
            bent = mu * moved[a]
            for b in range(m):
                bent += Q[n + a, n + b] * moved[b]
            gain += moved[a] * (g[a] + 0.5 * bent)
        if gain <= _ENOUGH * slope:
            for a in range(m):
                x[a] = min(max(x[a] + step * d[a], room[0, a]), room[1, a])
            return is_whole
        step = 0.5 * step
    return False


def factored(Q: Floats, L: Floats, free: Floats, mu: float, n: int, m: int) -> bool:
    """Cholesky's factor of the last m rows and columns of Q, plus μ on the diagonal; False if there is none."""
    for a in range(m):
        for b in range(a + 1):
            total = 0.0
            if free[a] > 0.0 and free[b] > 0.0:
                total = Q[n + a, n + b] + (mu if a == b else 0.0)
            elif a == b:
                total = 1.0
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if a > b:
                L[a, b] = total / L[b, b]
            elif total > 0.0:
                L[a, a] = sqrt(total)
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
