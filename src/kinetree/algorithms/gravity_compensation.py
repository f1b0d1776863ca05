"""Joint forces that carry weights: of some bodies a part of theirs.

Source: the forces -m g at centres of mass, passed inward as in the second pass of Featherstone, *Rigid Body Dynamics
Algorithms* (2008), Table 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.expr import Scalar
from kinetree.spatial import Force, Mat3, Subspace, Transform, Vec3
from kinetree.tree import Tree

__all__ = ["CarriedMass", "gravity_compensation"]


class CarriedMass(NamedTuple):
    """A mass whose weight is carried, and its first moment about the body's origin, in the body's coordinates."""

    mass: Scalar
    first_moment: Vec3


def gravity_compensation(
    tree: Tree, q: Sequence[Sequence[Scalar]], carried: Mapping[int, CarriedMass]
) -> list[Sequence[Scalar]]:
    """Joint forces that carry these masses, by the slots of their bodies."""
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    E_0 = tree.slots(Mat3)
    f = tree.slots(Force)
    tau = tree.pieces()
    E_0[0], f[0] = Mat3.identity(), Force.zero()
    for i, p in tree.outward:
        X_J, S[i], _, _ = tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv)
        X[i] = X_J @ tree.X_T[i]
        E_0[i] = X[i].E.times(E_0[p])
        f[i] = Force.zero()
        if i in carried:
            m, h = carried[i]
            g = E_0[i] @ tree.gravity.linear
            f[i] = Force(-h.cross(g), -(g * m))
    for i, p in tree.inward:
        tau[i] = S[i].project(f[i])
        f[p] = f[p] + X[i].back(f[i])
    return tau[1:]
