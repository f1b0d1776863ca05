"""The variational midpoint rule: a step that makes the sum of discrete Lagrangians stationary.

    Λ(q₀, q₁) = h L(q₀ ⊕ ½ x, x / h),    x = q₁ ⊖ q₀

With p the momentum along the joints, M v, and F = ∂L/∂q + τ at the midpoint, the step solves

    p₀ = Jₗ(x)⁻ᵀ (M ξ - ½ h Jₗ(½ x)ᵀ F),    p₁ = Jᵣ(x)⁻ᵀ (M ξ + ½ h Jᵣ(½ x)ᵀ F),    ξ = x / h

for x, where Jₗ and Jᵣ are the left and right Jacobians of the displacement of each joint. The step is symplectic and
symmetric, of order two; momentum that the robot keeps, it keeps, and the error of the energy does not grow. Friction
and motors act at the midpoint.

∂L/∂q = Cᵀ v - g - ad*(v) M v with the Coriolis matrix C, since Ṁ = C + Cᵀ; and ad(x) = Jᵣ⁻¹ - Jₗ⁻¹.

Sources: Marsden and West, "Discrete mechanics and variational integrators", Acta Numerica 10 (2001); Bou-Rabee and
Marsden, "Hamilton-Pontryagin integrators on Lie groups", Foundations of Computational Mathematics 9 (2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kinetree.algorithms.coriolis_matrix import coriolis_matrix
from kinetree.algorithms.crba import crba
from kinetree.algorithms.drives import driven
from kinetree.algorithms.forward_dynamics import unbalanced
from kinetree.algorithms.ltdl import ltdl, ltdl_solve
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.stages import Applied, Loads, Slots
from kinetree.collision.repeated import repeated
from kinetree.expr import Scalar, less_equal, maximum, repeat, slopes_of, sqrt
from kinetree.spatial import Motion
from kinetree.tree import Tree

__all__ = ["MidpointEnd", "midpoint_step"]

_ITERATIONS = 12
_FOR_DERIVATIVES = 8
"""Iterations from the solution: they leave it as it is, and find its derivatives; only these need them."""
_TOLERANCE = 1e-13
_TINY = 1e-300


class MidpointEnd(NamedTuple):
    """The state after a step, from slot 1 on, the activations, and how exactly the step's equation was solved."""

    q: Slots
    v: Slots
    act: Sequence[Scalar]
    error: Scalar
    """The change in the last iteration, in the norm of M, relative to the momentum."""


