"""The backward pass of iLQR: from the last knot to the first, the best change of the controls and its feedback.

Sources: Tassa, Mansard and Todorov, "Control-limited differential dynamic programming", ICRA (2014), and Tassa, Erez
and Todorov, "Synthesis and stabilization of complex behaviors through online trajectory optimization", IROS (2012),
equation 11, for limits and for the value function of regularised steps; Mastalli et al., "Crocoddyl: An Efficient and
Versatile Framework for Multi-Contact Optimal Control", ICRA (2020), for gaps between knots. The names are theirs: V is
the Hessian of the value function and v its gradient, Q and q those of the cost to go by state and control, k the change
of the controls and K the feedback.

A row of `knots` is what `knot_program` returns: the gap (n), F (n, p), the cost, its gradient (p) and the upper
triangle of its Hessian, with n = 2 nv, m controls and p = n + m; a row of `last` is the last cost, its gradient (n) and
its Hessian.
Matrices to work in have rows of a multiple of eight numbers, so that products of them (`rows.py`) fill registers; what
is behind the last column that counts is never used.
"""

from __future__ import annotations

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats
from kinetree.control.optimal.box import best_change
from kinetree.control.optimal.promise import promise
from kinetree.control.optimal.rows import accumulate, multiply, subtract

__all__ = ["LARGEST", "LEAST", "backward_pass"]

LEAST = 1e-9
"""The smallest regularisation above zero."""
LARGEST = 1e9
"""The largest; a problem that needs more is given up."""


@compiled
def backward_pass(
    knots: Floats, last: Floats, u: Floats, limits: Floats, setting: Floats, k: Floats, K: Floats, report: Floats,
    V: Floats, F: Floats, W: Floats, Q: Floats, G: Floats, L: Floats, room: Floats,
    q: Floats, x: Floats, g: Floats, d: Floats, moved: Floats, free: Floats, z: Floats, T: int, n: int, m: int,
) -> None:  # fmt: skip
    """The backward passes of several problems, and what their steps promise.

    Args:
        knots: (b, T, n + n p + 1 + p + p (p + 1) / 2).
        last: (b, 1 + n + n²).
        u: (b, T, m).
        limits: (2, m), the lower and the upper ones.
        setting: (b, 3), the regularisation, 1 where knots have gaps, and 1 where the regularisation is raised until the
            pass succeeds.
        k: (b, T, m), result.
        K: (b, T, m n), result.
        report: (b, 5), result: whether it succeeded, the cost, its slope along the step, its change by the whole step,
            and the sum of the gaps' sizes.
        V, F, W, Q, G: (n + 1, P), (n, P), (max(n + 1, m), P), (p, P) and (m, P), to work in, with P ≥ p a multiple of
            8; the last row of V is the gradient v, that of W is vᵀ F.
        L, room: (m, m), (2, m), to work in.
        q, x, g, d, moved, free: (P,) each, to work in.
        z: (2, P), to work in.
        T, n, m: the number of steps, and the lengths of displacements of the state and of controls.
    """
    for i in range(len(knots)):
        is_done = False
        while not is_done:
            is_done = swept(
                knots,
                last,
                u,
                limits,
                setting,
                k,
                K,
                report,
                V,
                F,
                W,
                Q,
                G,
                L,
                room,
                q,
                x,
                g,
                d,
                moved,
                free,
                i,
                T,
                n,
                m,
            )
            if not is_done:
                if setting[i, 2] == 0.0 or setting[i, 0] >= LARGEST:
                    break
                setting[i, 0] = max(10.0 * setting[i, 0], LEAST)
        report[i, 0] = 1.0 if is_done else 0.0
        promise(knots, last, setting, k, K, report, z, i, T, n, m)


