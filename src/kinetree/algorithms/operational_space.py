"""Inverse operational-space inertia Λ⁻¹ = J M⁻¹ Jᵀ by articulated bodies: M is never formed.

A force f on a body is handed inward as in the articulated-body algorithm: joint i takes u_i = S_iᵀ f of it, and the
parent feels ⁱX_λᵀ (f - U D⁻¹ u_i). Two forces meet in Σ u_i D_i⁻¹ u_i' over the joints that both pass.

Sources: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 7.1, passes 1 and 2; Kreutz-Delgado, Jain and
Rodriguez, "Recursive formulation of operational space control", Int. J. Robotics Research 11 (1992).
Names here <-> table: those of aba.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.articulated import articulated
from kinetree.algorithms.constraints import Wrench
from kinetree.expr import Scalar
from kinetree.model import Tree

__all__ = ["inverse_operational_inertia"]


def inverse_operational_inertia(
    tree: Tree, q: Sequence[Sequence[Scalar]], wrenches: Sequence[Wrench]
) -> list[list[Scalar]]:
    """Λ⁻¹ for unit forces along the rows, each a force on one body, or two; no joints may share coordinates."""
    X, S, UD, D = articulated(tree, q)

    taken: list[dict[int, list[Scalar]]] = []
    for wrench in wrenches:
        f: dict[int, Any] = {}
        u: dict[int, list[Scalar]] = {}
        for i, force in wrench.on:
            f[i] = f[i] + force if i in f else force
        for i, p in tree.inward:
            if i in f:
                u[i] = S[i].project(f[i])
                handed = X[i].back(f[i] - UD[i] @ u[i])
                f[p] = f[p] + handed if p in f else handed
        taken.append(u)

    n = len(wrenches)
    inverse: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for s, u in enumerate(taken):
        weighted = {i: D[i].solve(u_i) for i, u_i in u.items()}
        for r in range(s, n):
            for i, u_i in taken[r].items():
                if i in weighted:
                    for a, b in zip(u_i, weighted[i], strict=True):
                        inverse[r][s] = inverse[r][s] + a * b
            inverse[s][r] = inverse[r][s]
    return inverse
