"""Rigid contacts with Coulomb's friction by Newton's method, the forces of contacts that hold each other, derivatives.

    M a = τ + Jᵀ f,    f = Π(f - (y + δ w (f - p)) / w),    y = J a - a_ref

with the projection Π of natural_map.py. For p = 0 these are contacts that give way by δ w f, all alike. So their forces
are unique, also where more contacts hold than are needed: those with the least Σ w f². With p = f the compliance
vanishes, and the forces remain: each stage solves the equations with the forces of the stage before as p.

A step of Newton's method takes the branch of each contact at z = w f - (y + δ w (f - p)), and has then, with W = w μ₁²,

    open        f⁺ = 0                                                          where z_n < 0
    closed      f⁺_n = p_n - y⁺_n / δ w
    sticking    f⁺_j = p_j - y⁺_j / δ w_j                                       where ‖μ_j z_j‖ ≤ W f_n
    sliding     f⁺_j = μ_j g⁺_j,  g⁺ = û f⁺_n - β (1 - û ûᵀ) (μ_j y⁺_j + δ W (g⁺_j - p_j / μ_j)),
                û = μ_j z_j / ‖μ_j z_j‖,  β = f_n / (‖μ_j z_j‖ - W f_n)

so f⁺ = f̂ - A J da, and

    (M + Jᵀ A J) da = τ + Jᵀ f̂ - M a

A is not symmetric where contacts slide: friction follows from the normal force, and not the other way round. The
matrix has the zeros of the convex problem, and sparse factors L D U.

By the implicit function theorem the derivatives of a stage are those of one such step from constants that satisfy its
equations.

Sources: Alart and Curnier, "A mixed formulation for frictional contact problems prone to Newton like solution methods",
Computer Methods in Applied Mechanics and Engineering 92 (1991); Rockafellar, "Augmented Lagrangians and applications of
the proximal point algorithm", Mathematics of Operations Research 1 (1976); Krantz and Parks, *The Implicit Function
Theorem* (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.ltdl import ldu, ltdl_half, ltdl_rest
from kinetree.algorithms.natural_map import Numbers, RigidContact, away, flat, inertias, residual, split, weights
from kinetree.algorithms.near_rigid import SHARE
from kinetree.algorithms.row_costs import EllipticCone, RowCost
from kinetree.expr import (
    Scalar,
    dot,
    is_zero,
    less,
    less_equal,
    maximum,
    minimum,
    repeat,
    select,
    slopes_of,
    sqrt,
    unless,
)

__all__ = ["differentiated", "newton"]

_COMPLIANCE = 1e-6
"""δ."""
_STEPS, _STAGES = 24, 4
"""The most steps of all stages, and the most stages."""
_CLOSE = 1e-6
"""The residual at which a stage ends, relative to the tolerance; or where it stops shrinking below the tolerance."""
_TINY, _FAR = 1e-300, 1e300


class Solution(NamedTuple):
    """The end of the last stage."""

    acceleration: Sequence[Scalar]
    forces: Numbers
    stages: Sequence[Scalar]
    """Both of the first two stages, which derivatives use."""
    error: Scalar
    """The residual, m/s; huge without two stages."""
    steps: Scalar

    def numbers(self) -> list[Scalar]:
        """All but the number of steps."""
        return [*self.acceleration, *flat(self.forces), *self.stages, self.error]


def newton(
    M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], a: Sequence[Scalar], f: Numbers, h: Scalar, tolerance: float
) -> Solution:
    """The solution near an acceleration and forces."""
    n, size = len(tau), len(tau) + len(flat(f))

    def step(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        a, f, p = state[:n], split(blocks, state[n:size]), split(blocks, state[size : 2 * size - n])
        first, second = state[2 * size - n : 3 * size - n], state[3 * size - n : 4 * size - n]
        stage, before, _, count = state[-4:]
        a, f = _stepped(M, tau, blocks, a, f, p)
        y = away(blocks, a, f)
        left, error = (h * residual(blocks, f, x) for x in (_compliant(blocks, y, f, p), y))
        stops = 1.0 - less(left, 0.5 * before)
        ends = maximum(less_equal(left, _CLOSE * tolerance), less_equal(left, tolerance) * stops)
        after = [*a, *flat(f)]
        first = _where(ends * less(stage, 0.5), after, first)
        second = _where(ends * less(0.5, stage) * less(stage, 1.5), after, second)
        stage = stage + ends
        over = less(1.5, stage) * maximum(less_equal(error, tolerance), less(_STAGES - 0.5, stage))
        held = _where(ends, flat(f), flat(p))
        return [*after, *held, *first, *second, stage, select(ends, _FAR, left), error, count + 1.0], over

    start = [*a, *flat(f)]
    end = repeat(_STEPS, [*start, *([0.0] * (size - n)), *start, *start, 0.0, _FAR, _FAR, 0.0], step)
    error = select(less(1.5, end[-4]), end[-2], _FAR)
    return Solution(list(end[:n]), split(blocks, end[n:size]), end[2 * size - n : 4 * size - n], error, end[-1])


def differentiated(
    M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], first: Sequence[Scalar], second: Sequence[Scalar]
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """The acceleration and the forces of the second stage, with derivatives."""
    n, a = len(tau), list[Scalar]()
    p: list[list[Scalar]] = [[0.0] * len(block.J) for block in blocks]
    for stage in (first, second):
        constants = [_constant(x) for x in stage]
        a, p = _stepped(M, tau, blocks, constants[:n], split(blocks, constants[n:]), p)
    return a, p


def _stepped(
    M: Any, tau: Sequence[Scalar], blocks: Sequence[Block], a: Sequence[Scalar], f: Numbers, p: Numbers
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """a and f after a step of Newton's method; its matrix has no derivatives."""
    H = M.copy()
    for k in H.outward:
        for i in (k, *H.above(k)):
            H[k, i] = _constant(H[k, i])
    U = H.copy()
    left, Ma = M.column(tau), M.times(M.column(a))
    for k in M.outward:
        left[k] = left[k] - Ma[k]
    laws = [_add(H, U, left, block, a, f_b, p_b) for block, f_b, p_b in zip(blocks, f, p, strict=True)]
    ldu(H, U)
    ltdl_half(U, left)
    ltdl_rest(H, left)
    da = M.in_v(left)
    forces = []
    for block, (force, A) in zip(blocks, laws, strict=True):
        moved = [dot(row, da) for row in block.J]
        forces.append([f_r - dot(row, moved) for f_r, row in zip(force, A, strict=True)])
    return [x + y for x, y in zip(a, da, strict=True)], forces


