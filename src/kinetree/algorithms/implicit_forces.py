"""Forces as they act at the end of a time step, to first order.

    (M + h D + h² K) a = τ - C - h K v,    D = -∂τ/∂v,    K = -∂τ/∂q

"friction" takes friction and damping of the joints there. "velocity forces" takes D of all forces that have one, as far
as it has the zeros of M. "everything" takes D and K, both only as far as they resist motion, so that the matrix stays
positive definite for steps of any length.

Of a force along a length ℓ with ℓ̇ = m · v, D and K are its derivatives times m mᵀ. Those of one degree of freedom are
added to its armature, the others to entries of M.

Source: MuJoCo documentation, "Computation", section on numerical integration; version 4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from kinetree.algorithms.crba import crba
from kinetree.algorithms.drives import BRAKES, braked
from kinetree.algorithms.forward_dynamics import forward_dynamics, unbalanced
from kinetree.algorithms.ltdl import ltdl, ltdl_solve, solution
from kinetree.expr import Scalar, is_zero, maximum
from kinetree.spatial import Force
from kinetree.tree import Tree

__all__ = ["AT_THE_END", "AtTheEnd", "Coupling", "EndOfStep", "Slope", "end_of_step"]

AtTheEnd = Literal["nothing", "friction", "velocity forces", "everything"]
AT_THE_END: Mapping[str, AtTheEnd] = {
    "symplectic_euler": "nothing",
    "semi_implicit_euler": "friction",
    "implicitfast": "velocity forces",
    "discrete": "everything",
    "rk4": "nothing",
}
"""By the name of the method (integrators.py), the forces that a step takes at its end, to first order."""
Slots = Sequence[Sequence[Scalar]]


class Slope(NamedTuple):
    """How a force along a length decreases with the length and with its rate."""

    moment: Mapping[int, Sequence[Scalar]]
    """By the slots of the joints that change the length, one number per degree of freedom."""
    damping: Scalar
    stiffness: Scalar
    within: Scalar = 1.0
    """0 where the force is at a limit, and does not change."""
    remaining: Scalar = 1.0
    """The part of both that remains there where all is taken at the end of the step (`remaining_slope`)."""


class Coupling(NamedTuple):
    """A force along a length that several degrees of freedom change, as a part of M: inertia times m mᵀ."""

    moment: Mapping[int, Sequence[Scalar]]
    row: list[Scalar]
    """m, in the order of v."""
    inertia: Scalar
    """h times damping and h² times stiffness."""


class Loss(NamedTuple):
    """How much a force along a length loses until the end of a step: constant + inertia m · a."""

    moment: Mapping[int, Sequence[Scalar]]
    constant: Scalar
    inertia: Scalar


class EndOfStep(NamedTuple):
    """The equations of motion with forces as they act at the end of a step."""

    tree: Tree
    """With the terms of single degrees of freedom in its armatures."""
    losses: Sequence[Loss]
    """The losses of the forces along lengths until then."""
    couplings: Sequence[Coupling]
    shift: Slots | None
    """-h K v, and the gain of friction where axes turn."""
    fills: bool
    """Whether couplings may have entries where M has none."""
    differs: bool
    """Whether anything acts at the end of the step."""

    def shifted(self, acting: Slots) -> Any:
        """Joint forces with those that springs have gained until the end of the step."""
        if self.shift is None:
            return acting
        total = self.tree.pieces()
        for i, _ in self.tree.outward:
            total[i] = [x + y for x, y in zip(acting[i], self.shift[i], strict=True)]
        return total

    def in_armatures(self) -> EndOfStep:
        """The part of it that the armatures of the tree have."""
        alone = [Loss(moment, 0.0, inertia) for moment, _, inertia in self.losses if _is_single(moment)]
        return self._replace(losses=alone, couplings=(), shift=None)

    def power_lost(self, q: Slots, a: Slots, rates: Slots) -> Scalar:
        """By how much the power of the forces along lengths at these rates is smaller than at the step's beginning."""
        lost: Scalar = 0.0
        for moment, constant, inertia in self.losses:
            lost = lost + (constant + inertia * _along(moment, a)) * _along(moment, rates)
        if self.couplings and not self.fills:  # where M has entries
            L = crba(self.tree, q).sparse()
            a_k, rate = (L.column(self.tree.numbers(x[1:], "nv")) for x in (a, rates))
            for coupling in self.couplings:
                m = L.column(coupling.row)
                for k in L.outward:
                    lost = lost + coupling.inertia * m[k] * m[k] * a_k[k] * rate[k]
                    for i in L.above(k):
                        lost = lost + coupling.inertia * m[k] * m[i] * (a_k[k] * rate[i] + a_k[i] * rate[k])
        return lost

    def acceleration(self, q: Slots, v: Slots, acting: Slots, f_ext: Mapping[int, Force] | None) -> Any:
        """Accelerations due to joint forces and to forces on bodies."""
        tree, acting = self.tree, self.shifted(acting)
        if not self.couplings:
            return tree.in_slots(forward_dynamics(tree, q, v, acting, f_ext))
        blocks: Any = crba(tree, q)
        moved = [[k for k, x in enumerate(coupling.row) if not is_zero(x)] for coupling in self.couplings]
        L = blocks.sparse(coupled=moved if self.fills else ())
        for coupling in self.couplings:
            L.add_square(coupling.row, coupling.inertia)
        x = L.vector(unbalanced(tree, q, v, acting, f_ext))
        ltdl(L)
        ltdl_solve(L, x)
        return tree.in_slots(L.pieces(x))

    def moved(self, before: Tree, system: tuple[Any, Any], push: Any) -> Any:
        """The same with couplings to no other degrees of freedom, from M and the joint forces of the step's beginning,
        with whose armatures, and further joint forces, in the order of v."""
        M, given = system
        more = self.tree.pieces()
        more[0] = ()
        for i, _ in self.tree.outward:
            more[i] = [x - y for x, y in zip(self.tree.armature[i], before.armature[i], strict=True)]
        L, x, pushed = M.copy(), M.column(given), M.column(push)
        L.add_diagonal(M.column(self.tree.numbers(more[1:], "nv")))
        for k in M.outward:
            x[k] = x[k] + pushed[k]
        if self.shift is not None:
            shift = M.column(self.tree.numbers(self.shift[1:], "forces"))
            for k in M.outward:
                x[k] = x[k] + shift[k]
        return self.tree.split(M.in_v(solution(L, x)), "nv")


