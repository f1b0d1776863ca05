"""Steps of whole-body control, one after the other in machine code: from the matrices of each to its torques."""

from __future__ import annotations

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.control.quadratic.priorities import in_order

__all__ = ["taken"]

_NO_NUMBER = float("nan")


@compiled
def taken(
    n: int, hard: int, soft: int, levels: int, first: int, named: int,
    matrices: Floats, given: Floats, weights: Floats, starts: Indices, driven: Indices, owners: Indices, limit: Floats,
    generators: Floats, solution: Floats, tau: Floats, forces: Floats, unmet: Floats, told: Indices,
    rows: Floats, sides: Floats, lower: Floats, upper: Floats, x: Floats, ended: Indices,
    tableau: Floats, copies: Floats, basis: Floats, H: Floats, g: Floats, columns: Floats, low: Floats, high: Floats,
    base: Floats, lengths: Floats, y: Floats, multipliers: Floats, last: Floats, factor: Floats, pulled: Floats,
    slack: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats, u: Floats, across: Floats,
    active: Indices, side: Indices, is_pivot: Indices, pivots: Indices, free: Indices,
) -> None:  # fmt: skip
    """The problems whose matrices the program of `matrices.py` has computed, with the samples as first axis.

    Args:
        n, hard, soft, levels, weights, starts: as for `in_order`.
        first, named: the number of the first row that `unmet` has, and how many it has.
        matrices: (N, …), what the program returns.
        given: (N, …), its argument, which begins with the switches of the contacts.
        driven: the degrees of freedom that have a motor.
        owners: (n − nv,), the contact of each number of a force.
        limit: (nv,), of torques.
        generators: (…, n − nv), from these numbers to the forces of contacts.
        solution: (N, n), result.
        tau: (N, nv), result.
        forces: (N, …), result, the forces of all contacts.
        unmet: (N, …), result, A x − b of the rows from `first` on.
        told: (N, 5), result, as of `in_order`.
        others: for what is in between; the last n of `rows` are those of the effort.
    """
    m, nv, equations = hard + soft, len(limit), len(rows) - n
    for k in range(len(matrices)):
        at = 0
        for i in range(m):
            for j in range(n + 1):
                sides[i, j] = matrices[k, at + j]
            at += n + 1
        for i in range(m):
            lower[i], upper[i] = matrices[k, at + i], matrices[k, at + m + i]
        bias = at + 2 * m
        at = bias + nv
        for i in range(equations):
            for j in range(n + 1):
                rows[i, j] = matrices[k, at + j]
            at += n + 1
        x[0] = _NO_NUMBER
        in_order(
            n, hard, soft, levels, rows, weights, starts, sides, lower, upper, x, ended,
            tableau, copies, basis, H, g, columns, low, high, base, lengths, y, multipliers, last, factor, pulled,
            slack, J, R, d, z, r, u, across, active, side, is_pivot, pivots, free,
        )  # fmt: skip
        for j in range(n - nv):
            if given[k, int(owners[j])] == 0.0:  # a contact that is off: exactly, not up to rounding
                x[nv + j] = 0.0
        for j in range(n):
            solution[k, j] = x[j]
        for i in range(nv):
            tau[k, i] = 0.0
        for i in range(len(driven)):
            joint = int(driven[i])
            total = matrices[k, bias + joint]
            for j in range(n):
                total += sides[i, j] * x[j]
            tau[k, joint] = min(max(total, -limit[joint]), limit[joint])
        for i in range(len(generators)):
            total = 0.0
            for j in range(n - nv):
                total += generators[i, j] * x[nv + j]
            forces[k, i] = total
        for i in range(named):
            total = -rows[first + i, n]
            for j in range(n):
                total += rows[first + i, j] * x[j]
            unmet[k, i] = total
        for i in range(5):
            told[k, i] = int(ended[i])
