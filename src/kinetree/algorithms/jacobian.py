"""Body Jacobians: the motion of one body for each joint rate.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.1.4 and eq. 3.22: column j is S_j in the
coordinates of the body, for each joint j that supports it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.model import Tree
from kinetree.spatial import Motion, Transform

__all__ = ["body_jacobian"]


def body_jacobian(tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform) -> list[tuple[Motion, ...]]:
    """The columns of the joints that support `body`, a place a slot, in the coordinates of a frame on it."""
    X, columns = tree.slots(2)
    X[body] = frame  # from the coordinates of each body on the path to those of the frame
    for j, p in tree.toward_root(body):
        X_J, S, _, _ = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv)
        columns[j] = tuple(X[j] @ s for s in S.columns)
        X[p] = X[j] @ X_J @ tree.X_T[j]
    return columns