def _add(
    H: Any, U: Any, left: Any, block: Block, a: Sequence[Scalar], f: Sequence[Scalar], p: Sequence[Scalar]
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Add Jᵀ A J to the matrix, whose upper triangle is that of Uᵀ, and Jᵀ f̂ to the right side; return f̂ and A."""
    size = len(block.J)
    columns = [H.column(row) for row in block.J]
    used = [k for k in H.outward if any(not is_zero(column[k]) for column in columns)]
    places = [(k, i) for k in used for i in (*H.above(k), k) if i in used]

    def step(state: Sequence[Scalar]) -> list[Scalar]:
        given = iter(state)
        lower, upper = ([next(given) for _ in places] for _ in range(2))
        right = [next(given) for _ in used]
        y = [dot(row, a) - reference for row, reference in zip(block.J, block.reference, strict=True)]
        force, A = _law(block.cost, y, f, p)
        for column, f_r in zip(columns, force, strict=True):
            right = [x + column[k] * f_r for x, k in zip(right, used, strict=True)]
        J = [{k: _constant(column[k]) for k in used} for column in columns]
        AJ = [{k: dot(row, [column[k] for column in J]) for k in used} for row in A]
        for one, other in zip(J, AJ, strict=True):
            lower = [x + one[k] * other[i] for x, (k, i) in zip(lower, places, strict=True)]
            upper = [x + one[i] * other[k] for x, (k, i) in zip(upper, places, strict=True)]
        return [*lower, *upper, *right, *force, *(x for row in A for x in row)]

    start = [*(H[place] for place in places), *(U[place] for place in places), *(left[k] for k in used)]
    results = iter(unless(block.idle, [*start, *([0.0] * (size + size * size))], step))
    for matrix in (H, U):
        for place in places:
            matrix[place] = next(results)
    for k in used:
        left[k] = next(results)
    return [next(results) for _ in range(size)], [[next(results) for _ in range(size)] for _ in range(size)]


def _law(
    cost: RowCost, y: Sequence[Scalar], f: Sequence[Scalar], p: Sequence[Scalar]
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """f̂ and A, which has no derivatives, where a step begins."""
    if not isinstance(cost, RigidContact):
        response, rows = cost.at(y), range(cost.size)
        return [*response.force], [[_constant(response.weight[max(r, s)][min(r, s)]) for s in rows] for r in rows]
    stiffness = [d * (SHARE / _COMPLIANCE) for d in weights(cost)]
    w = inertias(cost)
    z = [w_k * f_k - (y_k + _COMPLIANCE * w_k * (f_k - p_k)) for w_k, f_k, y_k, p_k in zip(w, f, y, p, strict=True)]
    closed = less(0.0, z[0])
    held = [p_k - k * y_k for p_k, k, y_k in zip(p, stiffness, y, strict=True)]
    normal, hardness = select(closed, held[0], 0.0), select(closed, stiffness[0], 0.0)
    if not isinstance(cost.cost, EllipticCone):
        return [normal], [[_constant(hardness)]]
    mu = cost.cost.friction
    W, pressed = w[0] * mu[0] * mu[0], maximum(0.0, f[0])
    along = [mu_k * z_k for mu_k, z_k in zip(mu, z[1:], strict=True)]
    squared: Scalar = _TINY
    for x in along:
        squared = squared + x * x
    size = sqrt(squared)
    direction = [x * (1.0 / size) for x in along]
    gap = size - W * pressed
    slides = less(0.0, gap)
    softness = stiffness[0] * (1.0 / (mu[0] * mu[0]))
    bend = minimum(pressed / select(slides, maximum(gap, _TINY), 1.0), softness)
    bend = bend * (1.0 / (1.0 + bend * (_COMPLIANCE * W)))
    rest = [
        mu_k * y_k - (_COMPLIANCE * W) * (p_k * (1.0 / mu_k)) for mu_k, y_k, p_k in zip(mu, y[1:], p[1:], strict=True)
    ]
    ahead = dot(direction, rest)
    force, A = [normal], [[hardness, *([0.0] * len(mu))]]
    for k, (mu_k, u_k, rest_k) in enumerate(zip(mu, direction, rest, strict=True)):
        sliding = mu_k * (u_k * normal - bend * (rest_k - u_k * ahead))
        force.append(select(closed, select(slides, sliding, held[1 + k]), 0.0))
        row = [select(slides, mu_k * u_k * hardness, 0.0)]
        for i, (mu_i, u_i) in enumerate(zip(mu, direction, strict=True)):
            across = mu_k * mu_i * bend * (float(i == k) - u_k * u_i)
            row.append(select(closed, select(slides, across, stiffness[1 + k] if i == k else 0.0), 0.0))
        A.append(row)
    return force, [[_constant(x) for x in row] for row in A]


def _compliant(blocks: Sequence[Block], y: Numbers, f: Numbers, p: Numbers) -> list[list[Scalar]]:
    """y + δ w (f - p) of rigid contacts."""
    rows = []
    for block, y_b, f_b, p_b in zip(blocks, y, f, p, strict=True):
        is_rigid = isinstance(block.cost, RigidContact)
        w = inertias(block.cost) if is_rigid else [0.0] * len(y_b)
        numbers = zip(y_b, w, f_b, p_b, strict=True)
        rows.append([y_k + _COMPLIANCE * w_k * (f_k - p_k) for y_k, w_k, f_k, p_k in numbers])
    return rows


def _constant(x: Scalar) -> Scalar:
    """The number, without derivatives."""
    number: Scalar = 0.0 if is_zero(x) else slopes_of(x, 0.0)
    return number


def _where(condition: Scalar, numbers: Sequence[Scalar], others: Sequence[Scalar]) -> list[Scalar]:
    return [select(condition, x, y) for x, y in zip(numbers, others, strict=True)]
