"""Kinematic Hessian: how each column of a frame's Jacobian changes with a displacement along each degree of freedom.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 2.10, for displacements instead of rates: a
displacement along column k moves everything behind joint k, so a column J_j there changes by J_k x J_j, less the motion
of the coordinates themselves, plus the change of S_j with its own joint's coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.algorithms.jacobian import jacobian
from kinetree.expr import Scalar
from kinetree.joints.derivatives import subspace_derivatives
from kinetree.spatial import Motion, Transform, Vec3
from kinetree.tree import JointSquares, Tree

__all__ = ["kinematic_hessian"]

Rule = Callable[[Motion, Motion], Motion]


def kinematic_hessian(
    tree: Tree, q: Sequence[Sequence[Scalar]], body: int, seen: Sequence[Transform], expressed_in: str
) -> JointSquares:
    """H[j, k][a][b]: derivative of column a of joint j by a displacement along degree of freedom b of joint k.

    It is in the coordinates that `seen` leads from, the linear part's three matrices first; missing blocks are zero.
    """
    behind, before = _RULES[expressed_in]
    J = jacobian(tree, q, body, seen)
    H = tree.squares(6)
    for j, p in tree.toward_root(body):
        dS = subspace_derivatives(tree.joint[j], q[j])
        H[j, j] = [
            [
                (behind(J_b, J_a) + seen[j].back(dS_b.columns[a])).linear_first()
                for J_b, dS_b in zip(J[j], dS, strict=True)
            ]
            for a, J_a in enumerate(J[j])
        ]
        for k, _ in tree.toward_root(p):
            H[j, k] = [[behind(J_k, J_j).linear_first() for J_k in J[k]] for J_j in J[j]]
            H[k, j] = [[before(J_k, J_j).linear_first() for J_j in J[j]] for J_k in J[k]]
    return H


def _cross(J_k: Motion, J_j: Motion) -> Motion:
    return J_k.cross(J_j)


def _none(J_k: Motion, J_j: Motion) -> Motion:  # noqa: ARG001
    return Motion.zero()


def _turned(J_k: Motion, J_j: Motion) -> Motion:
    """Joint k carries the frame's origin along, and the coordinates with it: only its rotation is seen."""
    w = J_k.angular
    return Motion(w.cross(J_j.angular), w.cross(J_j.linear))


def _shifted(J_k: Motion, J_j: Motion) -> Motion:
    """Joint j moves the origin, at which joint k's motion is seen: ω_k x v_j."""
    return Motion(Vec3.zero(), J_k.angular.cross(J_j.linear))


_RULES: dict[str, tuple[Rule, Rule]] = {
    "local": (_none, _cross),
    "world": (_cross, _none),
    "local_world_aligned": (_turned, _shifted),
}
"""For k between j and the root, or j itself: the change of J_j by a displacement along k, and of J_k along j."""
