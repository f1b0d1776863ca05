"""The motion near a configuration as a differential equation in a vector space.

    q = q₀ ⊕ d,    ḋ = B(d)⁻¹ w,    ẇ = a

d is the displacement from q₀; w are the velocities in axes that do not turn, in which they can be added
(`JointKind.seen_from_fixed`); B(d) ḋ is the velocity of q₀ ⊕ d (`JointKind.displacement_rate`). So any method for
vectors keeps its order on the manifold, and its interpolation is on it. The powers of motors and of friction are
integrated with them, as rates of the energies exchanged.

Source: Munthe-Kaas, "High order Runge-Kutta methods on manifolds", Applied Numerical Mathematics 29 (1999).
"""

from __future__ import annotations

from typing import NamedTuple

from kinetree.algorithms.stages import Loads, Slots, State, evaluated, stage_powers
from kinetree.expr import Scalar
from kinetree.tree import Tree

__all__ = ["DisplacementRates", "displaced_state", "displacement_rates", "fixed_velocity"]


class DisplacementRates(NamedTuple):
    """Rates of change, by slots from 0 on."""

    d: Slots
    w: Slots
    given: Scalar
    """The power of motors and external forces."""
    lost: Scalar
    """The power lost to friction."""
    error: Scalar
    """How exactly contacts were solved; 0 without any."""


def displacement_rates(tree: Tree, start: Slots, d: Slots, q: Slots, v: Slots, loads: Loads) -> DisplacementRates:
    """ḋ, ẇ and the powers at the displacement d from a start, where the state is q and v (`displaced_state`).

    Soft constraints are as without a step.
    """
    d_rate, w_rate = tree.pieces(2)
    evaluation = evaluated(tree, "nothing", q, v, 0.0, loads)
    given, lost = stage_powers(tree, "nothing", q, v, 0.0, loads, evaluation)
    for i, _ in tree.outward:
        joint = tree.joint[i]
        a = [x + y for x, y in zip(evaluation.a[i], joint.turning_rate(v[i]), strict=True)]
        d_rate[i] = joint.displacement_rate(start[i], d[i], joint.seen_from_fixed(q[i], v[i]))
        w_rate[i] = joint.seen_from_fixed(q[i], a)
    return DisplacementRates(d_rate, w_rate, given, lost, evaluation.error)


def displaced_state(tree: Tree, start: Slots, d: Slots, w: Slots, *, recharts: bool) -> State:
    """q and v at a displacement from a start; if asked for, in coordinates far from their singularities.

    Displacements from the start go on to count in its own coordinates: those of stages are not changed.
    """
    q, v = tree.pieces(2)
    for i, _ in tree.outward:
        joint = tree.joint[i]
        q_i = joint.displaced(start[i], d[i])
        v_i = joint.seen_from_moving(q_i, w[i])
        q[i], v[i] = joint.rechart(q_i, v_i) if recharts else (q_i, v_i)
    return q, v


def fixed_velocity(tree: Tree, q: Slots, v: Slots) -> Slots:
    """w of a state."""
    w = tree.pieces()
    for i, _ in tree.outward:
        w[i] = tree.joint[i].seen_from_fixed(q[i], v[i])
    return w
