"""Costates: the derivatives of all that a motion costs from a knot on, by the state there.

Source: Dunn and Bertsekas, "Efficient dynamic programming implementations of Newton's method for unconstrained optimal
control problems", Journal of Optimization Theory and Applications 63 (1989).
"""

from __future__ import annotations

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats

__all__ = ["costates"]


@compiled
def costates(knots: Floats, last: Floats, results: Floats, T: int, n: int, m: int) -> None:
    """Backward through the linear models of several problems, from rows as `backward_pass` has them.

    Args:
        knots: (b, T, …), from the start of each row: the gap (n), F (n, p), the cost and its gradient (p).
        last: (b, 1 + n + n²).
        results: (b, T, n), result: the costate of the state after each step.
        T, n, m: the number of steps, and the lengths of displacements of the state and of controls.
    """
    p = n + m
    at_g = n + n * p + 1
    for i in range(len(knots)):
        for r in range(n):
            results[i, T - 1, r] = last[i, 1 + r]
        for back in range(T - 1):
            t = T - 1 - back
            for r in range(n):
                results[i, t - 1, r] = knots[i, t, at_g + r]
            for s in range(n):
                for r in range(n):
                    results[i, t - 1, r] += knots[i, t, n + s * p + r] * results[i, t, s]
