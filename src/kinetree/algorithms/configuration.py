"""Steps on the configuration manifold, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.model import Tree

__all__ = ["difference", "integrate"]


def integrate(tree: Tree, q: Sequence[Sequence[Scalar]], v: Sequence[Sequence[Scalar]]) -> Sequence[Sequence[Scalar]]:
    """Where q goes in unit time at the constant velocity v."""
    return [kind.integrate(q_i, v_i) for kind, q_i, v_i in zip(tree.joint, q, v, strict=True)][1:]


def difference(
    tree: Tree, q0: Sequence[Sequence[Scalar]], q1: Sequence[Sequence[Scalar]]
) -> Sequence[Sequence[Scalar]]:
    """The constant velocity that takes q0 to q1 in unit time."""
    return [kind.difference(a, b) for kind, a, b in zip(tree.joint, q0, q1, strict=True)][1:]
