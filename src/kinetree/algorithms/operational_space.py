"""Effects of forces on a robot, by articulated bodies: J M⁻¹ Jᵀ and M⁻¹ Jᵀ λ without forming M.

A force f on a body is passed inward as in the articulated-body algorithm: joint i takes u_i = S_iᵀ f of it, and the
parent feels ⁱX_λᵀ (f - U D⁻¹ u_i). The product of two forces is Σ u_i D_i⁻¹ u_i' over the joints on both paths, and an
outward pass gives the accelerations from the parts u_i.

Sources: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 7.1, passes 2 and 3; Kreutz-Delgado, Jain and
Rodriguez, "Recursive formulation of operational space control", Int. J. Robotics Research 11 (1992).
Names here <-> table: those of aba.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kinetree.algorithms.articulated import articulated
from kinetree.algorithms.constraints import Wrench
from kinetree.expr import Scalar
from kinetree.spatial import Motion
from kinetree.tree import Tree

__all__ = ["JointParts"]

Parts = Sequence[Scalar]
"""The half-solution of a force: the part of it that each joint takes."""


class JointParts:
    """The articulated bodies at one configuration; no joints may share coordinates."""

    def __init__(self, tree: Tree, q: Sequence[Sequence[Scalar]]) -> None:
        self._tree = tree
        self._X, self._S, self._UD, self._D, _ = articulated(tree, q)

    def half(self, wrench: Wrench) -> list[Scalar]:
        """Half-solution of a force on one body or on two."""
        u = self._tree.pieces()
        f: dict[int, Any] = {}
        for i, force in wrench.on:
            f[i] = f[i] + force if i in f else force
        for i, p in self._tree.inward:
            u[i] = [0.0] * self._tree.joint[i].nv
            if i in f:
                u[i] = self._S[i].project(f[i])
                handed = self._X[i].back(f[i] - self._UD[i] @ u[i])
                f[p] = f[p] + handed if p in f else handed
        return [x for part in u[1:] for x in part]

    def rooted(self, Y: Sequence[Parts]) -> list[list[Scalar]]:
        """B with J M⁻¹ Jᵀ = B Bᵀ, from the half-solutions of unit forces along the rows."""
        return [[x for i, part in self._joints(y) for x in self._D[i].rooted(part)] for y in Y]

    def unrooted(self, y: Sequence[Scalar]) -> list[Scalar]:
        """Half-solution of the force Jᵀ λ, for y = Bᵀ λ."""
        return [x for i, part in self._joints(y) for x in self._D[i].unrooted(part)]

    def gram(self, Y: Sequence[Parts]) -> list[list[Scalar]]:
        """J M⁻¹ Jᵀ, from the half-solutions of unit forces along the rows."""
        G: list[list[Scalar]] = [[0.0] * len(Y) for _ in Y]
        for s, y in enumerate(Y):
            weighted = [x for i, part in self._joints(y) for x in self._D[i].solve(part)]
            for r in range(s, len(Y)):
                for a, b in zip(Y[r], weighted, strict=True):
                    G[r][s] = G[r][s] + a * b
                G[s][r] = G[r][s]
        return G

    def rest(self, y: Parts) -> list[Scalar]:
        """M⁻¹ f, from the half-solution of f."""
        a, qdd = self._tree.slots(Motion), self._tree.pieces()
        a[0] = Motion.zero()
        parts = dict(self._joints(y))
        for i, p in self._tree.outward:
            a_p = self._X[i] @ a[p]
            felt = self._UD[i].dot(a_p)
            qdd[i] = [u - s for u, s in zip(self._D[i].solve(parts[i]), felt, strict=True)]
            a[i] = a_p + self._S[i] @ qdd[i]
        return self._tree.joined(qdd[1:], "nv")

    def nothing(self) -> list[Scalar]:
        """Half-solution of zero force."""
        return self._tree.numbers(self._tree.at_rest()[1:], "nv")

    def _joints(self, y: Parts) -> Iterator[tuple[int, Parts]]:
        yield from enumerate(self._tree.split(y, "nv")[1:], 1)
