"""Robots with joints that share coordinates: followers that mimic a leader, and couplings by a constant matrix.

With the robot's coordinates z and those of all joints q, q = G z + b and q̇ = G ż with a constant G. Forces on z are
Gᵀ τ, the mass matrix is Gᵀ M G, and nothing else changes: G has no derivative (RBDA section 8.5 with a constant G).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import Scalar
from kinetree.records import record

__all__ = ["CoordinateMap", "Row"]

Row = tuple[tuple[int, float], ...]
"""A row of a sparse matrix: pairs (column, number)."""


@record(frozen=True, slots=True)
class CoordinateMap:
    """G and b for q and for v, and left inverses of both G."""

    nq: int
    """Coordinates of the robot."""
    nv: int
    q_rows: tuple[Row, ...]
    """One row per coordinate of the joints."""
    q_offset: tuple[float, ...]
    v_rows: tuple[Row, ...]
    q_back: tuple[Row, ...]
    """One row per coordinate of the robot: its value in terms of the joints' coordinates."""
    v_back: tuple[Row, ...]

    def matrix(self) -> NDArray[np.float64]:
        """G of v, dense."""
        G = np.zeros((len(self.v_rows), self.nv))
        for r, row in enumerate(self.v_rows):
            for column, weight in row:
                G[r, column] = weight
        return G

    def spread(self, x: Sequence[Scalar], space: str) -> list[Scalar]:
        """The joints' numbers from the robot's: q ("nq"), v ("nv"), or forces that have the same power ("forces")."""
        if space == "nq":
            return [_sum(row, x) + b if b else _sum(row, x) for row, b in zip(self.q_rows, self.q_offset, strict=True)]
        if space == "nv":
            return [_sum(row, x) for row in self.v_rows]
        return transposed_product(self.v_back, x, len(self.v_rows))

    def gathered(self, x: Sequence[Scalar], space: str) -> list[Scalar]:
        """The robot's numbers from the joints': also q̇ ("rates"), and squares of terms of forces ("squares")."""
        if space == "nq":
            moved = [x_k - b if b else x_k for x_k, b in zip(x, self.q_offset, strict=True)]
            return [_sum(row, moved) for row in self.q_back]
        if space == "rates":
            return [_sum(row, x) for row in self.q_back]
        if space == "nv":
            return [_sum(row, x) for row in self.v_back]
        if space == "squares":
            squared = [tuple((k, weight * weight) for k, weight in row) for row in self.v_rows]
            return transposed_product(squared, x, self.nv)
        return transposed_product(self.v_rows, x, self.nv)


def _sum(row: Row, x: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for k, weight in row:
        total = total + (x[k] if weight == 1.0 else x[k] * weight)
    return total


def transposed_product(rows: Sequence[Row], x: Sequence[Scalar], n: int) -> list[Scalar]:
    """Gᵀ x, n numbers, for a G with these rows."""
    total: list[Scalar] = [0.0] * n
    for row, x_k in zip(rows, x, strict=True):
        for k, weight in row:
            total[k] = total[k] + (x_k if weight == 1.0 else x_k * weight)
    return total
