"""Configurations and velocities that satisfy motion constraints, nearest to given ones.

A displacement d of the start q₀ is sought with error(q₀ ⊕ d) = 0 and |d| smallest. With the error linearised at the
present q = q₀ ⊕ Δ, J (d - Δ) = -error, so d = J⁺ (J Δ - error): Gauss and Newton's step for a constrained problem. At
its end d = J⁺ J d lies in the rows of J, as for the nearest configuration to first order; q - J⁺ error then removes the
rest of the error quadratically. For velocities the problem is linear: v - J⁺ J v. Degrees of freedom that are held have
no columns. Rows that the other joints cannot move are left out: rounding leaves small numbers of their zeros.

Source: Nocedal and Wright, *Numerical Optimization*, 2nd edition (2006), section 18.1, with the unit matrix as Hessian.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from kinetree.algorithms.configuration import difference
from kinetree.algorithms.constraint_rows import HeldRows, held_rows, is_more_than_rounding, squared_terms
from kinetree.algorithms.constraints import constraint_error
from kinetree.algorithms.dependent_rows import Solution, solutions
from kinetree.algorithms.kinematics import placements
from kinetree.expr import Scalar, less, select, sqrt
from kinetree.tree import Tree
from kinetree.tree.holds import Hold

__all__ = ["AssemblyStep", "assembly_residual", "assembly_step", "nearest_velocity"]

Pieces = Sequence[Sequence[Scalar]]
_LONGEST = 0.5
"""Length of a step's change, rad or m: beyond it the linearised error says little."""


class AssemblyStep(NamedTuple):
    """One step: displacements to apply, and the errors before it."""

    from_start: list[Scalar]
    """d, from the start."""
    from_here: list[Scalar]
    """-J⁺ error, from the present configuration."""
    errors: list[Scalar]


def assembly_step(
    tree: Tree, holds: Sequence[Hold], q: Pieces, start: Pieces, held: Collection[int], tolerance: float
) -> AssemblyStep:
    """A step from q; frames held without a place stay where they are at the start. `held`: degrees of freedom."""
    rows, errors = _rows_and_errors(tree, holds, q, start)
    J = _free_columns(rows.J, held)
    away = tree.numbers(difference(tree, start, q), "nv")
    right = [sum((a * x for a, x in zip(row, away, strict=True)), 0.0) - e for row, e in zip(J, errors, strict=True)]
    (_, here), (_, there) = _solutions(tree, rows, held, tolerance, [-x for x in errors], right)
    change = _where_free([a - b for a, b in zip(there, away, strict=True)], held)
    factor = _shortened(change)
    from_start = [a + factor * c for a, c in zip(away, change, strict=True)]
    return AssemblyStep(from_start, _where_free(here, held), errors)


def assembly_residual(
    tree: Tree,
    holds: Sequence[Hold],
    q: Pieces,
    multipliers: Sequence[Scalar],
    start: Pieces,
    held: Collection[int],
) -> list[Scalar]:
    """Jᵀ λ - Δ and the errors, which are zero at the configuration that the steps lead to, and at some λ.

    The columns of J for degrees of freedom that are held are zero.
    """
    rows, errors = _rows_and_errors(tree, holds, q, start)
    away = tree.numbers(difference(tree, start, q), "nv")
    columns = zip(*_free_columns(rows.J, held), strict=True)
    forces = [sum((a * x for a, x in zip(column, multipliers, strict=True)), 0.0) for column in columns]
    return [*(f - a for f, a in zip(forces, away, strict=True)), *errors]


def nearest_velocity(
    tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, held: Collection[int], tolerance: float
) -> list[Scalar]:
    """v - J⁺ J v."""
    rows = held_rows(tree, holds, q, qd, 0.0)
    velocity = [x for m in rows.motions for x in m.velocity]
    ((_, change),) = _solutions(tree, rows, held, tolerance, [-x for x in velocity])
    return [a + b for a, b in zip(tree.numbers(qd[1:], "nv"), _where_free(change, held), strict=True)]


def _rows_and_errors(tree: Tree, holds: Sequence[Hold], q: Pieces, start: Pieces) -> tuple[HeldRows, list[Scalar]]:
    """Rows and errors at q; frames held without a place are held where they are at the start."""
    X_0 = placements(tree, start)
    holds = [
        replace(hold, at=hold.frame.placement @ X_0[hold.frame.slot])
        if hold.carrier is None and hold.at is None
        else hold
        for hold in holds
    ]
    rows = held_rows(tree, holds, q, tree.at_rest(), 0.0)
    return rows, [x for hold, m in zip(holds, rows.motions, strict=True) for x in constraint_error(hold, m)]


def _where_free(x: Sequence[Scalar], held: Collection[int]) -> list[Scalar]:
    """The same numbers with exact zeros for degrees of freedom that are held."""
    return [0.0 if k in held else x_k for k, x_k in enumerate(x)]


def _free_columns(rows: Pieces, held: Collection[int]) -> list[list[Scalar]]:
    return [_where_free(row, held) for row in rows]


def _solutions(
    tree: Tree, rows: HeldRows, held: Collection[int], tolerance: float, *sides: Sequence[Scalar]
) -> list[Solution]:
    """With J without the columns that are held as B."""
    J, squares = _free_columns(rows.J, held), _free_columns(squared_terms(tree, rows), held)
    counts = [is_more_than_rounding(row, terms, tolerance) for row, terms in zip(J, squares, strict=True)]
    return solutions(tree, J, tolerance, counts, *sides)


def _shortened(change: Sequence[Scalar]) -> Scalar:
    """The factor that makes a change no longer than `_LONGEST`."""
    square: Scalar = sum((x * x for x in change), 0.0)
    is_long = less(_LONGEST * _LONGEST, square)
    factor: Scalar = select(is_long, _LONGEST / sqrt(select(is_long, square, 1.0)), 1.0)
    return factor
