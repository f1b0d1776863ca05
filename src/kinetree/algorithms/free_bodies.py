"""Gyroscopic forces of single bodies as they act later in a time step.

A body on a free joint that carries nothing has, in axes with which its origin's velocity does not turn,

    M A + b(ω) = f,    b = [ω x (ω x m c); ω x I ω],    A = [v̇ + ω x v; ω̇],

and (M + h D + t ∂b/∂ω) A' = (M + h D) A takes b at the time t of a step of h. With t = h, as in MuJoCo, a spinning body
gains no energy and loses some; with t = h / 2, the linearly implicit midpoint rule, its energy has an error of order
two, with no trend. A body on a ball joint of the root has the angular half of these equations. The rest of a tree has
no such term: M + h D must stay symmetric there.

Sources: MuJoCo documentation, "Computation", section on gyroscopic derivatives for free bodies, version 4; Hairer and
Wanner, *Solving Ordinary Differential Equations II*, section IV.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.implicit_forces import Coupling
from kinetree.expr import Scalar, dot
from kinetree.joints import FloatingBase, Free, JointKind, Placed, Spherical
from kinetree.spatial import Inertia, Mat3, Vec3
from kinetree.tree import Tree

__all__ = ["FREE", "FREE_OR_BALL", "with_gyroscopic_forces"]

Slots = Sequence[Sequence[Scalar]]
FREE = (Free, FloatingBase)
FREE_OR_BALL = (*FREE, Spherical)
_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


def with_gyroscopic_forces(
    tree: Tree,
    q: Slots,
    v: Slots,
    a: Slots,
    t: Scalar,
    own_armature: Slots,
    couplings: Sequence[Coupling],
    kinds: tuple[type[JointKind], ...],
) -> Any:
    """Accelerations a of a step, in which single bodies on joints of these kinds have these forces at the time t in it.

    The armatures of the tree have the part h D of the matrix, in addition to the joints' own.
    """
    accelerations = tree.pieces()
    alone = tree.alone
    for i, _ in tree.outward:
        accelerations[i] = a[i]
        joint, I = _unplaced(tree.joint[i], tree.I[i])
        if i not in alone or not isinstance(joint, kinds):
            continue
        n = joint.nv
        E = joint.calc(q[i], [0.0] * n).X_J.E if isinstance(joint, FloatingBase) else Mat3.identity()
        h_D = [[x - y if r == k else 0.0 for k in range(n)] for r, (x, y) in enumerate(_pairs(tree, own_armature, i))]
        for coupling in couplings:
            m = _turned(E, coupling.moment.get(i, [0.0] * n))
            h_D = [[x + coupling.inertia * m[r] * m[k] for k, x in enumerate(row)] for r, row in enumerate(h_D)]
        turning = joint.turning_rate(v[i])
        A = _turned(E, [x + y for x, y in zip(a[i], turning, strict=True)])
        M = _inertia(I, own_armature[i])
        f = [dot(m, A) + dot(d, A) for m, d in zip(M, h_D, strict=True)]
        B = _bias_derivative(I, Vec3(*v[i][-3:]), n)
        rows = zip(M, h_D, B, strict=True)
        matrix = [[x + y + t * z for x, y, z in zip(m, d, b, strict=True)] for m, d, b in rows]
        after = _turned(E.T, _solved(matrix, f))
        accelerations[i] = [x - y for x, y in zip(after, turning, strict=True)]
    return accelerations


def _unplaced(joint: JointKind, I: Inertia) -> tuple[JointKind, Inertia]:
    """The joint itself, if it is between two placements, and the inertia in its moving side."""
    while isinstance(joint, Placed):
        I, joint = joint.after.back(I), joint.kind
    return joint, I


def _turned(E: Mat3, x: Sequence[Scalar]) -> list[Scalar]:
    """Numbers of a joint, with the linear ones of a free one in the axes that E leads to."""
    return [*(E @ Vec3(*x[:3])).components(), *x[3:]] if len(x) == 6 else list(x)


def _pairs(tree: Tree, own_armature: Slots, i: int) -> list[tuple[Scalar, Scalar]]:
    return list(zip(tree.armature[i], own_armature[i], strict=True))


def _inertia(I: Inertia, armature: Sequence[Scalar]) -> list[list[Scalar]]:
    """The mass matrix of a body: linear, then angular; or only the latter, for as many armatures."""
    n = len(armature)
    columns: list[list[Scalar]] = []
    for k in range(6 - n, 6):
        e = _AXES[k % 3]
        if k < 3:
            force, couple = e * I.mass, I.h.cross(e)
        else:
            force, couple = e.cross(I.h), I.I @ e
        column = [*force.components(), *couple.components()][-n:]
        columns.append(
            [x + A if r == len(columns) else x for r, (x, A) in enumerate(zip(column, armature, strict=True))]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def _bias_derivative(I: Inertia, w: Vec3, n: int) -> list[list[Scalar]]:
    """∂b/∂ω, with a column of zeros for each linear coordinate; the last n rows of it."""
    columns: list[list[Scalar]] = [[0.0] * n] * (n - 3)
    for e in _AXES:
        force = e.cross(w.cross(I.h)) + w.cross(e.cross(I.h))
        couple = e.cross(I.I @ w) + w.cross(I.I @ e)
        columns.append([*force.components(), *couple.components()][-n:])
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
