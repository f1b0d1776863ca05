"""The classical Runge-Kutta method on the configuration manifold, with one displacement of the start for each stage.

    ḋ = B(d)⁻¹ v(q₀ ⊕ d),    v̇ = a

is integrated from d = 0 by the classical formula; B(d) v is the velocity of q₀ ⊕ d for a rate v of d
(`JointKind.displacement_rate`). Where displacements commute, B is the identity. Velocities are in axes that do not
turn, as MuJoCo's are, whose steps these are. Fourth order.

Sources: Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical Mathematics 29 (1999); MuJoCo
documentation, "Computation", section on numerical integration, version 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.stages import Stage, State
from kinetree.expr import Scalar
from kinetree.joints import JointKind
from kinetree.tree import Tree

__all__ = ["rk4_step"]

Vector = list[Scalar]


def rk4_step(tree: Tree, past: Sequence[Stage], h: Scalar) -> State:
    """The state of the next stage, or after the step."""
    t = h * (1.0 / 6.0)
    reach = [[0.5 * h], [0.0, 0.5 * h], [0.0, 0.0, h], [t, 2.0 * t, 2.0 * t, t]]
    row = reach[len(past) - 1]
    q_next, v_next = tree.pieces(2)
    for i, _ in tree.outward:
        joint, q, v = tree.joint[i], past[0].q[i], past[0].v[i]
        rates, changes = _rates(joint, [(s.q[i], s.v[i], s.a[i]) for s in past], reach)
        q_i = joint.displaced(q, _added([0.0] * joint.nv, row, rates))
        v_i = joint.seen_from_moving(q_i, _added(joint.seen_from_fixed(q, v), row, changes))
        q_next[i], v_next[i] = joint.rechart(q_i, v_i) if len(past) == len(reach) else (q_i, v_i)
    return q_next, v_next


def _rates(
    joint: JointKind, past: Sequence[tuple[Any, Any, Any]], reach: Sequence[Sequence[Scalar]]
) -> tuple[list[Vector], list[Vector]]:
    """ḋ and v̇ of each stage, in axes that do not turn."""
    rates: list[Vector] = []
    changes: list[Vector] = []
    for k, (q, v, a) in enumerate(past):
        seen = joint.seen_from_fixed(q, v)
        if k:
            seen = joint.displacement_rate(past[0][0], _added([0.0] * joint.nv, reach[k - 1], rates), seen)
        rates.append(seen)
        changes.append(joint.seen_from_fixed(q, [x + y for x, y in zip(a, joint.turning_rate(v), strict=True)]))
    return rates, changes


def _added(x: Sequence[Scalar], row: Sequence[Scalar], rates: Sequence[Sequence[Scalar]]) -> Vector:
    """x + Σ row[k] rates[k]."""
    total = list(x)
    for c, rate in zip(row, rates, strict=True):
        if not isinstance(c, float) or c != 0.0:
            total = [x_k + c * r for x_k, r in zip(total, rate, strict=True)]
    return total
