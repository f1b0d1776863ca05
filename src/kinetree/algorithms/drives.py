"""Forces along joints other than those of rigid bodies: viscous and Coulomb friction, springs, and motor limits.

    damping    -d v
    friction   -F tanh(v / v_s), its jump at v = 0 smoothed over the speed v_s
    spring     -∂/∂q of k/2 |q - rest|², with the difference on the joint's manifold

A motor gives at most its effort limit, and drives no joint beyond its velocity limit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from kinetree import expr
from kinetree.expr import Port, Program, Scalar, less, maximum, minimum, select, tanh
from kinetree.joints.base import JointKind, Matrix
from kinetree.tree import Tree
from kinetree.tree.drive import Drive

__all__ = [
    "BRAKES",
    "PASSIVE",
    "brake_coefficient",
    "braked",
    "driven",
    "limited",
    "passive_derivatives",
    "passive_forces",
    "power",
    "spring_derivatives",
    "spring_energy",
    "spring_forces",
    "undriven",
]

PASSIVE = ("damping", "friction", "spring")
BRAKES = ("damping", "friction")
"""The passive forces that dissipate energy."""

Slots = Sequence[Sequence[Scalar]]


def passive_forces(tree: Tree, q: Slots, qd: Slots, which: Collection[str]) -> Any:
    """The named passive forces along each joint."""
    passive = tree.pieces()
    for i, _ in tree.outward:
        drive = tree.drive[i]
        forces: list[Scalar] = [0.0] * tree.joint[i].nv
        if "damping" in which:
            forces = [f - d * v for f, d, v in zip(forces, drive.damping, qd[i], strict=True)]
        if "friction" in which:
            rows = zip(forces, drive.friction, drive.friction_speed, qd[i], strict=True)
            forces = [f - F * tanh(v / speed) for f, F, speed, v in rows]
        if "spring" in which and _has_spring(drive.stiffness):
            pull = spring_forces(tree.joint[i], q[i], drive.stiffness, drive.rest)
            forces = [f + s for f, s in zip(forces, pull, strict=True)]
        passive[i] = forces
    return passive


def passive_derivatives(tree: Tree, q: Slots, qd: Slots, which: Collection[str]) -> tuple[Any, Any]:
    """Derivatives of the named passive forces by displacements and by rates: one block per joint that has any."""
    by_q: dict[int, Any] = {}
    by_v: dict[int, Any] = {}
    for i, _ in tree.outward:
        drive, n = tree.drive[i], tree.joint[i].nv
        slopes: list[Scalar] = [0.0] * n
        if "damping" in which:
            slopes = [s - d for s, d in zip(slopes, drive.damping, strict=True)]
        if "friction" in which:
            bends = [tanh(v / speed) for v, speed in zip(qd[i], drive.friction_speed, strict=True)]
            rows = zip(slopes, drive.friction, drive.friction_speed, bends, strict=True)
            slopes = [s - F / speed * (1.0 - bend * bend) for s, F, speed, bend in rows]
        if any(s != 0.0 for s in slopes):
            by_v[i] = [[s if k == m else 0.0 for m in range(n)] for k, s in enumerate(slopes)]
        if "spring" in which and _has_spring(drive.stiffness):
            by_q[i] = spring_derivatives(tree.joint[i], q[i], drive.stiffness, drive.rest)
    return by_q, by_v


def driven(tree: Tree, q: Slots, qd: Slots, tau: Slots, passive: Collection[str], limits: bool) -> Any:
    """Total force along joints commanded tau: the part that motors give of it, plus the named passive forces."""
    if limits:
        tau = limited(tree, tau, qd)
    if not passive:
        return tau
    forces = passive_forces(tree, q, qd, passive)
    total = tree.pieces()
    for i, _ in tree.outward:
        total[i] = [t + f for t, f in zip(tau[i], forces[i], strict=True)]
    return total


def undriven(tree: Tree, q: Slots, qd: Slots, tau: Any, passive: Collection[str]) -> Any:
    """The part of tau left to drives in addition to the named passive forces; pieces start at slot 1."""
    if not passive:
        return tau
    forces, left, tau = passive_forces(tree, q, qd, passive), tree.pieces(), tree.in_slots(tau)
    for i, _ in tree.outward:
        left[i] = [t - f for t, f in zip(tau[i], forces[i], strict=True)]
    return left[1:]


def braked(tree: Tree, qd: Slots, dt: Scalar, which: Collection[str]) -> Tree:
    """The tree in which friction acts at the velocity at the end of a step of dt.

    With friction written as -c(v) (v + dt q̈), M q̈ + h = τ - c (v + dt q̈) becomes (M + dt c) q̈ + h = τ - c v: dt c
    is added to the armatures.
    """
    if not which:
        return tree
    armature = tree.pieces()
    armature[0] = ()
    for i, _ in tree.outward:
        coefficients = _brake_coefficients(tree.drive[i], qd[i], which)
        armature[i] = tuple(A + dt * c for A, c in zip(tree.armature[i], coefficients, strict=True))
    return tree.with_armature(armature)


def _brake_coefficients(drive: Drive, qd: Sequence[Scalar], which: Collection[str]) -> list[Scalar]:
    damping = drive.damping if "damping" in which else [0.0] * len(drive.damping)
    friction = drive.friction if "friction" in which else [0.0] * len(drive.friction)
    rows = zip(qd, damping, friction, drive.friction_speed, strict=True)
    return [brake_coefficient(v, d, F, speed) for v, d, F, speed in rows]


def brake_coefficient(v: Any, damping: Any, friction: Any, speed: Any) -> Any:
    """c with damping v + friction tanh(v / speed) = c v: the viscous damping that brakes as hard at this speed."""
    x = v / speed
    is_small = less(x * x, 1e-8)  # then tanh(x) / x is 1 - x²/3 to rounding
    return damping + friction / speed * select(is_small, 1.0 - x * x * (1.0 / 3.0), tanh(x) / select(is_small, 1.0, x))


def power(tree: Tree, qd: Slots, at: Slots, tau: Slots, passive: Collection[str]) -> tuple[Scalar, Scalar]:
    """At rates `at`, the power of the forces tau, and the power lost to friction as it is at rates qd."""
    given, lost = tree.scalars(2)
    given[0] = lost[0] = 0.0
    for i, _ in tree.outward:
        coefficients = _brake_coefficients(tree.drive[i], qd[i], passive)
        for t, c, v in zip(tau[i], coefficients, at[i], strict=True):
            given[0] = given[0] + t * v
            lost[0] = lost[0] + c * v * v
    return given[0], lost[0]


def spring_energy(tree: Tree, q: Slots) -> Scalar:
    """The energy stored in the springs."""
    twice = tree.scalars()
    twice[0] = 0.0
    for i, _ in tree.outward:
        drive = tree.drive[i]
        twice[i] = 0.0
        if _has_spring(drive.stiffness):
            for k, d in zip(drive.stiffness, tree.joint[i].difference(drive.rest, q[i]), strict=True):
                twice[i] = twice[i] + k * d * d
        twice[0] = twice[0] + twice[i]
    energy: Scalar = 0.5 * twice[0]
    return energy


def limited(tree: Tree, tau: Slots, qd: Slots) -> Any:
    """The part of tau that motors give: at most their effort, and nothing that drives a joint beyond its limit."""
    given = tree.pieces()
    for i, _ in tree.outward:
        limits = tree.limits[i]
        given[i] = [
            _within(t, v, effort, velocity)
            for t, v, effort, velocity in zip(tau[i], qd[i], limits.effort, limits.velocity, strict=True)
        ]
    return given


def _has_spring(stiffness: Sequence[Scalar]) -> bool:
    """False only if there is known to be none; the difference to the rest position is then never computed."""
    return any(k != 0.0 for k in stiffness)


def _within(t: Scalar, v: Scalar, effort: Scalar, velocity: Scalar) -> Scalar:
    if effort != math.inf:
        t = maximum(minimum(t, effort), -effort)
    if velocity != math.inf:
        t = select(less(v, velocity), t, minimum(t, 0.0))
        t = select(less(-velocity, v), t, maximum(t, 0.0))
    return t


def spring_forces(kind: JointKind, q: Sequence[Any], stiffness: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
    """The spring forces, one per degree of freedom."""
    moved = kind.difference(rest, q)
    _, J = kind.difference_jacobians(rest, q)
    pull = [k * d for k, d in zip(stiffness, moved, strict=True)]
    return [-sum((row[n] * p for row, p in zip(J, pull, strict=True)), 0.0) for n in range(kind.nv)]


def spring_derivatives(kind: JointKind, q: Sequence[Any], stiffness: Sequence[Any], rest: Sequence[Any]) -> Matrix:
    """Derivatives of the forces (rows) with respect to a displacement along each degree of freedom (columns)."""
    if kind.is_flat:
        return [[-k if m == n else 0.0 for m in range(kind.nv)] for n, k in enumerate(stiffness)]
    derivative = _derivative(kind)
    units = [[float(j == k) for j in range(kind.nv)] for k in range(kind.nv)]
    columns = [expr.replay(derivative, q, stiffness, rest, kind.rates(q, unit))[1] for unit in units]
    return [list(row) for row in zip(*columns, strict=True)]


@lru_cache(maxsize=256)
def _derivative(kind: JointKind) -> Program:
    def forces(q: Sequence[Any], stiffness: Sequence[Any], rest: Sequence[Any]) -> list[list[Any]]:
        return [spring_forces(kind, q, stiffness, rest)]

    ports = [Port("q", (kind.nq,)), Port("stiffness", (kind.nv,)), Port("rest", (kind.nq,))]
    return expr.forward_derivative(expr.trace(forces, ports, [Port("force", (kind.nv,))], "spring"), [0])
