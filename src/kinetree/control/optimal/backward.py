"""The backward pass of iLQR: from the last knot to the first, the best change of the controls and its feedback.

Sources: Tassa, Mansard and Todorov, "Control-limited differential dynamic programming", ICRA (2014), and Tassa, Erez
and Todorov, "Synthesis and stabilization of complex behaviors through online trajectory optimization", IROS (2012),
equation 11, for limits and for the value function of regularised steps; Mastalli et al., "Crocoddyl: An Efficient and
Versatile Framework for Multi-Contact Optimal Control", ICRA (2020), for gaps between knots. The names are theirs: V is
the Hessian of the value function and v its gradient, Q and q those of the cost to go by state and control, k the change
of the controls and K the feedback.

A row of `knots` is a result of `knot_program`: the gap (n), F (n, p), the cost, its gradient (p) and the upper triangle
of its Hessian, with n = 2 nv, m controls and p = n + m; a row of `last` is the last cost, its gradient (n) and its
Hessian. Matrices to work in have rows of a multiple of eight numbers, so that products of them (`rows.py`) fill
registers; entries beyond the last column that counts are never used.

The best change of controls within their limits, a quadratic program with bounds, by a projected Newton method.

Source: Tassa, Mansard and Todorov, "Control-limited differential dynamic programming", ICRA (2014), section IV.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats
from kinetree.control.optimal.rows import Workspace, accumulate, multiply, subtract

__all__ = ["LARGEST", "LEAST", "Passes", "backward_pass"]

LEAST = 1e-9
"""The smallest regularisation above zero."""
LARGEST = 1e9
"""The largest; a problem that needs more is given up."""


class Passes(NamedTuple):
    """The backward passes of several problems of T steps; p = n + m."""

    T: int
    knots: Floats
    """(b, T, n + n p + 1 + p + p (p + 1) / 2)."""
    last: Floats
    """(b, 1 + n + n²)."""
    u: Floats
    """(b, T, m)."""
    limits: Floats
    """(2, m), the lower and the upper ones."""
    setting: Floats
    """(b, 3), the regularisation, 1 where knots have gaps, and 1 where it is raised until the pass succeeds."""
    k: Floats
    """(b, T, m), result."""
    K: Floats
    """(b, T, m n), result."""
    report: Floats
    """(b, 5), result: whether it succeeded, the cost, its slope along the step, its change by the whole step, and the
    sum of the gaps' sizes."""


@compiled
def backward_pass(p: Passes, w: Workspace) -> None:
    """The backward passes of several problems, and the decrease that their steps promise."""
    for i in range(len(p.knots)):
        is_done = False
        while not is_done:
            is_done = swept(p, i, w)
            if not is_done:
                if p.setting[i, 2] == 0.0 or p.setting[i, 0] >= LARGEST:
                    break
                p.setting[i, 0] = max(10.0 * p.setting[i, 0], LEAST)
        p.report[i, 0] = 1.0 if is_done else 0.0
        promise(p, i, w)


def swept(p: Passes, i: int, w: Workspace) -> bool:
    """One pass; False if at some knot the cost to go has no minimum over the controls."""
    n, m = w.n, w.m
    p.report[i, 3] = 0.0
    for r in range(n):
        w.V[n, r] = p.last[i, 1 + r]
        for c in range(n):
            w.V[r, c] = p.last[i, 1 + n + r * n + c]
    for step in range(p.T):
        t = p.T - 1 - step
        if p.setting[i, 1] > 0.0:
            for r in range(n):
                w.x[r] = p.knots[i, t, r]
            for r in range(n):
                pulled = 0.0
                for c in range(n):
                    pulled += w.V[r, c] * w.x[c]
                p.report[i, 3] += w.x[r] * (w.V[n, r] + 0.5 * pulled)
                w.V[n, r] += pulled
        cost_to_go(p.knots, i, t, w)
        for a in range(m):
            w.room[0, a] = p.limits[0, a] - p.u[i, t, a]
            w.room[1, a] = p.limits[1, a] - p.u[i, t, a]
        if not best_change(p.setting[i, 0], w):
            return False
        for a in range(m):
            p.k[i, t, a] = w.x[a]
            bent = 0.0
            for b in range(m):
                bent += w.Q[n + a, n + b] * w.x[b]
            p.report[i, 3] += w.x[a] * (w.q[n + a] + 0.5 * bent)
        feedback(w)
        for a in range(m):
            for c in range(n):
                p.K[i, t, a * n + c] = w.G[a, c]
        value(w)
    return True