def swept(
    knots: Floats, last: Floats, u: Floats, limits: Floats, setting: Floats, k: Floats, K: Floats, report: Floats,
    V: Floats, F: Floats, W: Floats, Q: Floats, G: Floats, L: Floats, room: Floats,
    q: Floats, x: Floats, g: Floats, d: Floats, moved: Floats, free: Floats, i: int, T: int, n: int, m: int,
) -> bool:  # fmt: skip
    """One pass; False if at some knot the cost to go has no minimum over the controls."""
    report[i, 3] = 0.0
    for r in range(n):
        V[n, r] = last[i, 1 + r]
        for c in range(n):
            V[r, c] = last[i, 1 + n + r * n + c]
    for step in range(T):
        t = T - 1 - step
        if setting[i, 1] > 0.0:
            for r in range(n):
                x[r] = knots[i, t, r]
            for r in range(n):
                pulled = 0.0
                for c in range(n):
                    pulled += V[r, c] * x[c]
                report[i, 3] += x[r] * (V[n, r] + 0.5 * pulled)
                V[n, r] += pulled
        cost_to_go(knots, V, F, W, Q, q, x, i, t, n, m)
        for a in range(m):
            room[0, a] = limits[0, a] - u[i, t, a]
            room[1, a] = limits[1, a] - u[i, t, a]
        if not best_change(Q, q, room, L, x, g, d, moved, free, setting[i, 0], n, m):
            return False
        for a in range(m):
            k[i, t, a] = x[a]
            bent = 0.0
            for b in range(m):
                bent += Q[n + a, n + b] * x[b]
            report[i, 3] += x[a] * (q[n + a] + 0.5 * bent)
        feedback(Q, L, free, G, n, m)
        for a in range(m):
            for c in range(n):
                K[i, t, a * n + c] = G[a, c]
        value(Q, q, V, W, G, x, g, d, n, m)
    return True


def cost_to_go(
    knots: Floats, V: Floats, F: Floats, W: Floats, Q: Floats, q: Floats, x: Floats, i: int, t: int, n: int, m: int
) -> None:
    """Q = H + Fᵀ V F and q = g + Fᵀ v, with W = V F. What is left of the diagonal is there for the controls only."""
    p = n + m
    at_F, at_g, at_H, wide = n, n + n * p + 1, n + n * p + 1 + p, (p + 7) // 8 * 8
    for r in range(n):
        for c in range(p):
            F[r, c] = knots[i, t, at_F + r * p + c]
    for r in range(n + 1):
        for c in range(wide):
            W[r, c] = 0.0
        for s in range(n):
            x[s] = V[r, s]
        accumulate(W, r, x, F, n, 0, wide)
    for r in range(p):
        q[r] = knots[i, t, at_g + r] + W[n, r]
        start = r // 8 * 8
        for c in range(start, r):
            Q[r, c] = 0.0
        for c in range(r, p):
            Q[r, c] = knots[i, t, at_H + c]
        at_H += p - r - 1
        for s in range(n):
            x[s] = F[s, r]
        accumulate(Q, r, x, W, n, start, wide)
    for r in range(n, p):
        for c in range(r):
            Q[r, c] = Q[c, r]


def feedback(Q: Floats, L: Floats, free: Floats, G: Floats, n: int, m: int) -> None:
    """G = −(Q_uu + μ 1)⁻¹ Q_ux for the controls that are free to change; the others have none."""
    wide = (n + 7) // 8 * 8
    for a in range(m):
        for c in range(wide):
            G[a, c] = -free[a] * Q[n + a, c]
        for b in range(a):
            subtract(G, a, L[a, b], b, wide)
        multiply(G, a, 1.0 / L[a, a], wide)
    for back in range(m):
        a = m - 1 - back
        for b in range(a + 1, m):
            subtract(G, a, L[b, a], b, wide)
        multiply(G, a, 1.0 / L[a, a], wide)


def value(
    Q: Floats, q: Floats, V: Floats, W: Floats, G: Floats, x: Floats, g: Floats, d: Floats, n: int, m: int
) -> None:
    """V = Q_xx + Kᵀ Q_uu K + Kᵀ Q_ux + Q_xu K and v = q_x + Kᵀ (Q_uu k + q_u) + Q_xu k, as a limited or regularised
    step is not the minimum. K is in G and k in x."""
    wide = (n + 7) // 8 * 8
    for a in range(m):  # W = Q_uu K + Q_ux, g = Q_uu k + q_u
        g[a] = q[n + a]
        for c in range(wide):
            W[a, c] = Q[n + a, c]
        for b in range(m):
            d[b] = Q[n + a, n + b]
            g[a] += d[b] * x[b]
        accumulate(W, a, d, G, m, 0, wide)
    for c in range(wide):
        V[n, c] = q[c]
    accumulate(V, n, g, G, m, 0, wide)
    for a in range(m):
        for c in range(wide):
            V[n, c] += x[a] * Q[n + a, c]
    for r in range(n):
        start = r // 8 * 8
        for c in range(start, wide):
            V[r, c] = Q[r, c]
        for a in range(m):
            d[a] = G[a, r]
        accumulate(V, r, d, W, m, start, wide)
        for a in range(m):
            d[a] = Q[n + a, r]
        accumulate(V, r, d, G, m, start, wide)
    for r in range(n):
        for c in range(r):
            V[r, c] = V[c, r]