def midpoint_step(tree: Tree, q: Slots, v: Slots, dt: Scalar, loads: Loads, act: Sequence[Scalar] = ()) -> MidpointEnd:
    """The state after a step of dt, by iterations with the mass matrix at its beginning."""
    own, tree = tree, tree.rebuilt(_with_fixed_axes)
    act_mid, act_next = _activations(own, q, v, dt, loads.applied, act) if loads.applied else (act, act)
    start = tree.pieces()
    for i, _ in tree.outward:
        start[i] = own.joint[i].seen_from_fixed(q[i], v[i])
    begun = tree.numbers(start[1:], "nv")
    M: Any = crba(tree, q).sparse()
    p_0 = M.times(M.column(begun))
    L = M.copy()
    ltdl(L)

    def iterate(state: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
        xi, _ = state[:-1], state[-1]
        ends = _momenta(tree, own, q, tree.split(xi, "nv"), dt, loads, act_mid)
        p = M.column(tree.numbers(ends[0], "forces"))
        r, change = M.zeros(), M.zeros()
        for k in M.outward:
            r[k] = change[k] = p[k] - p_0[k]
        ltdl_solve(L, change)
        size: Scalar = 0.0
        for k in M.outward:
            size = size + r[k] * change[k]
        scale: Scalar = _TINY
        for x, y in zip(xi, M.in_v(p), strict=True):
            scale = scale + x * y
        error = sqrt(maximum(size, 0.0) / maximum(scale, _TINY))
        moved = [x - y for x, y in zip(xi, M.in_v(change), strict=True)]
        return [*moved, error], less_equal(error, _TOLERANCE)

    *solution, error = repeat(_ITERATIONS, [*begun, 0.0], iterate)
    fixed = [slopes_of(x, 0.0) for x in solution]
    again = repeated(_FOR_DERIVATIVES, fixed, lambda xi: iterate([*xi, 0.0])[0][:-1])
    xi = tree.split([slopes_of(x, y) for x, y in zip(solution, again, strict=True)], "nv")
    _, p_1 = _momenta(tree, own, q, xi, dt, loads, act_mid)
    q_1 = tree.pieces()
    for i, _ in tree.outward:
        q_1[i] = tree.joint[i].integrate(q[i], [dt * x for x in xi[i]])
    L = crba(tree, q_1).sparse()
    v_1 = L.column(tree.numbers(p_1, "forces"))
    ltdl(L)
    ltdl_solve(L, v_1)
    v_next = tree.in_slots(L.pieces(v_1))
    q_end, v_end = tree.pieces(2)
    for i, _ in tree.outward:
        q_end[i], v_end[i] = own.joint[i].rechart(q_1[i], own.joint[i].seen_from_moving(q_1[i], v_next[i]))
    return MidpointEnd(q_end[1:], v_end[1:], act_next, slopes_of(error, 0.0))


def _activations(
    own: Tree, q: Slots, v: Slots, dt: Scalar, applied: Applied, act: Sequence[Scalar]
) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
    """The activations at the midpoint, and after the step.

    w₁ = 2 (two half steps) - (one whole step), which is of order two for Euler's steps, and exact for exact ones.
    """

    def after(w: Sequence[Scalar], t: Scalar) -> Sequence[Scalar]:
        return applied.after(w, applied.at(own, q, v, w, dt).rates, t)

    middle, full = after(act, 0.5 * dt), after(act, dt)
    extrapolated = [2.0 * x - y for x, y in zip(after(middle, 0.5 * dt), full, strict=True)]
    return middle, applied.after(extrapolated, [0.0] * len(act), 0.0)


def _with_fixed_axes(tree: Any) -> Any:
    """The tree whose free joints have velocities in axes that do not turn: their displacements are separate
    translations and rotations, not screws, which makes errors much smaller."""
    return replace(tree, joint=tuple(kind.in_fixed_axes() for kind in tree.joint))


def _acting(own: Tree, middle: Slots, xi: Slots, dt: Scalar, loads: Loads, act: Sequence[Scalar]) -> Any:
    """The joint forces at the midpoint; `own` is the tree in whose axes they are given."""
    v, forces = own.pieces(2)
    for i, _ in own.outward:
        v[i] = own.joint[i].seen_from_moving(middle[i], xi[i])
    acting = driven(own, middle, v, loads.tau, loads.passive, loads.limits)
    pulled = loads.applied.at(own, middle, v, act, dt).forces if loads.applied else own.at_rest()
    for i, _ in own.outward:
        total = [x + y for x, y in zip(acting[i], pulled[i], strict=True)]
        forces[i] = own.joint[i].seen_from_fixed(middle[i], total)
    return forces


def _momenta(
    tree: Tree, own: Tree, q: Slots, xi: Slots, dt: Scalar, loads: Loads, act: Sequence[Scalar]
) -> tuple[Any, Any]:
    """p₀ and p₁ along each joint, from slot 1 on, for a mean velocity ξ."""
    middle, momentum_0, momentum_1 = tree.pieces(3)
    for i, _ in tree.outward:
        middle[i] = tree.joint[i].integrate(q[i], [0.5 * dt * x for x in xi[i]])
    rest = tree.at_rest()
    P = tree.in_slots(rnea(tree.with_gravity(Motion.zero()), middle, rest, xi))
    acting = _acting(own, middle, xi, dt, loads, act)
    F = list(unbalanced(tree, middle, rest, acting, loads.f_ext and loads.f_ext(middle)))
    for (i, j), block in coriolis_matrix(tree, middle, xi).items():
        for row, rate in zip(block, xi[i], strict=True):
            F[j] = [f + c * rate for f, c in zip(F[j], row, strict=True)]
    for i, _ in tree.outward:
        joint, x, hF = tree.joint[i], [dt * x for x in xi[i]], [dt * f for f in F[i]]
        before = after = list(P[i])
        if joint.is_flat:
            momentum_0[i] = [p - 0.5 * f for p, f in zip(before, hF, strict=True)]
            momentum_1[i] = [p + 0.5 * f for p, f in zip(after, hF, strict=True)]
            continue
        back, forth = joint.difference_jacobians(q[i], joint.integrate(q[i], x))
        turned = [a + b for a, b in zip(_transposed_times(back, P[i]), _transposed_times(forth, P[i]), strict=True)]
        hF = [f - t for f, t in zip(hF, turned, strict=True)]
        _, left = joint.integrate_jacobians(q[i], [-0.5 * a for a in x])
        _, right = joint.integrate_jacobians(q[i], [0.5 * a for a in x])
        before = [p - 0.5 * f for p, f in zip(before, _transposed_times(left, hF), strict=True)]
        after = [p + 0.5 * f for p, f in zip(after, _transposed_times(right, hF), strict=True)]
        momentum_0[i] = [-p for p in _transposed_times(back, before)]
        momentum_1[i] = _transposed_times(forth, after)
    return momentum_0[1:], momentum_1[1:]


def _transposed_times(J: Sequence[Sequence[Scalar]], p: Sequence[Scalar]) -> list[Scalar]:
    """Jᵀ p."""
    total: list[Scalar] = [0.0] * len(J[0])
    for row, p_k in zip(J, p, strict=True):
        total = [x + c * p_k for x, c in zip(total, row, strict=True)]
    return total
