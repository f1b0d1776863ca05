"""Semi-implicit Euler on the configuration manifold: the new velocity first, then the displacement by it.

    v⁺ = v + h a,    q⁺ = q ⊕ h v⁺

Velocities are added in axes that do not turn (`JointKind.seen_from_fixed`): a free body that spins keeps its linear
momentum exactly, and MuJoCo, whose free joints have such velocities, takes the same step. A step ends in coordinates
far from their singularities (`JointKind.rechart`).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.stages import Stage, State
from kinetree.expr import Scalar
from kinetree.tree import Tree

__all__ = ["euler_step"]


def euler_step(tree: Tree, past: Sequence[Stage], h: Scalar) -> State:
    """The state after the step. First order."""
    ((q, v, a),) = past
    q_next, v_next = tree.pieces(2)
    for i, _ in tree.outward:
        joint = tree.joint[i]
        rate = [x + y for x, y in zip(a[i], joint.turning_rate(v[i]), strict=True)]
        before, change = joint.seen_from_fixed(q[i], v[i]), joint.seen_from_fixed(q[i], rate)
        after = [x + h * y for x, y in zip(before, change, strict=True)]
        q_i = joint.displaced(q[i], [h * x for x in after])
        q_next[i], v_next[i] = joint.rechart(q_i, joint.seen_from_moving(q_i, after))
    return q_next, v_next
