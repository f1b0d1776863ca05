"""Momentum about the centre of mass: its matrix A(q), with h = A q̇, the derivative of A, and the composite inertia.

Source: Orin, Goswami and Lee, "Centroidal dynamics of a humanoid robot" (2013), with the columns Iᶜ S of the
composite-rigid-body algorithm (RBDA Table 6.2) in place of their system Jacobian. The derivative is that of Iᶜ S in
each body's coordinates, where d(Iᶜ)/dt comes only from the joints further out and is passed inward like Iᶜ.
Names here <-> table:  p <-> λ(i),  X[i] <-> ⁱX_λ(i),  Ic <-> Iᶜ,  w <-> ω;  k is the body that carries all others.
R[i] rotates from the world's axes to those of body i, and d[i] leads from the centre of mass to the origin of body i,
in its axes. So coordinates at the centre are formed only where they are needed, and each column is rotated once.
Where one body carries all others and the root has neither mass nor rotors (k, a floating base), nothing is referred to
the world's origin, so no digits are lost far from it, and its translation has exactly zero angular momentum.
G is the momentum of geared rotors at unit rates (section 9.6); they spin on the parent.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.momentum import carried_momenta, carried_momentum_rates
from kinetree.expr import Scalar
from kinetree.joints.derivatives import subspace_rate
from kinetree.spatial import Force, ForceBasis, Inertia, Mat3, Motion, Subspace, Sym3, Transform, Vec3
from kinetree.tree import Tree
from kinetree.tree.matrices import JointColumns

__all__ = [
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
    "centroidal_momentum_rate",
]

Slots = Sequence[Sequence[Scalar]]


def centroidal_momentum(tree: Tree, q: Slots, qd: Slots, total_mass: Scalar) -> Force:
    """Momentum about the centre of mass, in the world's axes."""
    X, h = carried_momenta(tree, q, qd)
    return _about_center(tree, X, h, total_mass)


def centroidal_momentum_rate(tree: Tree, q: Slots, qd: Slots, qdd: Slots, total_mass: Scalar) -> Force:
    """Rate of centroidal momentum; the centre's motion adds nothing, as it is parallel to the linear momentum."""
    X, f = carried_momentum_rates(tree, q, qd, qdd)
    return _about_center(tree, X, f, total_mass)


def centroidal_inertia(tree: Tree, q: Slots, total_mass: Scalar) -> Sym3:
    """The rotational inertia of everything about the centre of mass, in the world's axes."""
    X, _, _, _, Ic = _composite(tree, q)
    k = tree.carrier
    central = _central(Ic[k], Ic[k].h * (1.0 / total_mass))
    return central if k == 0 else central.rotated(X[k].E.T)


def centroidal_momentum_matrix(tree: Tree, q: Slots, total_mass: Scalar) -> JointColumns:
    """The columns of A: the momentum due to a unit rate of each degree of freedom."""
    _, X_J, S, G, Ic = _composite(tree, q)
    R = tree.slots(Mat3)
    d = tree.slots(Vec3)
    A = tree.columns(6)

    k = tree.carrier
    R[0], d[k] = Mat3.identity(), Ic[k].h * (-1.0 / total_mass)
    for i, p in tree.outward:
        R_F = tree.X_T[i].E.times(R[p])
        R[i] = X_J[i].E.times(R_F)
        if i == k:
            U = _carriers_own(_central(Ic[i], -d[i]), Ic[i], S[i])
            A[i] = [_turned_back(R[i], u).linear_first() for u in U]
            continue
        # Via the axes of the joint's fixed side: this rotation is shared with that of Iᶜ and costs nothing.
        d_F = tree.X_T[i].E @ (d[p] + tree.X_T[i].r) + X_J[i].r
        d[i] = X_J[i].E @ d_F
        U_F = [_turned_back(X_J[i].E, u) for u in (S[i].carried_by(Ic[i]) + G[i]).columns]
        A[i] = [_turned_back(R_F, _shifted(u, d_F)).linear_first() for u in U_F]
    return A


