"""Derivatives of rigid contacts with Coulomb's friction: those of their conditions at the solution.

    M a = τ + Jᵀ f,    f = -s'(y + Φ(y) - δ w f),    y = J a - a_ref

The second holds for every δ > 0 where forces satisfy the conditions of natural_map.py, if s is the cost of a contact
with the regularisation δ w; rows that give way have their own cost and f = -s'(y). By the implicit function theorem the
derivatives at the solution are those of steps of Newton's method from constants. With W = s'' and T = 1 + e₁ ∂Φ/∂y,

    (M + Jᵀ W T J) da = τ + Jᵀ f̂ - M a,    f ← f̂ - W T J da,    f̂ = -s'(y + Φ(y) - δ w f)

which leaves out δ w df: as in the method of multipliers, that part vanishes by a factor of about δ with each step.
H = M + Jᵀ W J has the sparse factors of the convex problem. What T adds is a column u = Jᵀ W e₁ and a row v = ∂Φ/∂y J
per contact that slides, so the inverse is that of Woodbury,

    (H + U Vᵀ)⁻¹ = H⁻¹ - H⁻¹ U (1 + Vᵀ H⁻¹ U)⁻¹ Vᵀ H⁻¹

Before, some steps without derivatives bring the solution closer than its tolerance.

Sources: Krantz and Parks, *The Implicit Function Theorem* (2002); Woodbury, "Inverting modified matrices" (1950);
Le Lidec et al., "End-to-end and highly-efficient differentiable simulation for robotics" (2024), arXiv 2409.07107, for
the conditions whose derivatives these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinetree.algorithms.convex_dynamics import Block, Minimum
from kinetree.algorithms.dot import dot
from kinetree.algorithms.ltdl import ltdl, ltdl_solve
from kinetree.algorithms.natural_map import Numbers, RigidContact, inertias, shift, split
from kinetree.algorithms.near_rigid import SHARE
from kinetree.algorithms.row_costs import EllipticCone, OneSided, Response, RowCost
from kinetree.expr import Scalar, is_zero, less, repeat, select, slopes_of

__all__ = ["differentiable"]

_SHARE = 1e-4
"""δ."""
_CLOSER, _STEPS = 4, 4
"""The steps without derivatives, and those with them."""

Vector = Any
"""One entry per degree of freedom, in elimination order."""


def differentiable(M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], found: Minimum) -> Minimum:
    """The solution that was found, with the derivatives of its conditions."""
    n = len(tau)

    def closer(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        a, f = state[:n], split(blocks, state[n:])
        after_a, after_f = _Newton(M, blocks, a, f).step(M, tau, blocks, a, f)
        return [*after_a, *(x for rows in after_f for x in rows)], 0.0

    start = [_constant(x) for x in (*found.acceleration, *(x for rows in found.forces for x in rows))]
    end = [_constant(x) for x in repeat(_CLOSER, start, closer)]
    a, f = list(end[:n]), split(blocks, end[n:])
    newton = _Newton(M, blocks, a, f)
    for _ in range(_STEPS):
        a, f = newton.step(M, tau, blocks, a, f)
    forces = [
        [slopes_of(x, y) for x, y in zip(old, new, strict=True)] for old, new in zip(found.forces, f, strict=True)
    ]
    return Minimum(
        [slopes_of(x, y) for x, y in zip(found.acceleration, a, strict=True)],
        forces,
        _constant(found.error),
        _constant(found.iterations),
    )


class _Newton:
    """The linear equations of a step, at constants."""

    def __init__(self, M: Any, blocks: Sequence[Block], a: Sequence[Scalar], f: Numbers) -> None:
        self._H = _constants(M)
        self._W: list[list[list[Scalar]]] = []
        self._slopes: list[list[Scalar]] = []
        """∂Φ/∂y of each block, without its first zero."""
        U: list[Vector] = []
        self._V: list[Vector] = []
        for block, f_b in zip(blocks, f, strict=True):
            y = _away(block, a)
            W = _symmetric(_response(block.cost, y, f_b))
            slopes = [_constant(x) for x in _slopes_of_shift(block.cost, y)]
            columns = [self._H.column([_constant(x) for x in row]) for row in block.J]
            U_b = self._add(columns, W)
            if slopes:
                U.append(U_b)
                self._V.append(self._sum(slopes, columns[1:]))
            self._W.append(W)
            self._slopes.append(slopes)
        ltdl(self._H)
        self._Z = [self._solved(u) for u in U]
        self._C = [[float(b == d) + self._dot(v, z) for d, z in enumerate(self._Z)] for b, v in enumerate(self._V)]
        _eliminate(self._C)

    def step(
        self, M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], a: Sequence[Scalar], f: Numbers
    ) -> tuple[list[Scalar], list[list[Scalar]]]:
        """The next a and f."""
        left, Ma = M.column(tau), M.times(M.column(a))
        wanted = []
        for block, f_b in zip(blocks, f, strict=True):
            force = _response(block.cost, _away(block, a), f_b).force
            for row, x in zip(block.J, force, strict=True):
                column = M.column(row)
                for k in M.outward:
                    left[k] = left[k] + column[k] * x
            wanted.append(force)
        for k in M.outward:
            left[k] = left[k] - Ma[k]
        da = self._inverse(left)
        forces = []
        for block, force, W, slopes in zip(blocks, wanted, self._W, self._slopes, strict=True):
            moved = [dot(row, da) for row in block.J]
            for slope, x in zip(slopes, moved[1:], strict=False):
                moved[0] = moved[0] + slope * x
            forces.append([f_r - dot(row, moved) for f_r, row in zip(force, W, strict=True)])
        return [x + y for x, y in zip(a, da, strict=True)], forces

    def _inverse(self, right: Vector) -> list[Scalar]:
        """(H + U Vᵀ)⁻¹ r, in the order of v."""
        H = self._H
        x = self._solved(right)
        t = _substituted(self._C, [self._dot(v, x) for v in self._V])
        for z, t_d in zip(self._Z, t, strict=True):
            for k in H.outward:
                x[k] = x[k] - z[k] * t_d
        found: list[Scalar] = H.as_in_v(H.numbers(x))
        return found

    def _add(self, columns: Sequence[Vector], W: Sequence[Sequence[Scalar]]) -> Vector:
        """H += Jᵀ W J; returns Jᵀ W e₁."""
        H = self._H
        products = [self._sum(row, columns) for row in W]
        for column, product in zip(columns, products, strict=True):
            for k in H.outward:
                for i in (k, *H.above(k)):
                    if not is_zero(column[k]) and not is_zero(product[i]):
                        H[k, i] = H[k, i] + column[k] * product[i]
        return products[0]

    def _sum(self, factors: Sequence[Scalar], columns: Sequence[Vector]) -> Vector:
        total = self._H.zeros()
        for x, column in zip(factors, columns, strict=True):
            for k in self._H.outward:
                total[k] = total[k] + x * column[k]
        return total

    def _solved(self, right: Vector) -> Vector:
        """H⁻¹ r."""
        x = self._H.zeros()
        for k in self._H.outward:
            x[k] = right[k]
        ltdl_solve(self._H, x)
        return x

    def _dot(self, x: Vector, y: Vector) -> Scalar:
        total: Scalar = 0.0
        for k in self._H.outward:
            total = total + x[k] * y[k]
        return total


def _away(block: Block, a: Sequence[Scalar]) -> list[Scalar]:
    """J a - a_ref."""
    return [dot(row, a) - reference for row, reference in zip(block.J, block.reference, strict=True)]


def _response(cost: RowCost, y: Sequence[Scalar], f: Sequence[Scalar]) -> Response:
    """f̂ and W."""
    if not isinstance(cost, RigidContact):
        return cost.at(y)
    moved = [y[0] + shift(cost, y), *y[1:]]
    x = [y_k - _SHARE * w_k * f_k for y_k, w_k, f_k in zip(moved, inertias(cost), f, strict=True)]
    return _harder(cost.cost).at(x)


def _harder(cost: EllipticCone | OneSided) -> EllipticCone | OneSided:
    """The cost of a contact with the regularisation δ w."""
    times = SHARE / _SHARE
    if isinstance(cost, OneSided):
        return replace(cost, D=cost.D * times)
    return replace(cost, D=[d * times for d in cost.D])


def _slopes_of_shift(cost: RowCost, y: Sequence[Scalar]) -> list[Scalar]:
    """∂Φ/∂y of the rows after the first; none for rows without a shift."""
    if not isinstance(cost, RigidContact) or isinstance(cost.cost, OneSided):
        return []
    there = shift(cost, y)
    slides = less(0.0, there)
    by = select(slides, 1.0 / select(slides, there, 1.0), 0.0)
    return [mu * mu * y_j * by for mu, y_j in zip(cost.cost.friction, y[1:], strict=True)]


def _symmetric(response: Response) -> list[list[Scalar]]:
    """W as constants, from its lower triangle."""
    W = response.weight
    size = range(len(W))
    return [[_constant(W[max(r, s)][min(r, s)]) for s in size] for r in size]


def _constants(M: Any) -> Any:
    """The same matrix as constants."""
    H = M.copy()
    for k in H.outward:
        for i in (k, *H.above(k)):
            H[k, i] = _constant(H[k, i])
    return H


def _constant(x: Scalar) -> Scalar:
    """The number, without derivatives."""
    found: Scalar = 0.0 if is_zero(x) else slopes_of(x, 0.0)
    return found


def _eliminate(C: list[list[Scalar]]) -> None:
    """C = L U in place, with ones on the diagonal of L."""
    for k, pivot in enumerate(C):
        inverse = 1.0 / pivot[k]
        for row in C[k + 1 :]:
            row[k] = row[k] * inverse
            for j in range(k + 1, len(C)):
                row[j] = row[j] - row[k] * pivot[j]


def _substituted(C: Sequence[Sequence[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    """C⁻¹ r, with the factors of C."""
    x = list(right)
    for k, row in enumerate(C):
        for j in range(k):
            x[k] = x[k] - row[j] * x[j]
    for k in reversed(range(len(C))):
        for j in range(k + 1, len(C)):
            x[k] = x[k] - C[k][j] * x[j]
        x[k] = x[k] * (1.0 / C[k][k])
    return x
