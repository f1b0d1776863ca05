"""Forward dynamics and impacts under motion constraints.

    M q̈ + h = τ + Jᵀ λ,   J q̈ + J̇ v = a*

so that Λ⁻¹ λ = a* - J̇ v - J M⁻¹ (τ - h) with Λ⁻¹ = J M⁻¹ Jᵀ. "kkt" uses the sparse factors of M = Lᵀ D L, and Y = J
L⁻¹ with Λ⁻¹ = Y D⁻¹ Yᵀ; "operational_space" uses articulated bodies and never forms M.

Sources: Featherstone, *Rigid Body Dynamics Algorithms* (2008), sections 6.5 (factors that keep the tree's zeros), 8.2
and 8.4 (loops), 11.2 (impacts); for Λ, Khatib, "A unified approach for motion and force control of robot manipulators",
IEEE J. Robotics and Automation 3 (1987).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.algorithms.constraint_rows import HeldRows, constraint_motion, held_rows
from kinetree.algorithms.constraints import constraint_error
from kinetree.algorithms.dependent_rows import Solution, decomposed, solutions
from kinetree.algorithms.forward_dynamics import forward_dynamics, unbalanced
from kinetree.algorithms.half_solutions import HalfSolutions, RootedHalves
from kinetree.algorithms.operational_space import JointParts
from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial import LDLT, Force
from kinetree.tree import Tree
from kinetree.tree.holds import Hold

__all__ = [
    "Constrained",
    "ConstraintRule",
    "constrained_dynamics",
    "constraint_errors",
    "impact",
    "operational_space_inertia",
    "projected_state",
]

Pieces = Sequence[Sequence[Scalar]]


@record(frozen=True, slots=True)
class ConstraintRule:
    """Treatment of constraints that depend on each other or hold something that cannot move."""

    method: str
    damping: Scalar
    """Added to the diagonal of Λ⁻¹."""
    tolerance: float
    """Relative mobility of a row below which it counts as zero; 0 if all rows are known to be independent."""

    @property
    def looks(self) -> bool:
        """Whether rows may depend on each other."""
        return self.tolerance > 0.0 and isinstance(self.damping, float) and self.damping == 0.0


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
    """Accelerations q̈ and forces λ due to joint forces tau; a* is `acceleration` plus the gains' term."""
    rows = _rows(tree, holds, q, qd, rule)
    reference = [a + b for a, b in zip((x for m in rows.motions for x in m.wanted), acceleration, strict=True)]
    halves, Y = _halves(tree, rows, q, rule)
    if isinstance(halves, JointParts):
        free = forward_dynamics(tree, q, qd, tau, f_ext)
        moved = constraint_motion(tree, holds, q, qd, tree.in_slots(free))
        missing = [a - x for a, x in zip(reference, (x for m in moved for x in m.acceleration), strict=True)]
        forces, total = _solved(tree, rows, halves, Y, missing, rule, halves.nothing())
        change = halves.rest(total)
        return Constrained([a + b for a, b in zip(tree.joined(free, "nv"), change, strict=True)], forces)
    u = unbalanced(tree, q, qd, tau, f_ext)
    y = halves.half_of(u)
    bias = [x for m in rows.motions for x in m.acceleration]
    missing = [a - b - halves.dot(row, y) for a, b, row in zip(reference, bias, Y, strict=True)]
    forces, total = _solved(tree, rows, halves, Y, missing, rule, y)
    return Constrained(halves.rest(total), forces)


def impact(
    tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, restitution: Sequence[Scalar], rule: ConstraintRule
) -> Constrained:
    """Velocities v⁺ and impulses ι along the rows, with M (v⁺ - v⁻) = Jᵀ ι and J v⁺ = -e J v⁻."""
    rows = _rows(tree, holds, q, qd, rule)
    before = [x for m in rows.motions for x in m.velocity]
    missing = [-(1.0 + e) * x for e, x in zip(restitution, before, strict=True)]
    halves, Y = _halves(tree, rows, q, rule)
    impulses, total = _solved(tree, rows, halves, Y, missing, rule, halves.nothing())
    v = tree.numbers(qd[1:], "nv")
    return Constrained([a + b for a, b in zip(v, halves.rest(total), strict=True)], impulses)


