"""Forward dynamics and impacts under motion constraints.

    M q̈ + C = τ + Jᵀ λ,   J q̈ + J̇ v = a*

so that Λ⁻¹ λ = a* - J̇ v - J M⁻¹ (τ - C) with Λ⁻¹ = J M⁻¹ Jᵀ. "kkt" has M = L D Lᵀ by its sparse factors and
Λ⁻¹ = Y D⁻¹ Yᵀ with Y = J L⁻ᵀ; "operational_space" goes through articulated bodies and never forms M.

Sources: Featherstone, *Rigid Body Dynamics Algorithms* (2008), sections 6.5 (factors that keep the tree's zeros), 8.2
and 8.4 (loops), 11.2 (impacts); for Λ, Khatib, "A unified approach for motion and force control of robot manipulators",
IEEE J. Robotics and Automation 3 (1987).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.algorithms.constraint_rows import HeldRows, constraint_motion, held_rows
from kinetree.algorithms.constraints import HeldMotion, constraint_error
from kinetree.algorithms.forward_dynamics import forward_dynamics, unbalanced
from kinetree.algorithms.half_solutions import HalfSolutions
from kinetree.algorithms.operational_space import inverse_operational_inertia
from kinetree.algorithms.semidefinite import SemidefiniteLDLT
from kinetree.expr import Scalar
from kinetree.model import Tree
from kinetree.model.constraints import Hold
from kinetree.spatial import LDLT, Force

__all__ = [
    "Constrained",
    "ConstraintRule",
    "constrained_dynamics",
    "constraint_errors",
    "impact",
    "operational_space_inertia",
]

Pieces = Sequence[Sequence[Scalar]]


@dataclass(frozen=True, slots=True)
class ConstraintRule:
    """What is done about constraints that depend on each other, or hold what cannot move."""

    method: str
    damping: float
    """Added to the diagonal of Λ⁻¹."""
    tolerance: float
    """Of a row's mobility, below which it counts as none; zero where all rows are known to be independent."""

    @property
    def looks(self) -> bool:
        """Whether rows may be left out."""
        return self.tolerance > 0.0 and self.damping == 0.0

    def factored(self, inverse: Sequence[Sequence[Scalar]]) -> LDLT | SemidefiniteLDLT:
        """Of Λ⁻¹."""
        if self.looks:
            return SemidefiniteLDLT(inverse, self.tolerance)
        return LDLT([[x + self.damping if r == s else x for s, x in enumerate(row)] for r, row in enumerate(inverse)])

    def solved(self, inverse: Sequence[Sequence[Scalar]], missing: Sequence[Scalar]) -> list[Scalar]:
        """The forces λ that give what is missing: Λ⁻¹ λ."""
        factors = self.factored(inverse)
        return factors.refined(missing) if isinstance(factors, SemidefiniteLDLT) else factors.solve(missing)


class Constrained(NamedTuple):
    """The accelerations (or velocities after an impact), and the forces (or impulses) along the rows."""

    motion: list[Scalar]
    forces: list[Scalar]


def constraint_errors(tree: Tree, holds: Sequence[Hold], q: Pieces) -> list[Scalar]:
    """How far each frame is from where it is held, row by row."""
    motions = constraint_motion(tree, holds, q, tree.at_rest())
    return [x for hold, motion in zip(holds, motions, strict=True) for x in constraint_error(hold, motion)]


