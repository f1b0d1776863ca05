"""Steps on the configuration manifold, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.model import Tree

__all__ = ["difference", "integrate"]


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