def cost_to_go(knots: Floats, i: int, t: int, w: Workspace) -> None:
    """Q = H + Fᵀ V F and q = g + Fᵀ v, with W = V F. The rest of the diagonal is for the controls only."""
    n, p = w.n, w.n + w.m
    at_F, at_g, at_H, wide = n, n + n * p + 1, n + n * p + 1 + p, (p + 7) // 8 * 8
    for r in range(n):
        for c in range(p):
            w.F[r, c] = knots[i, t, at_F + r * p + c]
    for r in range(n + 1):
        for c in range(wide):
            w.W[r, c] = 0.0
        for s in range(n):
            w.x[s] = w.V[r, s]
        accumulate(w.W, r, w.x, w.F, n, 0, wide)
    for r in range(p):
        w.q[r] = knots[i, t, at_g + r] + w.W[n, r]
        start = r // 8 * 8
        for c in range(start, r):
            w.Q[r, c] = 0.0
        for c in range(r, p):
            w.Q[r, c] = knots[i, t, at_H + c]
        at_H += p - r - 1
        for s in range(n):
            w.x[s] = w.F[s, r]
        accumulate(w.Q, r, w.x, w.W, n, start, wide)
    for r in range(n, p):
        for c in range(r):
            w.Q[r, c] = w.Q[c, r]


def feedback(w: Workspace) -> None:
    """G = −(Q_uu + μ 1)⁻¹ Q_ux for the controls that are free to change; the others have none."""
    n, m, wide = w.n, w.m, (w.n + 7) // 8 * 8
    for a in range(m):
        for c in range(wide):
            w.G[a, c] = -w.free[a] * w.Q[n + a, c]
        for b in range(a):
            subtract(w.G, a, w.L[a, b], b, wide)
        multiply(w.G, a, 1.0 / w.L[a, a], wide)
    for back in range(m):
        a = m - 1 - back
        for b in range(a + 1, m):
            subtract(w.G, a, w.L[b, a], b, wide)
        multiply(w.G, a, 1.0 / w.L[a, a], wide)


def value(w: Workspace) -> None:
    """V = Q_xx + Kᵀ Q_uu K + Kᵀ Q_ux + Q_xu K and v = q_x + Kᵀ (Q_uu k + q_u) + Q_xu k, as a limited or regularised
    step is not the minimum. K is in G and k in x."""
    n, m, wide = w.n, w.m, (w.n + 7) // 8 * 8
    for a in range(m):  # W = Q_uu K + Q_ux, g = Q_uu k + q_u
        w.g[a] = w.q[n + a]
        for c in range(wide):
            w.W[a, c] = w.Q[n + a, c]
        for b in range(m):
            w.d[b] = w.Q[n + a, n + b]
            w.g[a] += w.d[b] * w.x[b]
        accumulate(w.W, a, w.d, w.G, m, 0, wide)
    for c in range(wide):
        w.V[n, c] = w.q[c]
    accumulate(w.V, n, w.g, w.G, m, 0, wide)
    for a in range(m):
        for c in range(wide):
            w.V[n, c] += w.x[a] * w.Q[n + a, c]
    for r in range(n):
        start = r // 8 * 8
        for c in range(start, wide):
            w.V[r, c] = w.Q[r, c]
        for a in range(m):
            w.d[a] = w.G[a, r]
        accumulate(w.V, r, w.d, w.W, m, start, wide)
        for a in range(m):
            w.d[a] = w.Q[n + a, r]
        accumulate(w.V, r, w.d, w.G, m, start, wide)
    for r in range(n):
        for c in range(r):
            w.V[r, c] = w.V[c, r]


def promise(p: Passes, i: int, w: Workspace) -> None:
    """The cost of problem i, its slope along the step, and the gaps, as `backward_pass` reports them.

    The step is followed through the linear models: δx' = F (δx, δu) + gap, with δu = k + K δx.
    """
    n, m, count = w.n, w.m, w.n + w.m
    F, at_cost, at_g = n, n + n * count, n + n * count + 1
    cost, slope, gaps = p.last[i, 0], 0.0, 0.0
    for r in range(n):
        w.z[0, r] = 0.0
    for t in range(p.T):
        for a in range(m):
            change = p.k[i, t, a]
            for r in range(n):
                change += p.K[i, t, a * n + r] * w.z[0, r]
            w.z[0, n + a] = change
        cost += p.knots[i, t, at_cost]
        for r in range(count):
            slope += p.knots[i, t, at_g + r] * w.z[0, r]
        for r in range(n):
            total = 0.0
            for c in range(count):
                total += p.knots[i, t, F + r * count + c] * w.z[0, c]
            if p.setting[i, 1] > 0.0:
                total += p.knots[i, t, r]
                gaps += abs(p.knots[i, t, r])
            w.z[1, r] = total
        for r in range(n):
            w.z[0, r] = w.z[1, r]
    for r in range(n):
        slope += p.last[i, 1 + r] * w.z[0, r]
    p.report[i, 1] = cost
    p.report[i, 2] = slope
    p.report[i, 4] = gaps


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