def end_of_step(
    tree: Tree, which: AtTheEnd, v: Slots, dt: Scalar, passive: Collection[str], slopes: Sequence[Slope]
) -> EndOfStep:
    """The equations of motion with the chosen forces at the end of a step of dt."""
    if which == "nothing":
        return EndOfStep(tree, (), (), None, fills=False, differs=False)
    brakes = [name for name in passive if name in BRAKES]
    end = braked(tree, v, dt, brakes)
    turning = tree.pieces()
    turning[0] = ()
    for i, _ in tree.outward:
        turning[i] = tree.joint[i].turning_rate(v[i])
    shift = _turned(tree, end, turning)
    if which == "friction":
        return EndOfStep(end, (), (), shift, fills=False, differs=_brakes(tree, brakes))
    takes_all = which == "everything"
    springs = takes_all and "spring" in passive
    armature = tree.pieces()
    armature[0] = ()
    for i, _ in tree.outward:
        springy = tree.drive[i].stiffness if springs else [0.0] * tree.joint[i].nv
        armature[i] = [A + dt * dt * k for A, k in zip(end.armature[i], springy, strict=True)]
        shift[i] = [f - dt * k * x for f, k, x in zip(shift[i], springy, v[i], strict=True)]
    couplings: list[Coupling] = []
    losses: list[Loss] = []
    for slope in slopes:
        damping, stiffness = slope.damping, slope.stiffness if takes_all else 0.0
        if takes_all:
            damping, stiffness = maximum(damping, 0.0), maximum(stiffness, 0.0)
        if is_zero(damping) and is_zero(stiffness):
            continue
        part = slope.remaining if takes_all else slope.within
        gain = part * (dt * stiffness * _along(slope.moment, v) + dt * damping * _along(slope.moment, turning))
        inertia = part * (dt * damping + dt * dt * stiffness)
        for i, m in slope.moment.items():
            shift[i] = [f - gain * m_k for f, m_k in zip(shift[i], m, strict=True)]
        losses.append(Loss(slope.moment, gain, inertia if takes_all or _is_single(slope.moment) else 0.0))
        if _is_single(slope.moment):
            ((i, (m_i,)),) = slope.moment.items()
            armature[i] = [armature[i][0] + inertia * m_i * m_i]
        else:
            couplings.append(Coupling(slope.moment, _row(tree, slope.moment), inertia))
    end = tree.with_armature(armature)
    return EndOfStep(end, losses, couplings, shift, fills=takes_all, differs=True)


def _turned(tree: Tree, end: Tree, turning: Slots) -> Any:
    """-h D (ω x v): friction is that of the velocity in axes that do not turn (`JointKind.turning_rate`)."""
    shift = tree.pieces()
    shift[0] = ()
    for i, _ in tree.outward:
        rows = zip(end.armature[i], tree.armature[i], turning[i], strict=True)
        shift[i] = [-((A - own) * x) for A, own, x in rows]
    return shift


def _is_single(moment: Mapping[int, Sequence[Scalar]]) -> bool:
    """Whether one degree of freedom alone changes the length."""
    return sum(len(m) for m in moment.values()) == 1


def _along(moment: Mapping[int, Sequence[Scalar]], v: Any) -> Scalar:
    rate: Scalar = 0.0
    for i, m in moment.items():
        rate = rate + sum((m_k * x for m_k, x in zip(m, v[i], strict=True)), 0.0)
    return rate


def _brakes(tree: Tree, which: Collection[str]) -> bool:
    """Whether a joint has friction or damping."""
    return any(
        not is_zero(c)
        for i, _ in tree.outward
        for name in which
        for c in (tree.drive[i].damping if name == "damping" else tree.drive[i].friction)
    )


def _row(tree: Tree, moment: Mapping[int, Sequence[Scalar]]) -> list[Scalar]:
    """A moment in the order of v."""
    J = tree.columns(1, apart=True)
    for slot, m in moment.items():
        J[slot] = [[m_k] for m_k in m]
    (row,) = J.in_rows()
    return list(row)
