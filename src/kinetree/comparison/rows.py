"""Rows of soft constraints as both sides have them, and which of one side's is which of the other's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.row_costs import DryFriction, EllipticCone, Equality, OneSided, Pyramid
from kinetree.comparison.side import Array
from kinetree.records import record

__all__ = ["KINDS", "Rows", "matched", "own_rows"]

KINDS = ("equalities", "dry friction", "limits and contacts")
"""Kinds of rows, in the order in which their numbers are compared."""


@record(frozen=True, slots=True, eq=False)
class Rows:
    """The rows that act in one state, in kinetree's coordinates."""

    kind: Sequence[str]
    """One of `KINDS` each."""
    J: Array
    """(m, nv)."""
    reference: Array
    """Reference accelerations (m,)."""
    R: Array
    """Regularisations (m,)."""

    @property
    def counts(self) -> dict[str, int]:
        counts = Counter(self.kind)
        return {kind: counts[kind] for kind in KINDS}


def own_rows(blocks: Sequence[Block], nv: int) -> Rows:
    """The rows that act, from blocks whose numbers are floats; pyramids by their edges."""
    lines = [line for block in blocks for line in _lines(block) if line[3] > 0.0]
    kinds, J, reference, D = zip(*lines, strict=True) if lines else ((), (), (), ())
    R = 1.0 / np.array(D, dtype=np.float64)
    return Rows(kinds, np.array(J, dtype=np.float64).reshape(len(lines), nv), np.array(reference, dtype=np.float64), R)


def _lines(block: Block) -> Iterator[tuple[str, Sequence[Any], Any, Any]]:
    """(kind, row of J, reference, D)."""
    cost, rows, reference = block.cost, block.J, block.reference
    match cost:
        case Equality():
            yield from zip([KINDS[0]] * len(rows), rows, reference, cost.D, strict=True)
        case DryFriction():
            yield KINDS[1], rows[0], reference[0], cost.D
        case OneSided():
            yield KINDS[2], rows[0], reference[0], cost.D
        case EllipticCone():
            yield from zip([KINDS[2]] * len(rows), rows, reference, cost.D, strict=True)
        case Pyramid():
            for mu, row, a in zip(cost.friction, rows[1:], reference[1:], strict=True):
                for sign in (mu, -mu):
                    edge = [x + sign * y for x, y in zip(rows[0], row, strict=True)]
                    yield KINDS[2], edge, reference[0] + sign * a, cost.D


def matched(ours: Rows, theirs: Rows) -> list[int]:
    """For each of our rows that one of theirs, of the same kind, which is nearest to it and not taken yet."""
    scale = [max(float(np.abs(x).max(initial=0.0)), 1e-300) for x in (theirs.J, theirs.reference, theirs.R)]
    one, other = (
        np.column_stack([rows.J / scale[0], rows.reference / scale[1], rows.R / scale[2]]) for rows in (ours, theirs)
    )
    apart = np.abs(one[:, None, :] - other[None, :, :]).max(axis=-1)
    apart[np.array(ours.kind)[:, None] != np.array(theirs.kind)[None, :]] = np.inf
    partners = [-1] * len(one)
    for _ in one:
        i, j = np.unravel_index(int(np.argmin(apart)), apart.shape)
        partners[i] = int(j)
        apart[i, :] = apart[:, j] = np.inf
    return partners