def centroidal_momentum_matrix_rate(tree: Tree, q: Slots, qd: Slots, total_mass: Scalar) -> JointColumns:
    """The columns of dA/dt. The suffix _o marks derivatives as seen from the body itself (RBDA's ring)."""
    X, _, S, G, Ic = _composite(tree, q)
    v_J = tree.slots(Motion)
    w, d, d_o = tree.slots(Vec3, 3)
    S_o = tree.slots(Subspace)
    I_o = tree.slots(Inertia)
    R = tree.slots(Mat3)
    A_dot = tree.columns(6)

    # Outward: angular velocities, joint velocities, and rates of the joints' subspaces.
    w[0], I_o[0] = Vec3.zero(), Inertia.zero()
    for i, p in tree.outward:
        v_J[i] = S[i] @ qd[i]
        w[i] = X[i].E @ w[p] + v_J[i].angular
        S_o[i] = subspace_rate(tree.joint[i], q[i], qd[i])
        I_o[i] = Inertia.zero()

    # Inward: rates of composite inertias; a body's own inertia is constant as seen from that body.
    for i, p in tree.inward:
        I_o[p] = I_o[p] + X[i].back(I_o[i] + _rate(Ic[i], v_J[i]))

    # Outward: columns in each body's axes, u and its derivative there, and u_o + ω x u in the world's.
    k = tree.carrier
    R[0] = Mat3.identity()
    d[k], d_o[k] = Ic[k].h * (-1.0 / total_mass), I_o[k].h * (-1.0 / total_mass)
    for i, p in tree.outward:
        R[i] = X[i].E.times(R[p])
        if i == k:
            c = -d[i]
            central, central_o = _central(Ic[i], c), I_o[i].I - _product(c, I_o[i].h)
            u = _carriers_own(central, Ic[i], S[i])
            u_o = _sums(_carriers_own(central_o, I_o[i], S[i]), _carriers_own(central, Ic[i], S_o[i]))
        else:
            d[i] = X[i].E @ (d[p] + X[i].r)
            d_o[i] = X[i].E @ d_o[p] + v_J[i].linear - v_J[i].angular.cross(d[i])
            U = S[i].carried_by(Ic[i]).columns
            U_o = _sums(S[i].carried_by(I_o[i]).columns, S_o[i].carried_by(Ic[i]).columns)
            u = [_shifted(f, d[i]) for f in U]
            moved = [Force(d_o[i].cross(f.linear), Vec3.zero()) for f in U]
            u_o = _sums([_shifted(f, d[i]) for f in U_o], moved)
        A_dot[i] = [
            _turned_back(R[i], f_o + _turning(w[i], f) + _turning(w[i] - v_J[i].angular, g)).linear_first()
            for f, f_o, g in zip(u, u_o, G[i].columns, strict=True)
        ]
    return A_dot


def _composite(
    tree: Tree, q: Slots
) -> tuple[list[Transform], list[Transform], list[Subspace], list[ForceBasis], list[Inertia]]:
    """X, X_J, S, G, and Iᶜ: each body and everything it carries as one rigid body (RBDA Table 6.2)."""
    X, X_J = tree.slots(Transform, 2)
    S = tree.slots(Subspace)
    G = tree.slots(ForceBasis)
    Ic = tree.slots(Inertia)
    Ic[0] = tree.I[0]
    for i, _ in tree.outward:
        X_J[i], S[i], _, _ = tree.joint[i].calc(q[i], [0.0] * tree.joint[i].nv)
        X[i] = X_J[i] @ tree.X_T[i]
        G[i] = ForceBasis.couples(tree.rotor[i], X_J[i])
        Ic[i] = tree.I[i]
    for i, p in tree.inward:
        Ic[p] = Ic[p] + X[i].back(Ic[i])
    return X, X_J, S, G, Ic


def _about_center(tree: Tree, X: Sequence[Transform], f: Sequence[Force], total_mass: Scalar) -> Force:
    """Sum of all bodies' contributions, about the centre of mass and in the world's axes."""
    mass = tree.scalars()
    h = tree.slots(Vec3)
    mass[0], h[0] = tree.I[0].mass, tree.I[0].h
    for i, _ in tree.outward:
        mass[i], h[i] = tree.I[i].mass, tree.I[i].h
    for i, p in tree.inward:
        mass[p] = mass[p] + mass[i]
        h[p] = h[p] + X[i].E.T @ h[i] + X[i].r * mass[i]
    k = tree.carrier
    total = _shifted(f[k], h[k] * (-1.0 / total_mass))
    return total if k == 0 else _turned_back(X[k].E, total)


def _turned_back(E: Mat3, f: Force) -> Force:
    """Rotate a force into the axes that E leads from, about the same point."""
    return Transform(E, Vec3.zero()).back(f)


def _turning(w: Vec3, f: Force) -> Force:
    """ω x* f, the rate of a force that turns with ω."""
    return Force(w.cross(f.angular), w.cross(f.linear))


def _shifted(f: Force, d: Vec3) -> Force:
    """A force about another point, from which d leads to the original one."""
    return Force(f.angular + d.cross(f.linear), f.linear)


def _sums(a: Sequence[Force], b: Sequence[Force]) -> list[Force]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _carriers_own(central: Sym3, Ic: Inertia, S: Subspace) -> list[Force]:
    """Iᶜ S of the body that carries all others, about the centre of mass: only rotation has an angular part."""
    return [Force(central @ s.angular, (Ic @ s).linear) for s in S.columns]


def _rate(I: Inertia, v: Motion) -> Inertia:
    """v x* I - I v x, the derivative of an inertia that moves at v (RBDA section 2.13); its mass is constant."""
    h_dot = v.angular.cross(I.h) + v.linear * I.mass
    turning = Mat3.skew(v.angular).times(I.I.full)  # ω x I, and its transpose is -I ω x
    return Inertia(0.0, h_dot, Sym3.upper(turning + turning.T) + _product(I.h, v.linear))


def _product(a: Vec3, b: Vec3) -> Sym3:
    """2 a . b 1 - a bᵀ - b aᵀ = -(a x b x + b x a x)."""
    xx, yy, zz = (x + x for x in (a.x * b.x, a.y * b.y, a.z * b.z))
    xy, xz, yz = a.x * b.y + a.y * b.x, a.x * b.z + a.z * b.x, a.y * b.z + a.z * b.y
    return Sym3(yy + zz, xx + zz, xx + yy, -xy, -xz, -yz)


def _central(Ic: Inertia, c: Vec3) -> Sym3:
    """The rotational inertia about the centre of mass, which is c (RBDA eq. 2.63)."""
    return (Ic - Inertia.from_com(Ic.mass, c, Sym3.zero())).I
