"""Energies and the centre of mass.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 2.14 (T = v . I v / 2).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Scalar
from kinetree.spatial import ForceBasis, Motion, Transform, Vec3
from kinetree.tree import Tree

__all__ = ["center_of_mass", "kinetic_energy", "potential_energy"]


def kinetic_energy(tree: Tree, q: Sequence[Sequence[Scalar]], qd: Sequence[Sequence[Scalar]]) -> Scalar:
    """Kinetic energy of bodies and of armatures' rotors; geared rotors spin on the parent (section 9.6)."""
    v = tree.slots(Motion)
    twice = tree.scalars()
    v[0], twice[0] = Motion.zero(), 0.0
    for i, p in tree.outward:
        X_J, _, v_J, _ = tree.joint[i].calc(q[i], qd[i])
        v_p = X_J @ tree.X_T[i] @ v[p]
        v[i] = v_p + v_J
        G = ForceBasis.couples(tree.rotor[i], X_J)
        twice[i] = v[i].dot(tree.I[i] @ v[i]) + 2.0 * v_p.dot(G @ qd[i])
        for armature, rate in zip(tree.armature[i], qd[i], strict=True):
            twice[i] = twice[i] + armature * rate * rate
        twice[0] = twice[0] + twice[i]
    energy: Scalar = 0.5 * twice[0]
    return energy


def potential_energy(tree: Tree, q: Sequence[Sequence[Scalar]]) -> Scalar:
    """Potential energy in uniform gravity, zero where the centre of mass is at the world's origin."""
    return -tree.gravity.linear.dot(first_moment(tree, q))


def center_of_mass(tree: Tree, q: Sequence[Sequence[Scalar]], total_mass: Scalar) -> Vec3:
    """Centre of mass of everything, including bodies fixed to the root."""
    return first_moment(tree, q) * (1.0 / total_mass)


def first_moment(tree: Tree, q: Sequence[Sequence[Scalar]]) -> Vec3:
    """Σ m c in the world's coordinates, passed inward so that a leaf's share is rotated once per joint."""
    X = tree.slots(Transform)
    mass = tree.scalars()
    h = tree.slots(Vec3)
    mass[0], h[0] = tree.I[0].mass, tree.I[0].h
    for i, _ in tree.outward:
        X[i] = tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv).X_J @ tree.X_T[i]
        mass[i], h[i] = tree.I[i].mass, tree.I[i].h
    for i, p in tree.inward:
        mass[p] = mass[p] + mass[i]
        h[p] = h[p] + X[i].E.T @ h[i] + X[i].r * mass[i]
    moment: Vec3 = h[0]
    return moment
