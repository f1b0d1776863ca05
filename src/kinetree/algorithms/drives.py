"""What acts along joints besides rigid bodies: viscous and Coulomb friction, springs, and the limits of motors.

    damping    -d v
    friction   -F tanh(v / v_s), a jump at v = 0 rounded off within the speed v_s
    spring     -∂/∂q of k/2 |q - rest|², with the difference that the joint's manifold has

A motor gives at most its effort, and at its greatest velocity it pushes no further.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from kinetree.expr import Scalar, less, maximum, minimum, select, tanh
from kinetree.model import Tree

__all__ = ["PASSIVE", "limited", "passive_forces", "spring_energy"]

PASSIVE = ("damping", "friction", "spring")

Slots = Sequence[Sequence[Scalar]]


def passive_forces(tree: Tree, q: Slots, qd: Slots, which: Collection[str], tau: Slots) -> Any:
    """tau and the passive forces that are named."""
    (total,) = tree.slots(1)
    for i, _ in tree.outward:
        drive, forces = tree.drive[i], list(tau[i])
        if "damping" in which:
            forces = [f - d * v for f, d, v in zip(forces, drive.damping, qd[i], strict=True)]
        if "friction" in which:
            rows = zip(forces, drive.friction, drive.friction_speed, qd[i], strict=True)
            forces = [f - F * tanh(v / speed) for f, F, speed, v in rows]
        if "spring" in which:
            moved = tree.joint[i].difference(drive.rest, q[i])
            _, J = tree.joint[i].difference_jacobians(drive.rest, q[i])
            pull = [k * d for k, d in zip(drive.stiffness, moved, strict=True)]
            forces = [f - sum((row[n] * p for row, p in zip(J, pull, strict=True)), 0.0) for n, f in enumerate(forces)]
        total[i] = forces
    return total


def spring_energy(tree: Tree, q: Slots) -> Scalar:
    """Stored in the springs."""
    (twice,) = tree.slots(1)
    twice[0] = 0.0
    for i, _ in tree.outward:
        moved = tree.joint[i].difference(tree.drive[i].rest, q[i])
        twice[i] = 0.0
        for k, d in zip(tree.drive[i].stiffness, moved, strict=True):
            twice[i] = twice[i] + k * d * d
        twice[0] = twice[0] + twice[i]
    energy: Scalar = 0.5 * twice[0]
    return energy


def limited(tree: Tree, tau: Slots, qd: Slots) -> Any:
    """What motors give of tau: no more than their effort, and nothing that drives a joint beyond its velocity."""
    (given,) = tree.slots(1)
    for i, _ in tree.outward:
        drive = tree.drive[i]
        given[i] = [
            _within(t, v, effort, velocity)
            for t, v, effort, velocity in zip(tau[i], qd[i], drive.effort, drive.velocity, strict=True)
        ]
    return given


def _within(t: Scalar, v: Scalar, effort: Scalar, velocity: Scalar) -> Scalar:
    if effort != math.inf:
        t = maximum(minimum(t, effort), -effort)
    if velocity != math.inf:
        t = select(less(v, velocity), t, minimum(t, 0.0))
        t = select(less(-velocity, v), t, maximum(t, 0.0))
    return t
