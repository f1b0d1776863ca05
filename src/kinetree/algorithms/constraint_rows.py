"""All constraints as rows: their Jacobian J by degrees of freedom, and which rows hold something movable.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.constraints import HeldMotion, Wrench, constraint_columns, held_motion
from kinetree.expr import Scalar, less
from kinetree.tree import Tree
from kinetree.tree.holds import Hold
from kinetree.tree.matrices import JointColumns

__all__ = [
    "HeldRows",
    "constraint_jacobian",
    "constraint_motion",
    "held_rows",
    "is_more_than_rounding",
    "squared_terms",
]

Pieces = Sequence[Sequence[Scalar]]
_CANCELLED = 1e-3
"""Factor on the tolerance: where a sum's square is less than this part of its squared terms, they cancel."""


class HeldRows(NamedTuple):
    """All constraints at one state."""

    motions: list[HeldMotion]
    J: Pieces
    """The Jacobian with respect to the robot's degrees of freedom."""
    kept: list[Scalar]
    """1 for a row that is kept, 0 for one that holds something immovable."""

    def wrenches(self) -> list[Wrench]:
        """The wrench of a unit force along each row."""
        kept = iter(self.kept)
        return [
            motion.wrench([next(kept) if r == s else 0.0 for s in range(motion.size)])
            for motion in self.motions
            for r in range(motion.size)
        ]


def constraint_motion(
    tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, qdd: Pieces | None = None
) -> list[HeldMotion]:
    """Motion of each constraint; without qdd, its acceleration J q̈ + J̇ v is the bias J̇ v."""
    return [held_motion(tree, hold, q, qd, tree.at_rest() if qdd is None else qdd) for hold in holds]


def constraint_jacobian(tree: Tree, holds: Sequence[Hold], q: Pieces) -> list[Scalar]:
    """J, row by row."""
    motions = constraint_motion(tree, holds, q, tree.at_rest())
    return _written(tree, motions, tree.columns(_count(motions))).flat()


def held_rows(tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, tolerance: float) -> HeldRows:
    """The rows at one state; with a tolerance of zero, all of them are taken to hold something movable."""
    motions = constraint_motion(tree, holds, q, qd)
    J = _written(tree, motions, tree.columns(_count(motions), apart=True))
    kept: list[Scalar] = []
    for motion in motions:
        kept += _movable(tree, motion, tolerance) if tolerance else [1.0] * motion.size
    return HeldRows(motions, J.in_rows(), kept)


def squared_terms(tree: Tree, rows: HeldRows) -> Pieces:
    """For each entry of J, the sum of the squares of its terms; for trees whose bodies are known one by one.

    The velocity of a point p is that of the origin, which is r x ω for an axis at r, plus ω x p.
    """
    squares = tree.columns(_count(rows.motions), apart=True)
    first = 0
    for motion in rows.motions:
        p2 = motion.p.dot(motion.p)
        for side in motion.sides:
            for j, _ in side.joints(tree):
                r = side.seen[j].r
                lever2, column = p2 + r.dot(r), []
                for m in side.columns[j]:
                    turn = m.angular.dot(m.angular)
                    moved = m.linear.dot(m.linear) + turn * lever2
                    column.append([moved] * len(motion.linear) + [turn] * (3 * motion.turns))
                squares[j, first] = column
        first += motion.size
    return squares.in_rows("squares")


def is_more_than_rounding(entries: Sequence[Scalar], squares: Sequence[Scalar], tolerance: float) -> Scalar:
    """Whether some entries of J, given their squared terms, are not all zero up to rounding: 1 if so, otherwise 0."""
    terms: Scalar = sum(squares, 0.0)
    seen: Scalar = sum((x * x for x in entries), 0.0)
    is_more: Scalar = less(_CANCELLED * tolerance * terms, seen)
    return is_more


def _count(motions: Sequence[HeldMotion]) -> int:
    return sum(motion.size for motion in motions)


def _written(tree: Tree, motions: Sequence[HeldMotion], J: JointColumns) -> JointColumns:
    """Write the rows of all constraints into J, and return it."""
    first = 0
    for motion in motions:
        constraint_columns(tree, motion, J, first)
        first += motion.size
    return J


def _movable(tree: Tree, motion: HeldMotion, tolerance: float) -> list[Scalar]:
    """Whether joints can move along a row, one number per row: 1 where they can, 0 where they cannot.

    They cannot if the row sees less than the fraction `tolerance`, in squares, of the motion that they give the point
    (or the orientation), or if this motion is so small that it may be the rounding error of a sum that is zero. A rod
    whose ends coincide has no direction, so its row is zero.
    """
    if any(side.is_free for side in motion.sides):
        return [less(0.5, d.dot(d)) for d in motion.linear] + [1.0] * (3 * motion.turns)  # one free joint suffices
    point, turning, terms = tree.scalars(3)  # sums, in the root's slot, as is `squares`
    squares = tree.pieces()
    point[0], turning[0], terms[0], squares[0] = 0.0, 0.0, 0.0, [0.0] * motion.size
    p2 = motion.p.dot(motion.p)
    for side in motion.sides:
        for j, _ in side.joints(tree):
            r = side.seen[j].r
            for m in side.columns[j]:
                w = m.linear + m.angular.cross(motion.p)
                turn = m.angular.dot(m.angular)
                point[0], turning[0] = point[0] + w.dot(w), turning[0] + turn
                terms[0] = terms[0] + m.linear.dot(m.linear) + turn * (p2 + r.dot(r))
                squares[0] = [s + x * x for s, x in zip(squares[0], motion.rows(m.angular, w), strict=True)]
    linear, there = len(motion.linear), less(_CANCELLED * tolerance * terms[0], point[0])
    return [there * less(tolerance * point[0], s) for s in squares[0][:linear]] + [
        less(tolerance * turning[0], s) for s in squares[0][linear:]
    ]
