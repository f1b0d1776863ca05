"""Two points, or two frames, that are held together softly: blocks of the convex problem.

    connection:  r = p₁ - p₂
    weld:        r = (p₁ - p₂, σ e),    (w, e) the unit quaternion of R₂ᵀ R₁, σ the scale of torques

Positions are in the world's axes. With u = R₂ᵀ (ω₁ - ω₂) the quaternion's rate is ẇ = -½ u·e, ė = ½ (w u + u × e), so

    ë = ½ (w u̇ + u̇ × e) - ¼ |u|² e,    u̇ = R₂ᵀ (ω̇₁ - ω̇₂ - ω₂ × (ω₁ - ω₂))

Motion constraints (constraints.py) become rows in the same way, with their own position errors as r. Unlike other soft
rows, all of these are compared with r̈ = J q̈ + J̇ v. All rows of one constraint have the impedance of
|r|. A row that nothing moves is left out, unless all rows are asked for: it exerts a force, but on no joint.

Source: MuJoCo documentation, "Computation", sections on equality constraints and on the dual problem, and
"XML Reference", sections on connect and weld; version 4. Velocities and accelerations of frames by constraints.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from kinetree.algorithms.constraints import Side, constraint_columns, constraint_error, held_motion, side_of
from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.row_costs import Equality
from kinetree.algorithms.soft_rows import Law
from kinetree.expr import Scalar, is_zero, maximum, sqrt
from kinetree.records import record
from kinetree.spatial import Mat3, Motion, Vec3
from kinetree.spatial.rotation_log import quaternion_from_matrix
from kinetree.spatial.rotations import quaternion_normalize
from kinetree.tree import Tree
from kinetree.tree.holds import Anchor, Hold

__all__ = ["Turning", "held", "held_together"]

Pieces = Sequence[Sequence[Scalar]]

_TINY = 1e-30
"""The smallest square of a violation."""


@record(frozen=True, slots=True)
class Turning:
    """How a weld holds the attitude."""

    scale: float
    """σ, m"""
    inverse_inertia: float
    """A of its rows."""


def held_together(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    first: Anchor,
    second: Anchor,
    softness: Law,
    turning: Turning | None,
    *,
    every_row: bool = False,
) -> list[Block]:
    """The block of two origins that are held together, and of two attitudes if `turning` says how."""
    at_rest = tree.at_rest()
    one, other = (side_of(tree, sign, frame, 0, q, qd, at_rest) for sign, frame in ((1.0, first), (-1.0, second)))
    r = one.X.r - other.X.r
    rate = _at_origin(one, one.v) - _at_origin(other, other.v)
    bias = _bias_at_origin(one) - _bias_at_origin(other)
    violation, rates, biases = [[*x.components()] for x in (r, rate, bias)]
    inertias = [softness.inverse_inertia] * 3
    turn = None if turning is None else _Turn.between(one, other, turning.scale)
    if turning is not None and turn is not None:
        inertias += [turning.inverse_inertia] * 3
        violation += (turn.e * turning.scale).components()
        rates += turn.rate(one.v.angular - other.v.angular).components()
        biases += turn.bias(one, other).components()
    squared: Scalar = 0.0
    for x in violation:
        squared = squared + x * x
    J = _jacobian(tree, one, other, turn)
    state = zip(rates, violation, biases, strict=True)
    return _block(J, state, softness, softness.at(sqrt(maximum(squared, _TINY))), inertias, every_row)


def held(tree: Tree, q: Pieces, qd: Pieces, hold: Hold, softness: Law, rotation: float) -> list[Block]:
    """The block of a motion constraint, of one impedance; `rotation` is A of the rows that hold attitudes."""
    motion = held_motion(tree, hold, q, qd, tree.at_rest())
    J = tree.columns(motion.size, apart=True)
    constraint_columns(tree, motion, J, 0)
    linear = len(motion.linear)
    inertias = [softness.inverse_inertia] * linear + [rotation] * (motion.size - linear)
    state = zip(motion.velocity, constraint_error(hold, motion), motion.acceleration, strict=True)
    return _block(J.in_rows(), state, softness, softness.at(0.0), inertias, every_row=False)


def _block(
    J: Sequence[Sequence[Scalar]],
    state: Iterable[tuple[Scalar, Scalar, Scalar]],
    softness: Law,
    d: Scalar,
    inertias: Sequence[Scalar],
    every_row: bool,
) -> list[Block]:
    """Rows with ṙ, r and J̇ v of each, of one impedance d; those that nothing moves are left out unless all count."""
    rows, references, D = [], [], []
    for row, (rate, r, bias), A in zip(J, state, inertias, strict=True):
        if any(not is_zero(x) for x in row) or every_row:
            rows.append(row)
            references.append(softness.acceleration(rate, d, r) - bias)
            D.append(1.0 / replace(softness, inverse_inertia=A).regularisation(d))
    return [Block(rows, references, Equality(D))] if any(not is_zero(x) for row in rows for x in row) else []


class _Turn(NamedTuple):
    """The first frame's attitude as seen from the second's."""

    e: Vec3
    w: Scalar
    E: Mat3
    """To the second frame's axes."""
    scale: float

    @staticmethod
    def between(one: Side, other: Side, scale: float) -> _Turn:
        x, y, z, w = quaternion_normalize(quaternion_from_matrix(other.X.E.times(one.X.E.T)))
        return _Turn(Vec3(x, y, z), w, other.X.E, scale)

    def rate(self, angular: Vec3) -> Vec3:
        """σ ė, from ω₁ - ω₂."""
        u = self.E @ angular
        return (u * self.w + u.cross(self.e)) * (0.5 * self.scale)

    def bias(self, one: Side, other: Side) -> Vec3:
        """σ ë where q̈ is zero."""
        between = one.v.angular - other.v.angular
        turning = self.rate(one.a.angular - other.a.angular - other.v.angular.cross(between))
        return turning - self.e * (0.25 * self.scale * between.dot(between))


def _at_origin(side: Side, m: Motion) -> Vec3:
    """The velocity of a frame's origin."""
    return m.linear + m.angular.cross(side.X.r)


def _bias_at_origin(side: Side) -> Vec3:
    """The acceleration of a frame's origin where q̈ is zero."""
    return _at_origin(side, side.a) + side.v.angular.cross(_at_origin(side, side.v))


def _jacobian(tree: Tree, one: Side, other: Side, turn: _Turn | None) -> list[list[Scalar]]:
    columns: dict[int, list[list[Scalar]]] = {}
    for side in (one, other):
        for j, _ in side.joints(tree):
            rows = [[*(_at_origin(side, m) * side.sign).components()] for m in side.columns[j]]
            if turn is not None:
                for numbers, m in zip(rows, side.columns[j], strict=True):
                    numbers += turn.rate(m.angular * side.sign).components()
            columns[j] = [_sum(*pair) for pair in zip(columns[j], rows, strict=True)] if j in columns else rows
    J = tree.columns(3 if turn is None else 6, apart=True)
    for j, of_joint in columns.items():
        J[j] = of_joint
    return [list(row) for row in J.in_rows()]


def _sum(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(a, b, strict=True)]
