"""The inverse of the mass matrix H: by articulated bodies, without forming H, or by its sparse factors.

By bodies: a unit force of joint k, passed inward as in the articulated-body algorithm, leaves z_j for each joint j on
the path to the root, and H⁻¹ has the entries Σ z_j(k)ᵀ D_j⁻¹ z_j(l) over joints on both paths. By factors: H⁻¹ = L⁻¹
D⁻¹ L⁻ᵀ. Which takes fewer operations depends on the robot; `kinetree docs algorithms/mass_matrix` counts both.

Sources: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 7.1 and section 6.5; Carpentier, "Analytical
inverse of the joint space inertia matrix" (2018), for the first.
Names here <-> table: those of aba.py; f <-> pᴬ of a force that is passed inward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.articulated import articulated
from kinetree.algorithms.crba import crba
from kinetree.algorithms.ltdl import ltdl
from kinetree.expr import Scalar
from kinetree.tree import JointSquare, Tree

__all__ = ["inverse_of_factors", "mass_matrix_inverse"]


def mass_matrix_inverse(tree: Tree, q: Sequence[Sequence[Scalar]]) -> Any:
    """The entries of H⁻¹; `flat()` gives the whole matrix."""
    if tree.coordinates is None and not tree.is_one_system:
        return _by_bodies(tree, q)
    L: Any = crba(tree, q).sparse()
    ltdl(L)
    return inverse_of_factors(L)


def _by_bodies(tree: Tree, q: Sequence[Sequence[Scalar]]) -> JointSquare:
    X, S, UD, D, _ = articulated(tree, q)

    # Inward from each joint: what its unit forces leave for the joints on the path, one row per unit force.
    z: dict[int, dict[int, list[list[Scalar]]]] = {}
    for k, p in tree.outward:
        n = tree.joint[k].nv
        z[k] = {k: [[float(a == b) for b in range(n)] for a in range(n)]}
        f = [X[k].back(column) for column in UD[k].columns]
        for j, _ in tree.toward_root(p):
            u = [[-x for x in S[j].project(f_a)] for f_a in f]
            f = [X[j].back(f_a + UD[j] @ u_a) for f_a, u_a in zip(f, u, strict=True)]
            z[k][j] = u

    inverse = tree.square()
    done: dict[int, dict[int, list[list[Scalar]]]] = {}
    for k, _ in tree.outward:
        weighted = {j: [D[j].solve(row) for row in rows] for j, rows in z[k].items()}
        done[k] = z[k]
        for l, others in done.items():
            block: list[list[Scalar]] = [[0.0] * tree.joint[l].nv for _ in range(tree.joint[k].nv)]
            for j in sorted(weighted.keys() & others.keys()):
                for a, row in enumerate(weighted[j]):
                    for b, other in enumerate(others[j]):
                        for x, y in zip(row, other, strict=True):
                            block[a][b] = block[a][b] + x * y
            if l == k:  # symmetric to the last bit
                block = [[block[max(a, b)][min(a, b)] for b in range(len(block))] for a in range(len(block))]
            inverse[k, l] = block
            inverse[l, k] = [list(column) for column in zip(*block, strict=True)]
    return inverse


def inverse_of_factors(L: Any) -> Any:
    """H⁻¹ from the factors of H, which are overwritten."""
    # Y = L⁻¹, in place of L: row k from the rows above it, which still hold L.
    Y = L
    for k in Y.inward:
        for i in Y.above(k):
            Y[k, i] = -Y[k, i]
            for j in Y.above(i):
                Y[k, j] = Y[k, j] + Y[k, i] * Y[i, j]

    # H⁻¹ = Y D⁻¹ Yᵀ, row by row; w is a row of Y D⁻¹.
    Z = Y.result()
    for k in Y.outward:
        w = Y.zeros()
        w[k] = 1.0 / Y[k, k]
        for i in Y.above(k):
            w[i] = Y[k, i] * (1.0 / Y[i, i])
        for j in Y.before(k):
            Z[k, j] = w[j]
            for i in Y.above(j):
                Z[k, j] = Z[k, j] + Y[j, i] * w[i]

    return Z
