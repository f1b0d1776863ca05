"""The wrench on the base, f₀ = Iᴬ₀ a₀ + pᴬ₀: what must act on the base body for its acceleration a₀.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), eq. 7.1 at the base, after the first two passes of
Table 7.1 over all other joints; gravity acts on every body, so a₀ is the base's true acceleration.
Names here <-> book:  those of aba.py;  base <-> 0, the body that carries all others, in whatever slot it is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.forward_dynamics import forward_dynamics
from kinetree.algorithms.hybrid_dynamics import hybrid_system
from kinetree.algorithms.momentum import carried_forces
from kinetree.expr import Scalar
from kinetree.spatial import LDLT, ArticulatedInertia, Force, ForceBasis, Motion, Subspace, Transform
from kinetree.tree import Tree, UnrolledTree

__all__ = ["base_wrench", "base_wrench_of_system"]

Pieces = Sequence[Sequence[Scalar]]


def base_wrench(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    base: int,
    a_base: Motion,
    f_ext: Mapping[int, Force] | None = None,
) -> Force:
    """Wrench on the body in slot `base`, in its coordinates. The entries of tau for the base's joint are ignored."""
    f_ext, bases = f_ext or {}, tree.some({base})
    X = tree.slots(Transform)
    S = tree.slots(Subspace)
    G = tree.slots(ForceBasis)
    v, c = tree.slots(Motion, 2)
    IA = tree.slots(ArticulatedInertia)
    pA, g = tree.slots(Force, 2)

    X[0], v[0] = Transform.identity(), Motion.zero()
    IA[0], pA[0] = tree.I[0].articulated, -f_ext.get(0, Force.zero())

    # Pass 1, outward: velocities, velocity-product accelerations, rigid-body bias.
    for i, p in tree.outward:
        X_J, S[i], v_J, c_J = tree.joint[i].calc(q[i], qd[i])
        X[i] = X_J @ tree.X_T[i]
        v[i] = X[i] @ v[p] + v_J
        c[i] = c_J + v[i].cross(v_J)
        G[i] = ForceBasis.couples(tree.rotor[i], X_J)
        g[i] = (v[i] - v_J).cross(G[i] @ qd[i])
        IA[i] = tree.I[i].articulated
        pA[i] = v[i].cross(tree.I[i] @ v[i])
        if i in f_ext:
            pA[i] = pA[i] - f_ext[i]

    # Pass 2, inward to the base: articulated-body inertias and bias forces.
    for i, p in tree.inward:
        if i in bases:
            continue
        IS = S[i].carried_by(IA[i])
        SU = S[i].inertia(IS, tree.armature[i])
        D = LDLT(SU)
        U = IS + G[i]
        UD = U.times_inverse(D, SU)
        u = [t - s + r for t, s, r in zip(tau[i], S[i].project(pA[i]), G[i].dot(c[i]), strict=True)]
        Ia = S[i].freed(IA[i] - U.outer(UD), tree.armature[i], G[i])
        pa = pA[i] + g[i] + Ia @ c[i] + UD @ u
        IA[p] = IA[p] + X[i].back(Ia)
        pA[p] = pA[p] + X[i].back(pa)

    wrench: Force = IA[base] @ (a_base - X[base] @ tree.gravity) + pA[base]
    return wrench


def base_wrench_of_system(
    tree: UnrolledTree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    base: int,
    a_base: Motion,
    f_ext: Mapping[int, Force] | None = None,
) -> Force:
    """Wrench on the base where joints share coordinates, from the accelerations of all joints (Table 5.1)."""
    if base == 0:
        tree = tree.with_gravity(tree.gravity - a_base)  # an accelerated base is as good as other gravity
        return _required(tree, q, qd, forward_dynamics(tree, q, qd, tau, f_ext), 0, f_ext)
    assert tree.coordinates is not None
    _, S, _, c_J = tree.joint[base].calc(q[base], qd[base])
    qdd: list[Sequence[Scalar]] = [*tree.at_rest()]
    qdd[base] = _rates(S, a_base - c_J)
    first = tree.v_starts[base]
    own = [k for row in tree.coordinates.v_rows[first : first + len(qdd[base])] for k, _ in row]
    found, _ = hybrid_system(tree, q, qd, tau, qdd, own, f_ext)
    return _required(tree, q, qd, found, base, f_ext)


def _rates(S: Subspace, m: Motion) -> list[Scalar]:
    """The rates x with S x = m, for a joint of six degrees of freedom."""
    columns = [s.linear_first() for s in S.columns]
    six = m.linear_first()
    squares = [[sum((x * y for x, y in zip(a, b, strict=True)), 0.0) for b in columns] for a in columns]
    return LDLT(squares).solve([sum((x * y for x, y in zip(a, six, strict=True)), 0.0) for a in columns])


def _required(
    tree: UnrolledTree, q: Pieces, qd: Pieces, qdd: Pieces, base: int, f_ext: Mapping[int, Force] | None
) -> Force:
    """The force that the body in slot `base` and everything it carries require."""
    _, f = carried_forces(tree, q, qd, tree.in_slots(qdd), -tree.gravity, f_ext)
    return f[base]
