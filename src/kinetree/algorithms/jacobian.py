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


def body_jacobian(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, frame: Transform
) -> dict[int, tuple[Motion, ...]]:
    """The columns of the joints that support `body`, in the coordinates of a frame that stands on it."""
    columns: dict[int, tuple[Motion, ...]] = {}
    X = frame  # from the coordinates of body j to those of the frame
    for j in reversed(tree.supports(body)):
        X_J, S, _, _ = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv)
        columns[j] = tuple(X @ s for s in S.columns)
        X = X @ X_J @ tree.X_T[j]
    return columns
