"""Steps on the configuration manifold, and their derivatives in its tangent space, joint by joint.

A displacement δ of q leads to integrate(q, δ); it has the entries of v and is not a change of the entries of q.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.tree import JointDiagonal, Tree

__all__ = ["coordinate_rates", "difference", "difference_jacobian", "integrate", "integrate_jacobian"]


def integrate(tree: Tree, q: Sequence[Sequence[Scalar]], v: Sequence[Sequence[Scalar]]) -> Sequence[Sequence[Scalar]]:
    """The configuration reached from q in unit time at constant velocity v."""
    moved = tree.pieces()
    for i, _ in tree.outward:
        moved[i] = tree.joint[i].integrate(q[i], v[i])
    return moved[1:]


def difference(
    tree: Tree, q0: Sequence[Sequence[Scalar]], q1: Sequence[Sequence[Scalar]]
) -> Sequence[Sequence[Scalar]]:
    """The constant velocity that takes q0 to q1 in unit time."""
    rates = tree.pieces()
    for i, _ in tree.outward:
        rates[i] = tree.joint[i].difference(q0[i], q1[i])
    return rates[1:]


def coordinate_rates(
    tree: Tree, q: Sequence[Sequence[Scalar]], v: Sequence[Sequence[Scalar]]
) -> Sequence[Sequence[Scalar]]:
    """q̇, the time derivatives of the entries of q."""
    rates = tree.pieces()
    for i, _ in tree.outward:
        rates[i] = tree.joint[i].rates(q[i], v[i])
    return rates[1:]


def integrate_jacobian(
    tree: Tree, q: Sequence[Sequence[Scalar]], v: Sequence[Sequence[Scalar]], argument: int
) -> JointDiagonal:
    """Displacement of the result of `integrate` by a displacement of q (argument 0) or a change of v (1)."""
    J = tree.diagonal()
    for i, _ in tree.outward:
        J[i] = tree.joint[i].integrate_jacobians(q[i], v[i])[argument]
    return J


def difference_jacobian(
    tree: Tree, q0: Sequence[Sequence[Scalar]], q1: Sequence[Sequence[Scalar]], argument: int
) -> JointDiagonal:
    """Change of the result of `difference` by a displacement of q0 (argument 0) or q1 (1)."""
    J = tree.diagonal()
    for i, _ in tree.outward:
        J[i] = tree.joint[i].difference_jacobians(q0[i], q1[i])[argument]
    return J
