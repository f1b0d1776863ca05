"""One time step on the configuration manifold.

Sources: semi-implicit Euler, with the new velocity first; and the fourth-order method of Celledoni, Marthinsen and
Owren, "Commutator-free Lie group methods", Future Generation Computer Systems 19 (2003), with displacements applied on
the right because v is in the bodies' own axes. Where displacements commute, this is the classical Runge-Kutta formula.
A step ends in coordinates far from their singularities (`JointKind.rechart`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kinetree.algorithms.drives import BRAKES, braked, driven
from kinetree.algorithms.forward_dynamics import forward_dynamics
from kinetree.expr import Scalar
from kinetree.spatial import Force
from kinetree.tree import Tree

__all__ = ["rk4", "semi_implicit_euler"]

Slots = Sequence[Sequence[Scalar]]
State = tuple[Slots, Slots]
"""q and v, starting at slot 1."""


def semi_implicit_euler(
    tree: Tree,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Scalar,
    f_ext: Mapping[int, Force] | None = None,
    passive: Collection[str] = (),
    limits: bool = False,
) -> State:
    """The state after a step of dt, of first order.

    Friction acts at the new velocity, so it brakes without overshooting however stiff it is.
    """
    acting = driven(tree, q, v, tau, passive, limits)
    brakes = [name for name in passive if name in BRAKES]
    a = tree.in_slots(forward_dynamics(braked(tree, v, dt, brakes), q, v, acting, f_ext))
    q_next, v_next = tree.pieces(2)
    for i, _ in tree.outward:
        v_i = _combined(i, ((1.0, v), (dt, a)))
        q_i = tree.joint[i].integrate(q[i], [dt * x for x in v_i])
        q_next[i], v_next[i] = tree.joint[i].rechart(q_i, v_i)
    return q_next[1:], v_next[1:]


def rk4(
    tree: Tree,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Scalar,
    f_ext: Mapping[int, Force] | None = None,
    passive: Collection[str] = (),
    limits: bool = False,
) -> State:
    """The state after a step of dt, of fourth order; tau and the forces are constant over the step."""

    def acceleration(q: Slots, v: Slots) -> Any:
        return tree.in_slots(forward_dynamics(tree, q, v, driven(tree, q, v, tau, passive, limits), f_ext))

    h = dt
    a1 = acceleration(q, v)
    q2, v2 = _moved(tree, q, (0.5 * h, v)), _sum(tree, (1.0, v), (0.5 * h, a1))
    a2 = acceleration(q2, v2)
    q3, v3 = _moved(tree, q, (0.5 * h, v2)), _sum(tree, (1.0, v), (0.5 * h, a2))
    a3 = acceleration(q3, v3)
    q4, v4 = _moved(tree, q2, (h, v3), (-0.5 * h, v)), _sum(tree, (1.0, v), (h, a3))
    a4 = acceleration(q4, v4)

    t = h * (1.0 / 12.0)
    half_way = _moved(tree, q, (3.0 * t, v), (2.0 * t, v2), (2.0 * t, v3), (-t, v4))
    q_next, v_next = tree.pieces(2)
    for i, _ in tree.outward:
        q_i = tree.joint[i].integrate(half_way[i], _combined(i, ((-t, v), (2.0 * t, v2), (2.0 * t, v3), (3.0 * t, v4))))
        v_i = _combined(i, ((1.0, v), (2.0 * t, a1), (4.0 * t, a2), (4.0 * t, a3), (2.0 * t, a4)))
        q_next[i], v_next[i] = tree.joint[i].rechart(q_i, v_i)
    return q_next[1:], v_next[1:]


def _sum(tree: Tree, *terms: tuple[Scalar, Any]) -> Any:
    """Σ coefficient · v."""
    total = tree.pieces()
    for i, _ in tree.outward:
        total[i] = _combined(i, terms)
    return total


def _moved(tree: Tree, q: Any, *terms: tuple[Scalar, Any]) -> Any:
    """q after a displacement Σ coefficient · v."""
    moved = tree.pieces()
    for i, _ in tree.outward:
        moved[i] = tree.joint[i].integrate(q[i], _combined(i, terms))
    return moved


def _combined(i: int, terms: Sequence[tuple[Scalar, Any]]) -> list[Scalar]:
    first, *rest = ([c * x for x in v[i]] for c, v in terms)
    return [sum(others, x) for x, *others in zip(first, *rest, strict=True)]