def constrained_dynamics(
    tree: Tree,
    holds: Sequence[Hold],
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    f_ext: Mapping[int, Force] | None,
    acceleration: Sequence[Scalar],
    rule: ConstraintRule,
) -> Constrained:
    """The accelerations q̈ and the forces λ that joint forces tau give; a* has the given acceleration besides gains'."""
    rows = held_rows(tree, holds, q, qd, rule.tolerance if rule.looks else 0.0)
    if _goes_by_bodies(tree, rule):
        free = forward_dynamics(tree, q, qd, tau, f_ext)
        moved = constraint_motion(tree, holds, q, qd, tree.in_slots(free))  # type: ignore[arg-type]
        wanted = [a + b for a, b in zip((x for m in rows.motions for x in m.wanted), acceleration, strict=True)]
        missing = [a - x for a, x in zip(wanted, (x for m in moved for x in m.acceleration), strict=True)]
        forces = rule.solved(_inverse_by_bodies(tree, rows, q), missing)
        acting = dict(f_ext or {})
        for motion, x in zip(rows.motions, _split(rows.motions, forces), strict=True):
            for i, f in motion.wrench(x).on:
                acting[i] = acting[i] + f if i in acting else f
        qdd = forward_dynamics(tree, q, qd, tau, acting)
        return Constrained(tree.joined(qdd, "nv"), forces)
    u = unbalanced(tree, q, qd, tau, f_ext)
    factors = HalfSolutions(tree, q)
    y = factors.half(tree.joined(u[1:], "forces"))
    Y = [factors.half(row) for row in rows.J]
    bias = [x for m in rows.motions for x in m.acceleration]
    wanted = [a + b for a, b in zip((x for m in rows.motions for x in m.wanted), acceleration, strict=True)]
    missing = [a - b - factors.dot(row, y) for a, b, row in zip(wanted, bias, Y, strict=True)]
    forces = rule.solved(factors.gram(Y), missing)
    return Constrained(factors.rest(_plus(y, Y, forces)), forces)


def impact(
    tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, restitution: Sequence[Scalar], rule: ConstraintRule
) -> Constrained:
    """The velocities after M (v⁺ - v⁻) = Jᵀ ι, J v⁺ = -e J v⁻, and the impulses ι along the rows."""
    rows = held_rows(tree, holds, q, qd, rule.tolerance if rule.looks else 0.0)
    before = [x for m in rows.motions for x in m.velocity]
    missing = [-(1.0 + e) * x for e, x in zip(restitution, before, strict=True)]
    factors = HalfSolutions(tree, q)
    Y = [factors.half(row) for row in rows.J]
    inverse = _inverse_by_bodies(tree, rows, q) if _goes_by_bodies(tree, rule) else factors.gram(Y)
    impulses = rule.solved(inverse, missing)
    jump = factors.rest(_plus(factors.nothing(), Y, impulses))
    v = tree.joined(qd[1:], "nv")
    return Constrained([a + b for a, b in zip(v, jump, strict=True)], impulses)


def operational_space_inertia(tree: Tree, holds: Sequence[Hold], q: Pieces, rule: ConstraintRule) -> list[Scalar]:
    """Λ = (J M⁻¹ Jᵀ)⁺, row by row."""
    rows = held_rows(tree, holds, q, tree.at_rest(), rule.tolerance if rule.looks else 0.0)
    if _goes_by_bodies(tree, rule):
        inverse = _inverse_by_bodies(tree, rows, q)
    else:
        factors = HalfSolutions(tree, q)
        inverse = factors.gram([factors.half(row) for row in rows.J])
    solver, m = rule.factored(inverse), len(inverse)
    columns = [solver.solve([float(r == s) for r in range(m)]) for s in range(m)]
    return [columns[min(r, s)][max(r, s)] for r in range(m) for s in range(m)]


def _plus(y: list[Scalar], Y: Sequence[Sequence[Scalar]], weights: Sequence[Scalar]) -> list[Scalar]:
    """y + Yᵀ w."""
    total = list(y)
    for row, w in zip(Y, weights, strict=True):
        total = [a + w * b for a, b in zip(total, row, strict=True)]
    return total


def _goes_by_bodies(tree: Tree, rule: ConstraintRule) -> bool:
    """Joints that share coordinates have no articulated bodies of their own; M has the same answer."""
    return rule.method == "operational_space" and tree.coordinates is None


def _inverse_by_bodies(tree: Tree, rows: HeldRows, q: Pieces) -> list[list[Scalar]]:
    kept = iter(rows.kept)
    wrenches = [
        motion.wrench([next(kept) if r == s else 0.0 for s in range(motion.size)])
        for motion in rows.motions
        for r in range(motion.size)
    ]
    return inverse_operational_inertia(tree, q, wrenches)


def _split(motions: Sequence[HeldMotion], x: Sequence[Scalar]) -> list[Sequence[Scalar]]:
    pieces, first = [], 0
    for motion in motions:
        pieces.append(x[first : first + motion.size])
        first += motion.size
    return pieces
