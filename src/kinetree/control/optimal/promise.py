"""The slope of the cost along a step of iLQR, in the linear models of all knots."""

from __future__ import annotations

from kinetree.codegen.loops.kinds import Floats

__all__ = ["promise"]


def promise(
    knots: Floats, last: Floats, setting: Floats, k: Floats, K: Floats, report: Floats, z: Floats, i: int,
    T: int, n: int, m: int,
) -> None:  # fmt: skip
    """The cost of problem i, its slope along the step, and the gaps, as `backward_pass` reports them.

    The step is followed through the linear models: δx' = F (δx, δu) + gap, with δu = k + K δx.
    """
    p = n + m
    F, at_cost, at_g = n, n + n * p, n + n * p + 1
    cost, slope, gaps = last[i, 0], 0.0, 0.0
    for r in range(n):
        z[0, r] = 0.0
    for t in range(T):
        for a in range(m):
            change = k[i, t, a]
            for r in range(n):
                change += K[i, t, a * n + r] * z[0, r]
            z[0, n + a] = change
        cost += knots[i, t, at_cost]
        for r in range(p):
            slope += knots[i, t, at_g + r] * z[0, r]
        for r in range(n):
            total = 0.0
            for c in range(p):
                total += knots[i, t, F + r * p + c] * z[0, c]
            if setting[i, 1] > 0.0:
                total += knots[i, t, r]
                gaps += abs(knots[i, t, r])
            z[1, r] = total
        for r in range(n):
            z[0, r] = z[1, r]
    for r in range(n):
        slope += last[i, 1 + r] * z[0, r]
    report[i, 1] = cost
    report[i, 2] = slope
    report[i, 4] = gaps
