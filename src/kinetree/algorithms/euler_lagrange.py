"""The equations of motion in Jacobian form, body by body, and their dense solution: M q̈ + C q̇ = τ + Σ Jᵀ f.

Source: Liu and Jain, "A Quick Tutorial on Multibody Dynamics" (2012), section 5. It shares nothing with the recursive
algorithms except Jacobians, so they can be tested against it and read alongside it.
Names here <-> tutorial:  k <-> link,  J[i] <-> the columns of joint i in J_k = [J_v; J_ω] of the centre of mass, in
the world's axes (eq. 58),  m, I_c <-> M_c = diag(m 1, I_c),  w <-> ω_k,  x <-> x_k.
Not in the tutorial: armatures, on the diagonal of M; and geared rotors, treated as massless links on the parent that
turn about their own axis. A rotor's momentum g q̇_i, with g fixed in body λ(i), adds to M the products g · J_ω of λ(i)
with joint i, and to C those of g with J̇_ω and of ω x g with J_ω (RBDA section 9.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.jacobian import jacobian, jacobian_rate, seen_about
from kinetree.algorithms.kinematics import placements
from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial import LDLT, Force, Inertia, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.tree import JointBlocks, JointSquare, Tree

__all__ = ["euler_lagrange", "euler_lagrange_matrices"]

Pieces = Sequence[Sequence[Scalar]]
Block = list[list[Scalar]]


@record(frozen=True, slots=True)
class _Link:
    """A body in the tutorial's form: at its centre of mass, in the world's axes."""

    path: list[int]
    """The joints that move it, tips first."""
    seen: list[Transform]
    """Transforms from the world's axes at the centre of mass to the bodies on the path."""
    J: Sequence[tuple[Motion, ...]]
    J_dot: Sequence[tuple[Motion, ...]]
    w: Vec3
    m: Scalar
    I_c: Sym3


def euler_lagrange(
    tree: Tree, q: Pieces, qd: Pieces, tau: Pieces, f_ext: Mapping[int, Force] | None = None
) -> Sequence[Sequence[Scalar]]:
    """Accelerations due to joint forces tau and forces f_ext on bodies, in the bodies' own coordinates."""
    f_ext = f_ext or {}
    links = _links(tree, q, qd)
    M, C = _matrices(tree, links)
    f = tree.pieces()
    for i, _ in tree.outward:
        f[i] = tau[i]

    # Generalised forces: Jᵀ of weights and of external forces, …
    for k, link in links.items():
        push = Force(Vec3.zero(), tree.gravity.linear * link.m)
        if k in f_ext:
            push = push + link.seen[k].back(f_ext[k])
        for i in link.path:
            f[i] = [f_i + column.dot(push) for f_i, column in zip(f[i], link.J[i], strict=True)]

    # … minus C q̇; then the dense solution.
    for (i, j), block in C.items():
        Cq = [sum((c * rate for c, rate in zip(row, qd[j], strict=True)), 0.0) for row in block]
        f[i] = [f_i - c for f_i, c in zip(f[i], Cq, strict=True)]
    forces, numbers = tree.joined(f[1:], "forces"), M.flat()
    n = len(forces)
    tips_first = [numbers[a * n : (a + 1) * n][::-1] for a in reversed(range(n))]
    pieces: list[Sequence[Scalar]] = tree.split(LDLT(tips_first).solve(forces[::-1])[::-1], "nv")
    return pieces[1:]


def euler_lagrange_matrices(tree: Tree, q: Pieces, qd: Pieces) -> tuple[JointBlocks, JointSquare]:
    """M and C; Ṁ - 2 C is skew-symmetric."""
    return _matrices(tree, _links(tree, q, qd))


def _links(tree: Tree, q: Pieces, qd: Pieces) -> dict[int, _Link]:
    """Every body that moves (eqs. 50, 57 and 58)."""
    X_0 = placements(tree, q)
    links = {}
    for k, _ in tree.outward:
        R, I = X_0[k].E.T, tree.I[k]
        c = Vec3.zero() if I.mass == 0.0 else I.h * (1.0 / I.mass)
        transforms = seen_about(tree, k, X_0, X_0[k].r + R @ c)
        path = [i for i, _ in tree.toward_root(k)]
        J = jacobian(tree, q, k, transforms)
        J_dot = jacobian_rate(tree, q, qd, k, transforms, "local_world_aligned")
        w = Vec3.zero()
        for i in path:
            w = w + (Subspace(J[i]) @ qd[i]).angular
        I_c = (I.I - Inertia.from_com(I.mass, c, Sym3.zero()).I).rotated(R)
        links[k] = _Link(path, transforms, J, J_dot, w, I.mass, I_c)
    return links


def _matrices(tree: Tree, links: Mapping[int, _Link]) -> tuple[JointBlocks, JointSquare]:
    """M = Σ JᵀM_cJ and C = Σ (JᵀM_cJ̇ + Jᵀ[ω̃]M_cJ), eq. 59."""
    M, C = tree.blocks(), tree.square()

    for link in links.values():
        for n, j in enumerate(link.path):
            MJ = [Force(link.I_c @ s.angular, s.linear * link.m) for s in link.J[j]]
            MJ_dot = [Force(link.I_c @ s.angular, s.linear * link.m) for s in link.J_dot[j]]
            turned = [Force(link.w.cross(h.angular), Vec3.zero()) for h in MJ]  # [ω̃] M_c J
            forces = [f + g for f, g in zip(MJ_dot, turned, strict=True)]
            for i in link.path:
                _add(C, i, j, _products(link.J[i], forces))
            for i in link.path[: n + 1]:
                _add(M, i, j, _products(link.J[i], MJ))

    for i, p in tree.outward:
        count = tree.joint[i].nv
        _add(M, i, i, [[tree.armature[i][a] if a == b else 0.0 for b in range(count)] for a in range(count)])
        if p == 0 or not any(x != 0.0 for couple in tree.rotor[i] for x in couple.components()):
            continue
        parent = links[p]
        to_world = parent.seen[p].E.T.times(tree.X_T[i].E.T)
        g = [to_world @ couple for couple in tree.rotor[i]]
        spins = [Force(g_a, Vec3.zero()) for g_a in g]
        turned = [Force(parent.w.cross(g_a), Vec3.zero()) for g_a in g]
        for j in parent.path:
            _add(M, i, j, _transposed(_products(parent.J[j], spins)))
            _add(C, i, j, _transposed(_products(parent.J_dot[j], spins)))
            _add(C, j, i, _products(parent.J[j], turned))
    return M, C


def _products(motions: Sequence[Motion], forces: Sequence[Force]) -> Block:
    """Jᵀ F."""
    return [[m.dot(f) for f in forces] for m in motions]


def _transposed(block: Block) -> Block:
    return [list(column) for column in zip(*block, strict=True)]


def _add(matrix: JointBlocks | JointSquare, i: int, j: int, block: Block) -> None:
    """Add a block to the matrix."""
    if (i, j) in matrix:
        block = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(matrix[i, j], block, strict=True)]
    matrix[i, j] = block
