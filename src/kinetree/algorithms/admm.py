"""Rigid contacts with Coulomb's friction by the alternating direction method of multipliers.

    min ½ fᵀ G f + fᵀ (b + s)   where f = z ∈ K,    G = J M⁻¹ Jᵀ,    b = J a₀ - a_ref,    s = Φ(y)

with y = G f + b (natural_map.py). Its multiplier u is -(y + s) at the solution. With W, the diagonal of the inverse
inertias w, and S = (ρ + ε) W, plus R for rows that give way:

    f ← (G + S)⁻¹ (ε W f + ρ W z - u - b - s),    z ← Π_K(f + u / (ρ W)),    u ← u + ρ W (f - z),    s ← Φ(u)

G is never formed: (G + S)⁻¹ r = S⁻¹ (r - J x) with (M + Jᵀ S⁻¹ J) x = Jᵀ S⁻¹ r, whose matrix has the sparse factors of
the convex problem; and a₀ + x is the acceleration. ρ grows where f and z differ more than z changes, and shrinks where
they differ less.

It takes more iterations than the fixed point of rigid_contact.py, and goes on where that does not converge.

Sources: Boyd et al., "Distributed Optimization and Statistical Learning via ADMM", Foundations and Trends in Machine
Learning 3 (2011), sections 3.3 and 3.4.1; with De Saxcé's shift, Carpentier, Le Lidec and Montaut, "From Compliant to
Rigid Contact Simulation: a Unified and Efficient Approach", RSS 2024, arXiv 2405.17020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.convex_dynamics import Block, Minimum
from kinetree.algorithms.ltdl import ltdl, ltdl_solve
from kinetree.algorithms.natural_map import (
    Numbers,
    away,
    inertias,
    inverse,
    projected,
    residual,
    shift,
    split,
    yielding,
)
from kinetree.expr import Scalar, absolute, dot, less, less_equal, maximum, minimum, repeat, select

__all__ = ["admm"]

_PROXIMAL = 1e-6
"""ε."""
_FIRST, _LEAST, _MOST = 1e-1, 1e-8, 1e8
"""ρ."""
_UNEQUAL, _FACTOR = 10.0, 4.0
"""The ratio of residuals from which ρ changes, and by how much."""


def admm(
    M: Any,
    tau: Sequence[Scalar],
    blocks: Sequence[Block],
    found: Minimum,
    step: Scalar,
    iterations: int,
    tolerance: float,
) -> Minimum:
    """The acceleration and the forces, from those found so far, if their residual is above the tolerance (m/s)."""
    n, m = len(tau), sum(len(block.J) for block in blocks)
    L = M.copy()
    ltdl(L)
    a_0 = _solved(L, tau)
    b = away(blocks, a_0)
    y = away(blocks, found.acceleration, found.forces)
    u = [[-(y_b[0] + shift(block.cost, y_b)), *(-x for x in y_b[1:])] for block, y_b in zip(blocks, y, strict=True)]

    def iterate(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        _, f, z, u = state[:n], *(split(blocks, state[n + k * m : n + (k + 1) * m]) for k in range(3))
        rho, count, _ = state[n + 3 * m :]
        f, x = _closest(M, blocks, b, f, z, u, rho)
        before, z, u = z, *_projected(blocks, f, u, rho)
        a = [a_k + x_k for a_k, x_k in zip(a_0, x, strict=True)]
        error = step * residual(blocks, f, away(blocks, a, f))
        apart, moved = _difference(blocks, f, z), rho * _difference(blocks, z, before)
        up, down = less(_UNEQUAL * moved, apart), less(_UNEQUAL * apart, moved)
        rho = rho * select(up, _FACTOR, select(down, 1.0 / _FACTOR, 1.0))
        rho = maximum(_LEAST, minimum(rho, _MOST))
        after = [*a, *_flat(f, z, u), rho, count + 1.0, error]
        done = less_equal(found.error, tolerance)  # nothing was to be done
        return [select(done, old, new) for old, new in zip(state, after, strict=True)], maximum(
            done, less_equal(error, tolerance)
        )

    start = [*found.acceleration, *_flat(found.forces, found.forces, u), _FIRST, found.iterations, found.error]
    end = repeat(iterations, start, iterate)
    better = less(end[-1], found.error)
    a = [select(better, new, old) for new, old in zip(end[:n], found.acceleration, strict=True)]
    f = [
        [select(better, x, y) for x, y in zip(new, old, strict=True)]
        for new, old in zip(split(blocks, end[n : n + m]), found.forces, strict=True)
    ]
    return Minimum(a, f, minimum(end[-1], found.error), end[-2])


def _closest(
    M: Any, blocks: Sequence[Block], b: Numbers, f: Numbers, z: Numbers, u: Numbers, rho: Scalar
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """f, and the acceleration M⁻¹ Jᵀ f."""
    H = M.copy()
    right: list[Scalar] = [0.0] * len(blocks[0].J[0])
    parts = []
    for block, b_b, f_b, z_b, u_b in zip(blocks, b, f, z, u, strict=True):
        first = shift(block.cost, u_b)
        numbers = zip(block.J, inertias(block.cost), yielding(block.cost), strict=True)
        for k, (row, w, R) in enumerate(numbers):
            s = inverse((rho + _PROXIMAL) * w + R)
            r = w * (_PROXIMAL * f_b[k] + rho * z_b[k]) - u_b[k] - b_b[k] - (first if k == 0 else 0.0)
            parts.append((row, s, r))
            right = [x + j * (s * r) for x, j in zip(right, row, strict=True)]
            column = H.column(row)
            for i in H.outward:
                for j in (i, *H.above(i)):
                    H[i, j] = H[i, j] + column[i] * (s * column[j])
    ltdl(H)
    x = _solved(H, right)
    return split(blocks, [s * (r - dot(row, x)) for row, s, r in parts]), x


def _projected(
    blocks: Sequence[Block], f: Numbers, u: Numbers, rho: Scalar
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """z and u."""
    z, multipliers = [], []
    for block, f_b, u_b in zip(blocks, f, u, strict=True):
        w = inertias(block.cost)
        z_b = projected(block.cost, [-(w_k * x + y / rho) for w_k, x, y in zip(w, f_b, u_b, strict=True)])
        z.append(list(z_b))
        multipliers.append([y + rho * w_k * (x - x_z) for y, w_k, x, x_z in zip(u_b, w, f_b, z_b, strict=True)])
    return z, multipliers


def _difference(blocks: Sequence[Block], f: Numbers, g: Numbers) -> Scalar:
    """The largest component of w (f - g)."""
    worst: Scalar = 0.0
    for block, f_b, g_b in zip(blocks, f, g, strict=True):
        for w, x, y in zip(inertias(block.cost), f_b, g_b, strict=True):
            worst = maximum(worst, absolute(w * (x - y)))
    return worst


def _solved(L: Any, right: Sequence[Scalar]) -> list[Scalar]:
    """The solution with the factors of a matrix, in the order of v."""
    x = L.column(right)
    ltdl_solve(L, x)
    solution: list[Scalar] = L.in_v(x)
    return solution


def _flat(*parts: Numbers) -> list[Scalar]:
    return [x for part in parts for rows in part for x in rows]
