"""Gyroscopic forces of free bodies as they act at the end of a time step.

A body on a free joint that carries nothing has, in axes with which its origin's velocity does not turn,

    M A + b(ω) = f,    b = [ω x (ω x m c); ω x I ω],    A = [v̇ + ω x v; ω̇],

and (M + h D + h ∂b/∂ω) A⁺ = (M + h D) A takes b at the end of the step. So a spinning body gains no energy. The rest of
a tree has no such term: M + h D must stay symmetric there.

Source: MuJoCo documentation, "Computation", section on gyroscopic derivatives for free bodies; version 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.dot import dot
from kinetree.algorithms.implicit_forces import Coupling
from kinetree.expr import Scalar
from kinetree.joints import FloatingBase, Free, JointKind, Placed
from kinetree.spatial import Inertia, Mat3, Vec3
from kinetree.tree import Tree

__all__ = ["with_gyroscopic_forces"]

Slots = Sequence[Sequence[Scalar]]
_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


def with_gyroscopic_forces(
    tree: Tree, q: Slots, v: Slots, a: Slots, dt: Scalar, own_armature: Slots, couplings: Sequence[Coupling]
) -> Any:
    """Accelerations a of a step of dt, in which single free bodies have these forces at the end of the step.

    The armatures of the tree have the part h D of the matrix, beside the joints' own.
    """
    found = tree.pieces()
    carriers = {p for _, p in tree.outward}
    for i, p in tree.outward:
        found[i] = a[i]
        joint, I = _unplaced(tree.joint[i], tree.I[i])
        if p != 0 or i in carriers or not isinstance(joint, Free | FloatingBase):
            continue
        E = Mat3.identity() if isinstance(joint, Free) else joint.calc(q[i], [0.0] * 6).X_J.E
        h_D = [[x - y if r == k else 0.0 for k in range(6)] for r, (x, y) in enumerate(_pairs(tree, own_armature, i))]
        for coupling in couplings:
            m = _turned(E, coupling.moment.get(i, [0.0] * 6))
            h_D = [[x + coupling.inertia * m[r] * m[k] for k, x in enumerate(row)] for r, row in enumerate(h_D)]
        turning = joint.turning_rate(v[i])
        A = _turned(E, [x + y for x, y in zip(a[i], turning, strict=True)])
        M = _inertia(I, own_armature[i])
        f = [dot(m, A) + dot(d, A) for m, d in zip(M, h_D, strict=True)]
        B = _bias_derivative(I, Vec3(*v[i][3:]))
        rows = zip(M, h_D, B, strict=True)
        matrix = [[x + y + dt * z for x, y, z in zip(m, d, b, strict=True)] for m, d, b in rows]
        after = _turned(E.T, _solved(matrix, f))
        found[i] = [x - y for x, y in zip(after, turning, strict=True)]
    return found


def _unplaced(joint: JointKind, I: Inertia) -> tuple[JointKind, Inertia]:
    """The joint itself, if it is between two placements, and the inertia in its moving side."""
    while isinstance(joint, Placed):
        I, joint = joint.after.back(I), joint.kind
    return joint, I


def _turned(E: Mat3, x: Sequence[Scalar]) -> list[Scalar]:
    """Numbers of a free joint, with the linear ones in the axes that E leads to."""
    return [*(E @ Vec3(*x[:3])).components(), *x[3:]]


def _pairs(tree: Tree, own_armature: Slots, i: int) -> list[tuple[Scalar, Scalar]]:
    return list(zip(tree.armature[i], own_armature[i], strict=True))


def _inertia(I: Inertia, armature: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix of a free body: linear, then angular."""
    columns = []
    for k in range(6):
        e = _AXES[k % 3]
        if k < 3:
            force, couple = e * I.mass, I.h.cross(e)
        else:
            force, couple = e.cross(I.h), I.I @ e
        column = [*force.components(), *couple.components()]
        columns.append([x + armature[k] if r == k else x for r, x in enumerate(column)])
    return [list(row) for row in zip(*columns, strict=True)]


def _bias_derivative(I: Inertia, w: Vec3) -> list[list[Scalar]]:
    """∂b/∂ω beside three columns of zeros."""
    columns: list[list[Scalar]] = [[0.0] * 6] * 3
    for e in _AXES:
        force = e.cross(w.cross(I.h)) + w.cross(e.cross(I.h))
        couple = e.cross(I.I @ w) + w.cross(I.I @ e)
        columns.append([*force.components(), *couple.components()])
    return [list(row) for row in zip(*columns, strict=True)]


def _solved(A: list[list[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """A⁻¹ b by elimination in order, for a matrix whose symmetric part is positive definite."""
    rows, n = [[*row, x] for row, x in zip(A, b, strict=True)], len(b)
    for k in range(n):
        over = 1.0 / rows[k][k]
        for r in range(k + 1, n):
            c = rows[r][k] * over
            rows[r] = [x - c * y if s > k else x for s, (x, y) in enumerate(zip(rows[r], rows[k], strict=True))]
    x: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        total = rows[k][n]
        for s in range(k + 1, n):
            total = total - rows[k][s] * x[s]
        x[k] = total * (1.0 / rows[k][k])
    return x
