"""Steps on the configuration manifold, and their derivatives in its tangent space, joint by joint.

A displacement δ of q leads to integrate(q, δ); it is a v, not a change of q's numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.model import JointDiagonal, Tree

__all__ = ["coordinate_rates", "difference", "difference_jacobian", "integrate", "integrate_jacobian"]


def integrate(tree: Tree, q: Sequence[Sequence[Scalar]], v: Sequence[Sequence[Scalar]]) -> Sequence[Sequence[Scalar]]:
    """Where q goes in unit time at the constant velocity v."""
    (moved,) = tree.slots(1)
    for i, _ in tree.outward:
        moved[i] = tree.joint[i].integrate(q[i], v[i])
    return moved[1:]


def difference(
    tree: Tree, q0: Sequence[Sequence[Scalar]], q1: Sequence[Sequence[Scalar]]
) -> Sequence[Sequence[Scalar]]:
    """The constant velocity that takes q0 to q1 in unit time."""
    (rates,) = tree.slots(1)
    for i, _ in tree.outward:
        rates[i] = tree.joint[i].difference(q0[i], q1[i])
    return rates[1:]


def coordinate_rates(
    tree: Tree, q: Sequence[Sequence[Scalar]], v: Sequence[Sequence[Scalar]]
) -> Sequence[Sequence[Scalar]]:
    """q̇, the derivatives of the coordinates' numbers."""
    (rates,) = tree.slots(1)
    for i, _ in tree.outward:
        rates[i] = tree.joint[i].rates(q[i], v[i])
    return rates[1:]


def integrate_jacobian(
    tree: Tree, q: Sequence[Sequence[Scalar]], v: Sequence[Sequence[Scalar]], argument: int
) -> JointDiagonal:
    """How a displacement of q (argument 0), or a change of v (1), displaces where q goes."""
    J = tree.diagonal()
    for i, _ in tree.outward:
        J[i] = tree.joint[i].integrate_jacobians(q[i], v[i])[argument]
    return J


def difference_jacobian(
    tree: Tree, q0: Sequence[Sequence[Scalar]], q1: Sequence[Sequence[Scalar]], argument: int
) -> JointDiagonal:
    """How a displacement of q0 (argument 0) or q1 (1) changes the velocity from one to the other."""
    J = tree.diagonal()
    for i, _ in tree.outward:
        J[i] = tree.joint[i].difference_jacobians(q0[i], q1[i])[argument]
    return J
