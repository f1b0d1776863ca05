"""The wrench on the base, f₀ = Iᴬ₀ a₀ + pᴬ₀: the wrench that must act on the base body for its acceleration a₀.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), eq. 7.1 at the base, after the first two passes of
Table 7.1 over all other joints; gravity acts on every body, so a₀ is the base's true acceleration.
Names here <-> book:  those of aba.py;  base <-> 0, the body that carries all others, in any slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.aba import articulated_bodies
from kinetree.algorithms.forward_dynamics import forward_dynamics
from kinetree.algorithms.hybrid_dynamics import hybrid_system
from kinetree.algorithms.momentum import carried_forces
from kinetree.expr import Scalar
from kinetree.spatial import LDLT, Force, Motion, Subspace, Transform
from kinetree.tree import Tree, UnrolledTree

__all__ = ["base_wrench", "base_wrench_of_system"]

Pieces = Sequence[Sequence[Scalar]]


def base_wrench(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    base: int,
    a_base: Motion,
    f_ext: Mapping[int, Force] | None = None,
) -> Force:
    """Wrench on the body in slot `base`, in its coordinates. The entries of tau for the base's joint are ignored."""
    f_root = (f_ext or {}).get(0, Force.zero())
    bodies = articulated_bodies(tree, q, qd, tau, f_ext, held={base}, f_root=f_root)
    bodies.X[0] = Transform.identity()
    wrench: Force = bodies.IA[base] @ (a_base - bodies.X[base] @ tree.gravity) + bodies.pA[base]
    return wrench


def base_wrench_of_system(
    tree: UnrolledTree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    base: int,
    a_base: Motion,
    f_ext: Mapping[int, Force] | None = None,
) -> Force:
    """Wrench on the base where joints share coordinates, from the accelerations of all joints (Table 5.1)."""
    if base == 0:
        tree = tree.with_gravity(tree.gravity - a_base)  # an accelerated base is as good as other gravity
        return _required(tree, q, qd, forward_dynamics(tree, q, qd, tau, f_ext), 0, f_ext)
    assert tree.coordinates is not None
    _, S, _, c_J = tree.joint[base].calc(q[base], qd[base])
    qdd: list[Sequence[Scalar]] = [*tree.at_rest()]
    qdd[base] = _rates(S, a_base - c_J)
    first = tree.v_starts[base]
    own = [k for row in tree.coordinates.v_rows[first : first + len(qdd[base])] for k, _ in row]
    motion, _ = hybrid_system(tree, q, qd, tau, qdd, own, f_ext)
    return _required(tree, q, qd, motion, base, f_ext)


def _rates(S: Subspace, m: Motion) -> list[Scalar]:
    """The rates x with S x = m, for a joint of six degrees of freedom."""
    columns = [s.linear_first() for s in S.columns]
    six = m.linear_first()
    squares = [[sum((x * y for x, y in zip(a, b, strict=True)), 0.0) for b in columns] for a in columns]
    return LDLT(squares).solve([sum((x * y for x, y in zip(a, six, strict=True)), 0.0) for a in columns])


def _required(
    tree: UnrolledTree, q: Pieces, qd: Pieces, qdd: Pieces, base: int, f_ext: Mapping[int, Force] | None
) -> Force:
    """The force that the body in slot `base` and everything it carries require."""
    _, f = carried_forces(tree, q, qd, tree.in_slots(qdd), -tree.gravity, f_ext)
    return f[base]
