"""Momentum of everything that moves, its rate of change, and the power that enters.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 2.12 (h = I v); momentum is passed to parents as
forces are in Table 5.1.
Names here <-> table:  p <-> λ(i),  X[i] <-> ⁱX_λ(i).
Geared rotors (section 9.6) spin on the parent: G q̇ is their momentum in addition to their share in its inertia.
Armatures are inertia about the joint alone and have no momentum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.kinematics import velocities
from kinetree.expr import Scalar
from kinetree.spatial import Force, ForceBasis, Motion, Transform
from kinetree.tree import Tree

__all__ = ["carried_forces", "carried_momenta", "carried_momentum_rates", "mechanical_power", "momentum"]

Slots = Sequence[Sequence[Scalar]]


def momentum(tree: Tree, q: Slots, qd: Slots) -> Force:
    """Momentum of everything, in the world's coordinates and about the world's origin."""
    _, h = carried_momenta(tree, q, qd)
    return h[0]


def carried_momenta(tree: Tree, q: Slots, qd: Slots) -> tuple[list[Transform], list[Force]]:
    """ⁱX_λ(i), and the momentum of body i and all that it carries, in its coordinates."""
    X = tree.slots(Transform)
    v = tree.slots(Motion)
    h = tree.slots(Force)
    spin = tree.slots(Force)
    v[0], h[0] = Motion.zero(), Force.zero()
    for i, p in tree.outward:
        X_J, _, v_J, _ = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        h[i] = tree.I[i] @ v[i]
        spin[i] = ForceBasis.couples(tree.rotor[i], X_J) @ qd[i]
    for i, p in tree.inward:
        h[p] = h[p] + X[i].back(h[i] + spin[i])
    return X, h


def carried_momentum_rates(tree: Tree, q: Slots, qd: Slots, qdd: Slots) -> tuple[list[Transform], list[Force]]:
    """ⁱX_λ(i), and the derivative of the momentum of body i and all that it carries."""
    return carried_forces(tree, q, qd, qdd, Motion.zero())


def carried_forces(
    tree: Tree, q: Slots, qd: Slots, qdd: Slots, a_0: Motion, f_ext: Mapping[int, Force] | None = None
) -> tuple[list[Transform], list[Force]]:
    """ⁱX_λ(i), and the force that body i and all that it carries require in addition to f_ext: fᵢ of Table 5.1.

    The root is accelerated by a_0, opposite to gravity.
    """
    f_ext = f_ext or {}
    X = tree.slots(Transform)
    v, a = tree.slots(Motion, 2)
    f, g = tree.slots(Force, 2)
    v[0], a[0] = Motion.zero(), a_0
    f[0] = tree.I[0] @ a_0
    if 0 in f_ext:
        f[0] = f[0] - f_ext[0]
    for i, p in tree.outward:
        X_J, S, v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        a[i] = X[i] @ a[p] + S @ qdd[i] + c_J + v[i].cross(v_J)
        f[i] = tree.I[i] @ a[i] + v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            f[i] = f[i] - f_ext[i]
        G = ForceBasis.couples(tree.rotor[i], X_J)
        g[i] = G @ qdd[i] + (v[i] - v_J).cross(G @ qd[i])
    for i, p in tree.inward:
        f[p] = f[p] + X[i].back(f[i] + g[i])
    return X, f


def mechanical_power(tree: Tree, q: Slots, qd: Slots, tau: Slots, f_ext: Mapping[int, Force] | None = None) -> Scalar:
    """τ . q̇ + Σ f . v: power of joint forces and of forces on bodies, in the bodies' own coordinates."""
    power = tree.scalars()
    power[0] = 0.0
    v = velocities(tree, q, qd) if f_ext else None
    for i, _ in tree.outward:
        power[i] = sum((t * rate for t, rate in zip(tau[i], qd[i], strict=True)), 0.0)
        if f_ext and v is not None and i in f_ext:
            power[i] = power[i] + v[i].dot(f_ext[i])
        power[0] = power[0] + power[i]
    total: Scalar = power[0]
    return total
