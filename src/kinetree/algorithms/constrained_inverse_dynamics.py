"""Inverse dynamics under motion constraints: the drive forces τ and constraint forces λ of given accelerations.

    M q̈ + h = τ + Jᵀ λ,   τ = 0 where there is no drive

With n = M q̈ + h, and u for the degrees of freedom without a drive, λ satisfies Jᵤᵀ λ = nᵤ: its minimum-norm solution is
λ₀ = (Jᵤᵀ)⁺ nᵤ, and the general solution is λ = λ₀ + z with z = N z, N = 1 - (Jᵤᵀ)⁺ Jᵤᵀ: internal forces, which the
drives have to balance. They are zero for the smallest constraint forces. For the smallest drive forces z is the
minimum-norm solution of least squares of τ = n - Jᵀ (λ₀ + z) over the driven degrees of freedom.

Weights are factors of squares. They enter as units: forces and drive forces are multiplied by their weights' roots.

A degree of freedom whose rates move no held frame along any row has a row of zeros in Jᵀ, up to rounding. Such a row is
left out: it would count as one like any other, because rows are judged each by itself.

Source: Righetti, Buchli, Mistry, Kalakrishnan and Schaal, "Optimal distribution of contact forces with inverse-dynamics
control", Int. J. Robotics Research 32 (2013), with a null-space projector in place of their matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinetree.algorithms.constraint_rows import held_rows, is_more_than_rounding, squared_terms
from kinetree.algorithms.dependent_rows import decomposed
from kinetree.algorithms.drives import undriven
from kinetree.algorithms.rnea import rnea
from kinetree.expr import Scalar, less, sqrt
from kinetree.records import record
from kinetree.spatial import Force
from kinetree.tree import Tree
from kinetree.tree.holds import Hold

__all__ = ["DividedForces", "ForceDivision", "constrained_inverse_dynamics"]

Pieces = Sequence[Sequence[Scalar]]


@record(frozen=True, slots=True)
class ForceDivision:
    """How forces are divided where the accelerations leave a choice."""

    torques: Sequence[Scalar] | None
    """Weights of the squares of drive forces, one per degree of freedom; None if they do not count."""
    forces: Sequence[Scalar]
    """Weights of the squares of constraint forces, positive."""
    together: bool
    """Whether the sum of both is smallest, or that of drive forces first and of constraint forces among those."""
    tolerance: float
    """Square of the part of a row that is independent of others, relative to the row, up to which it counts as zero."""


class DividedForces(NamedTuple):
    """Forces by degree of freedom, along the rows of the constraints, and the residual."""

    tau: list[Scalar]
    forces: list[Scalar]
    unmet: list[Scalar]
    """nᵤ - Jᵤᵀ λ, which is zero where the accelerations are possible."""


def constrained_inverse_dynamics(
    tree: Tree,
    holds: Sequence[Hold],
    q: Pieces,
    qd: Pieces,
    qdd: Pieces,
    f_ext: Mapping[int, Force] | None,
    passive: Sequence[str],
    undriven_dofs: Sequence[int],
    division: ForceDivision,
) -> DividedForces:
    """τ and λ at given accelerations; `undriven_dofs` are the degrees of freedom without a drive, by number."""
    n = tree.numbers(undriven(tree, q, qd, rnea(tree, q, qd, qdd, f_ext), passive), "forces")
    held = held_rows(tree, holds, q, qd, 0.0)
    J, squares = held.J, squared_terms(tree, held)
    units = [1.0 / sqrt(w) for w in division.forces]
    scaled = [[x * unit for x in row] for row, unit in zip(J, units, strict=True)]
    counts = [
        is_more_than_rounding([row[k] for row in J], [row[k] for row in squares], division.tolerance)
        for k in range(len(n))
    ]
    u = [*undriven_dofs]
    driven = [k for k in range(len(n)) if k not in u]
    free = _Kernel(tree, [[row[k] for row in scaled] for k in u], [counts[k] for k in u], len(J), division.tolerance)
    forces = free.solution([n[k] for k in u])
    if division.torques is not None:
        roots = [sqrt(w) for w in division.torques]
        rows = [[roots[k] * row[k] for row in scaled] for k in driven]
        left = [roots[k] * (n[k] - _dot(scaled, k, forces)) for k in driven]
        present = [counts[k] for k in driven]
        if division.together:
            rows += [[float(r == s) for s in range(len(J))] for r in range(len(J))]
            left += [0.0] * len(J)
            present += [1.0] * len(J)
        forces = [a + b for a, b in zip(forces, free.least_squares(rows, present, left), strict=True)]
    forces = [x * unit for x, unit in zip(forces, units, strict=True)]
    rest = [x - _dot(J, k, forces) for k, x in enumerate(n)]
    return DividedForces([0.0 if k in u else x for k, x in enumerate(rest)], forces, [rest[k] for k in u])


class _Kernel:
    """The solutions of A x = b: the one of minimum norm, and the null space of A."""

    def __init__(
        self, tree: Tree, A: Sequence[Sequence[Scalar]], present: Sequence[Scalar], columns: int, tolerance: float
    ) -> None:
        """`present` is 0 for each row of zeros, up to rounding, and 1 for the others."""
        self._tree = tree
        self._tolerance = tolerance
        self._A = A
        self._columns = columns
        self._rows = decomposed(tree, A, tolerance, present) if A else None

    def solution(self, b: Sequence[Scalar]) -> list[Scalar]:
        """A⁺ b."""
        if self._rows is None:
            return [0.0] * self._columns
        return self._rows.solve(b)[1]

    def projected(self, x: Sequence[Scalar]) -> list[Scalar]:
        """The part of x in the null space, 1 - A⁺ A."""
        if self._rows is None:
            return [*x]
        along = self.solution([sum((a * y for a, y in zip(row, x, strict=True)), 0.0) for row in self._A])
        return [a - b for a, b in zip(x, along, strict=True)]

    def least_squares(
        self, rows: Sequence[Sequence[Scalar]], present: Sequence[Scalar], b: Sequence[Scalar]
    ) -> list[Scalar]:
        """The smallest x of the null space for which the rows come closest to b."""
        inside, counted = [], []
        for row, counts in zip(rows, present, strict=True):
            part = self.projected(row)
            # What a row outside the null space leaves there is rounding error.
            is_seen = counts * less(self._tolerance * _square(row), _square(part))
            inside.append([is_seen * x for x in part])
            counted.append(is_seen)
        return decomposed(self._tree, inside, self._tolerance, counted).solve(b)[1]


def _square(row: Sequence[Scalar]) -> Scalar:
    return sum((x * x for x in row), 0.0)


def _dot(J: Pieces, k: int, forces: Sequence[Scalar]) -> Scalar:
    """Entry k of Jᵀ λ."""
    return sum((row[k] * x for row, x in zip(J, forces, strict=True)), 0.0)
