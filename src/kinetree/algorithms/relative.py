"""How one body moves as another sees it, from the joints between the two alone.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.1.4: a joint that supports both bodies stands
in κ(i) and κ(j) alike and moves both; one that supports only one of them moves that one or, as it sees it, the other
one the other way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.jacobian import undone
from kinetree.expr import Scalar
from kinetree.model import Tree
from kinetree.spatial import Motion, Transform

__all__ = ["joints_between", "relative_jacobian", "seen_across"]


def joints_between(tree: Tree, i: int, j: int) -> tuple[list[int], list[int]]:
    """The joints that support body i and not body j, and the opposite; the root's side first."""
    of_i, of_j = tree.supports(i), tree.supports(j)
    shared = 0
    while shared < min(len(of_i), len(of_j)) and of_i[shared] == of_j[shared]:
        shared += 1
    return of_i[shared:], of_j[shared:]


def seen_across(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform, other: int
) -> dict[int, Transform]:
    """From the coordinates of a frame on `body` to those of the bodies between it and `other`."""
    X = {body: frame.inverse}
    inward, outward = joints_between(tree, body, other)
    for i in reversed(inward):
        X[tree.parent[i]] = undone(_joint(tree, q, i), X[i])
    for i in outward:
        X[i] = _joint(tree, q, i) @ X[tree.parent[i]]
    return X


def relative_jacobian(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, other: int, seen: Mapping[int, Transform]
) -> dict[int, tuple[Motion, ...]]:
    """The columns of `body` less those of `other`, for the joints between them; no other joint has any."""
    ours, theirs = joints_between(tree, body, other)
    columns = {j: tuple(seen[j].back(s) for s in _subspace(tree, q, j)) for j in (*ours, *theirs)}
    return {j: tuple(-s for s in c) if j in theirs else c for j, c in columns.items()}


def _joint(tree: Tree, q: Sequence[Sequence[Scalar]], i: int) -> Transform:
    """ⁱX_λ(i)."""
    return tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv).X_J @ tree.X_T[i]


def _subspace(tree: Tree, q: Sequence[Sequence[Scalar]], i: int) -> tuple[Motion, ...]:
    return tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv).S.columns
