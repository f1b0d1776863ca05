"""Articulated-body bias forces with gravity among the forces: f = Iᴬ a + pᴬ for accelerations as they are.

Table 7.1 of Featherstone, *Rigid Body Dynamics Algorithms* (2008), leaves gravity out of pᴬ and lets the root
accelerate upward instead: its accelerations are a - ⁱX_0 a_g. So Iᴬ (a - ⁱX_0 a_g) + pᴬ is Iᴬ a + (pᴬ - Iᴬ ⁱX_0 a_g).
Names here <-> table:  those of aba.py;  falling <-> a_g in each body's coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.aba import ArticulatedBodies, articulated_bodies
from kinetree.expr import Scalar
from kinetree.spatial import Force, Motion
from kinetree.tree import Tree

__all__ = ["articulated_bias"]

Pieces = Sequence[Sequence[Scalar]]


def articulated_bias(
    tree: Tree, q: Pieces, qd: Pieces, tau: Pieces, f_ext: Mapping[int, Force] | None = None
) -> ArticulatedBodies:
    """The quantities of Table 7.1 after its second pass, gravity included: pA, and u = τ - Sᵀ pA + Gᵀ c."""
    f_root = (f_ext or {}).get(0, Force.zero())
    found = articulated_bodies(tree, q, qd, tau, f_ext, f_root=f_root)
    falling = tree.slots(Motion)
    pA = tree.slots(Force)
    u = tree.pieces()
    falling[0] = tree.gravity
    pA[0] = found.pA[0] - found.IA[0] @ tree.gravity
    for i, p in tree.outward:
        falling[i] = found.X[i] @ falling[p]
        pA[i] = found.pA[i] - found.IA[i] @ falling[i]
        u[i] = [u_k + x for u_k, x in zip(found.u[i], found.U[i].dot(falling[i]), strict=True)]
    return found._replace(pA=pA, u=u)
