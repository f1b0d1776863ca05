"""All constraints as rows: their Jacobian J in the robot's degrees of freedom, and which rows hold what can move.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.constraints import HeldMotion, Wrench, constraint_columns, held_motion
from kinetree.expr import Scalar, less
from kinetree.model import Tree
from kinetree.model.constraints import Hold

__all__ = ["HeldRows", "constraint_jacobian", "constraint_motion", "held_rows"]

Pieces = Sequence[Sequence[Scalar]]
_ALL = 6
"""Directions in which a body can move."""
_LEVER = 1e-3
"""Of the tolerance: the part, in squares, of the terms of a sum that a point is to move by, or they cancel."""


class HeldRows(NamedTuple):
    """All constraints at one state."""

    motions: list[HeldMotion]
    J: list[list[Scalar]]
    """Of the robot's degrees of freedom, with zeros for rows that hold what cannot move."""
    kept: list[Scalar]
    """1 for a row that is there, 0 for one of those."""

    def wrenches(self) -> list[Wrench]:
        """Of a unit force along each row."""
        kept = iter(self.kept)
        return [
            motion.wrench([next(kept) if r == s else 0.0 for s in range(motion.size)])
            for motion in self.motions
            for r in range(motion.size)
        ]


def constraint_motion(
    tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, qdd: Pieces | None = None
) -> list[HeldMotion]:
    """How each constraint moves; with no accelerations given, J q̈ + J̇ v is the bias J̇ v."""
    return [held_motion(tree, hold, q, qd, tree.at_rest() if qdd is None else qdd) for hold in holds]


def constraint_jacobian(tree: Tree, holds: Sequence[Hold], q: Pieces) -> list[Scalar]:
    """J, row by row."""
    return _flat(tree, constraint_motion(tree, holds, q, tree.at_rest()))


def held_rows(tree: Tree, holds: Sequence[Hold], q: Pieces, qd: Pieces, tolerance: float) -> HeldRows:
    """The rows at one state; a tolerance of zero takes all of them to hold what can move."""
    motions = constraint_motion(tree, holds, q, qd)
    flat, m = _flat(tree, motions), sum(motion.size for motion in motions)
    n = len(flat) // m
    kept: list[Scalar] = []
    for motion in motions:
        kept += _movable(motion, tolerance) if tolerance else [1.0] * motion.size
    J = [[x if k == 1.0 else x * k for x in flat[r * n : (r + 1) * n]] for r, k in enumerate(kept)]
    return HeldRows(motions, J, kept)


def _flat(tree: Tree, motions: Sequence[HeldMotion]) -> list[Scalar]:
    """J of the robot's degrees of freedom, row by row."""
    m = sum(motion.size for motion in motions)
    J, first = tree.columns(m), 0
    found: dict[int, list[list[Scalar]]] = {}
    for motion in motions:
        for j, columns in constraint_columns(motion).items():
            into = found.setdefault(j, [[0.0] * m for _ in columns])
            for column, numbers in zip(into, columns, strict=True):
                column[first : first + motion.size] = numbers
        first += motion.size
    for j, columns in found.items():
        J[j] = columns
    return J.flat()


def _movable(motion: HeldMotion, tolerance: float) -> list[Scalar]:
    """Whether joints can move what a row holds, a number a row: 1 where they can, 0 where they cannot.

    They cannot if of all that they do to the point (to the orientation) a row sees less than its part `tolerance`, in
    squares, or if all that they do is so little that it may be what rounding leaves of a sum that is zero. A rod whose
    ends meet has no direction, and its row is zero.
    """
    if any(len(columns) == _ALL for side in motion.sides for columns in side.columns.values()):
        return [less(0.5, d.dot(d)) for d in motion.linear] + [1.0] * (3 * motion.turns)  # in any way, by one joint
    seen: list[Scalar] = [0.0] * motion.size
    point: Scalar = 0.0
    turning: Scalar = 0.0
    terms: Scalar = 0.0
    p2 = motion.p.dot(motion.p)
    for side in motion.sides:
        for j, m in ((j, m) for j, ms in side.columns.items() for m in ms):
            r = side.origins[j]
            w = m.linear + m.angular.cross(motion.p)
            turn = m.angular.dot(m.angular)
            point, turning = point + w.dot(w), turning + turn
            terms = terms + m.linear.dot(m.linear) + turn * (p2 + r.dot(r))
            seen = [s + x * x for s, x in zip(seen, motion.rows(m.angular, w), strict=True)]
    linear, there = len(motion.linear), less(_LEVER * tolerance * terms, point)
    return [there * less(tolerance * point, s) for s in seen[:linear]] + [
        less(tolerance * turning, s) for s in seen[linear:]
    ]