def projected_state(
    tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, rule: ConstraintRule
) -> tuple[Sequence[Sequence[Scalar]], Sequence[Sequence[Scalar]]]:
    """q and v near a state, from slot 1 on, with the error removed to second order and J v = 0 to first.

    Directions that turn with their frame hold its velocity alone (a skate). Both changes, -M⁻¹ Jᵀ Λ error and
    -M⁻¹ Jᵀ Λ J v, are the smallest as the inertias measure them. Rows may depend on each other.

    Source: Hairer and Wanner, *Solving Ordinary Differential Equations II* (1996), section VII.2, projections.
    """
    rows = _rows(tree, holds, q, qd, rule)
    halves, Y = _halves(tree, rows, q, rule)
    motions = list(zip(holds, rows.motions, strict=True))
    errors: list[Scalar] = []
    for hold, motion in motions:
        errors += constraint_error(hold, motion) if hold.has_place else [0.0] * motion.size
    velocity = [x for _, motion in motions for x in motion.velocity]
    solved = _solutions(tree, rows, halves, Y, rule, [-x for x in errors], [-x for x in velocity])
    away, change = (tree.split(halves.rest(halves.unrooted(y)), "nv") for _, y in solved)
    q_next, v_next = tree.pieces(2)
    for i, _ in tree.outward:
        q_next[i] = tree.joint[i].integrate(q[i], away[i])
        v_next[i] = [a + b for a, b in zip(qd[i], change[i], strict=True)]
    return q_next[1:], v_next[1:]


def operational_space_inertia(tree: Tree, holds: Sequence[Hold], q: Pieces, rule: ConstraintRule) -> list[Scalar]:
    """Λ = (J M⁻¹ Jᵀ)⁺, row by row."""
    rows = _rows(tree, holds, q, tree.at_rest(), rule)
    halves, Y = _halves(tree, rows, q, rule)
    if rule.looks:
        return decomposed(tree, halves.rooted(Y), rule.tolerance, rows.kept).inverse()
    solver, m = _factored(halves, Y, rule), len(Y)
    columns = [solver.solve([float(r == s) for r in range(m)]) for s in range(m)]
    return [columns[min(r, s)][max(r, s)] for r in range(m) for s in range(m)]


def _rows(tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, rule: ConstraintRule) -> HeldRows:
    return held_rows(tree, holds, q, qd, rule.tolerance if rule.looks else 0.0)


def _halves(
    tree: Tree, rows: HeldRows, q: Pieces, rule: ConstraintRule
) -> tuple[HalfSolutions | JointParts, list[list[Scalar]]]:
    """The solver, and the half-solutions of unit forces along the rows."""
    if rule.method == "operational_space" and tree.coordinates is None and not tree.is_one_system:
        parts = JointParts(tree, q)
        return parts, [parts.half(wrench) for wrench in rows.wrenches()]
    # Joints that share coordinates have no articulated bodies of their own.
    scales = rule.looks and tree.is_one_system
    solutions = RootedHalves(tree, q) if scales else HalfSolutions(tree, q)
    return solutions, [solutions.half(row, kept) for row, kept in zip(rows.J, rows.kept, strict=True)]


def _solved(
    tree: Tree,
    rows: HeldRows,
    halves: HalfSolutions | JointParts,
    Y: Pieces,
    missing: Sequence[Scalar],
    rule: ConstraintRule,
    y: Sequence[Scalar],
) -> tuple[list[Scalar], list[Scalar]]:
    """Forces λ with Λ⁻¹ λ = `missing`, and the half-solution y plus that of Jᵀ λ."""
    if rule.looks:
        ((forces, part),) = _solutions(tree, rows, halves, Y, rule, missing)
        return forces, [a + b for a, b in zip(y, halves.unrooted(part), strict=True)]
    forces, total = _factored(halves, Y, rule).solve(missing), list(y)
    for row, x in zip(Y, forces, strict=True):
        total = [a + x * b for a, b in zip(total, row, strict=True)]
    return forces, total


def _solutions(
    tree: Tree,
    rows: HeldRows,
    halves: HalfSolutions | JointParts,
    Y: Pieces,
    rule: ConstraintRule,
    *sides: Sequence[Scalar],
) -> list[Solution]:
    return solutions(tree, halves.rooted(Y), rule.tolerance, rows.kept, *sides)


def _factored(halves: HalfSolutions | JointParts, Y: Pieces, rule: ConstraintRule) -> LDLT:
    """Factors of Λ⁻¹ with damping."""
    inverse = halves.gram(Y)
    return LDLT([[x + rule.damping if r == s else x for s, x in enumerate(row)] for r, row in enumerate(inverse)])
