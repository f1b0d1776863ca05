"""Rows of soft constraints: limits, dry friction, followers and contacts, as blocks of the convex problem.

A row's rate is ẋ = J v, and its reference acceleration follows from it and from the violation (softness.py). A row that
is not active has D = 0. Rows of a contact are along its normal, then across it in two directions; then, for bodies that
resist them, twisting about the normal and rolling about the two directions.

Rows are compared with J q̈, without J̇ v. That depends on the coordinates: as in MuJoCo, the velocity of a free joint
counts in axes that do not turn with the body, so that a body that flies freely with any spin has no such acceleration
at its origin.

Source: MuJoCo documentation, "Computation", sections on constraints; version 4. The Jacobians are those of relative
motion (Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 3.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple

from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.kinematics import placements
from kinetree.algorithms.row_costs import DryFriction, EllipticCone, Equality, OneSided, Pyramid, RowCost
from kinetree.algorithms.softness import Softness
from kinetree.collision import ContactPoint
from kinetree.expr import Scalar, less, maximum, select, sqrt
from kinetree.records import record
from kinetree.spatial import Motion, Transform, Vec3
from kinetree.tree import Tree

__all__ = ["Friction", "Sight", "contact", "dry_friction", "follower", "limits", "seen"]

Pieces = Sequence[Sequence[Scalar]]

_TINY = 1e-30
"""The smallest square of an angle of which an axis is told."""


class Sight(NamedTuple):
    """A state, and what rows are made of."""

    tree: Tree
    q: Pieces
    v: Sequence[Scalar]
    """In the order of the robot's degrees of freedom."""
    X_0: Sequence[Transform]
    """From the world's coordinates to those of each body."""
    columns: Sequence[tuple[Motion, ...]]
    """The motion that each joint gives per unit rate, in the world's coordinates."""
    drift: Sequence[Scalar]
    """What q̈ lacks of the rate of v in axes that do not turn."""


@record(frozen=True, slots=True)
class Friction:
    """How a contact resists motions across its normal."""

    coefficients: tuple[Scalar, ...]
    """One per row after the first: sliding twice, torsion (m), rolling twice (m)."""
    is_elliptic: bool
    """An elliptic cone, or a pyramid."""
    ratio: float
    """How much stiffer it is than the normal direction."""
    softness: Softness | None = None
    """The softness of its rows, where it is not that of the normal; for elliptic cones."""


def seen(tree: Tree, q: Pieces, qd: Pieces) -> Sight:
    """What all rows at a state have in common."""
    X_0 = placements(tree, q)
    columns = tree.slots(tuple[Motion, ...])
    for j, _ in tree.outward:
        S = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).S
        columns[j] = tuple(X_0[j].back(s) for s in S.columns)
    drift = tree.pieces()
    for j, _ in tree.outward:
        drift[j] = tree.joint[j].turning_rate(qd[j])
    return Sight(tree, q, tree.numbers(qd[1:], "nv"), X_0, columns, tree.numbers(drift[1:], "nv"))


def limits(sight: Sight, slot: int, lower: Scalar, upper: Scalar, margin: float, softness: Softness) -> list[Block]:
    """The limits of a joint with one coordinate, or the largest angle of a ball joint; an infinite one has no row."""
    joint = sight.tree.joint[slot]
    if joint.nv > 1:
        turn = Vec3(*joint.difference(joint.neutral(), sight.q[slot]))
        angle = sqrt(maximum(turn.dot(turn), _TINY))
        axis = turn * (1.0 / angle)
        (row,) = _rows(sight, {slot: [[-x] for x in axis.components()]}, 1)
        return [_one_sided(sight, row, upper - angle, margin, softness)]
    (q,) = sight.q[slot]
    blocks = []
    for sign, bound in ((1.0, lower), (-1.0, upper)):
        if bound not in (-inf, inf):
            (row,) = _rows(sight, {slot: [[sign]]}, 1)
            blocks.append(_one_sided(sight, row, sign * (q - bound), margin, softness))
    return blocks


def dry_friction(sight: Sight, slot: int, dof: int, loss: float, softness: Softness) -> Block:
    """Dry friction of a joint's degree of freedom."""
    (row,) = _rows(sight, {slot: [[float(k == dof)] for k in range(sight.tree.joint[slot].nv)]}, 1)
    d = softness.at(0.0)
    rate = _dot(row, sight.v)
    return Block([row], [-(softness.damping * rate)], DryFriction(1.0 / softness.regularisation(d), loss))


def follower(
    sight: Sight,
    slot: int,
    leader: int | None,
    coefficients: Sequence[float],
    reference: tuple[float, float],
    softness: Softness,
) -> Block:
    """A joint that follows a polynomial of another one; or that is held, if there is none."""
    (q,) = sight.q[slot]
    away: Scalar = 0.0
    slope: Scalar = 0.0
    if leader is not None:
        (q_leader,) = sight.q[leader]
        away = q_leader - reference[1]
        for k, c in reversed(list(enumerate(coefficients))[1:]):
            slope = slope * away + k * c
    wanted: Scalar = 0.0
    for c in reversed(coefficients if leader is not None else coefficients[:1]):
        wanted = wanted * away + c
    r = q - reference[0] - wanted
    columns: dict[int, list[list[Scalar]]] = {slot: [[1.0]]}
    if leader is not None:
        columns[leader] = [[-slope]]
    (row,) = _rows(sight, columns, 1)
    d = softness.at(r)
    a_ref = softness.acceleration(_dot(row, sight.v), d, r)
    return Block([row], [a_ref], Equality([1.0 / softness.regularisation(d)]))


def contact(
    sight: Sight,
    first: int,
    second: int,
    point: ContactPoint,
    margin: Scalar,
    softness: Softness,
    friction: Friction | None,
    adhesion: float = 0.0,
    surface: Motion | None = None,
) -> Block:
    """A contact between two bodies, pushing the second one along the normal; `friction` is None where there is none.

    `adhesion` is the force that pulls them together, N. `surface` is how the second one's surface moves at the point
    beside the first one's, as those of conveyor belts do: it counts across the normal, and twisting about it.
    """
    n, t = point.normal, point.tangent
    axes = (n, t, n.cross(t))
    count = 1 + (len(friction.coefficients) if friction else 0)
    columns: dict[int, list[list[Scalar]]] = {}
    meeting = sight.tree.meeting(first, second)
    for body, sign in ((first, -1.0), (second, 1.0)):
        for j, _ in sight.tree.toward_tip(meeting, body):
            columns[j] = [_seen_at(m, point.position, axes, count, sign) for m in sight.columns[j]]
    r = point.distance - margin
    there = less(r, 0.0)
    J = [[select(there, j, 0.0) for j in row] for row in _rows(sight, columns, count)]
    rates = [_dot(row, sight.v) for row in J]
    if surface is not None:
        moves = [0.0, t.dot(surface.linear), axes[2].dot(surface.linear), n.dot(surface.angular), 0.0, 0.0]
        rates = [rate + x for rate, x in zip(rates, moves[:count], strict=True)]
    drifts = [_dot(row, sight.drift) for row in J]
    d = softness.at(r)
    R = softness.regularisation(d)
    reference = [softness.acceleration(rates[0], d, r)]
    pull, idle = select(there, adhesion, 0.0), 1.0 - there
    cost: RowCost
    if friction is None:
        return Block(J, [reference[0] + R * adhesion - drifts[0]], OneSided(select(there, 1.0 / R, 0.0)), pull, idle)
    across = friction.softness or softness
    reference += [-((across if friction.is_elliptic else softness).damping * rate) for rate in rates[1:]]
    reference = [a - drift for a, drift in zip(reference, drifts, strict=True)]
    mu = friction.coefficients
    if friction.is_elliptic:
        R_1 = R * (1.0 / friction.ratio)
        D = [select(there, 1.0 / x, 0.0) for x in (R, *(R_1 * (mu[0] * mu[0] / (m * m)) for m in mu))]
        reference[0] = reference[0] + R * adhesion
        cost = EllipticCone(D, mu, mu[0] * (1.0 / friction.ratio) ** 0.5)
    else:
        edge = replace(softness, inverse_inertia=softness.inverse_inertia * (1.0 + mu[0] * mu[0]))
        R_edge = edge.regularisation(d) * (2.0 * mu[0] * mu[0] / friction.ratio)
        reference[0] = reference[0] + R_edge * (adhesion / (2 * len(mu)))  # all edges have the same part of it
        cost = Pyramid(select(there, 1.0 / R_edge, 0.0), mu)
    return Block(J, reference, cost, pull, idle)


def _one_sided(sight: Sight, row: Sequence[Scalar], distance: Scalar, margin: float, softness: Softness) -> Block:
    r = distance - margin
    d = softness.at(r)
    D = select(less(r, 0.0), 1.0 / softness.regularisation(d), 0.0)
    return Block([row], [softness.acceleration(_dot(row, sight.v), d, r)], OneSided(D))


def _seen_at(m: Motion, p: Vec3, axes: Sequence[Vec3], count: int, sign: float) -> list[Scalar]:
    """How a motion moves the body at a point along the axes, and turns it about them; the first `count` of these."""
    velocity = m.linear + m.angular.cross(p)
    numbers = [axis.dot(velocity) for axis in axes[: min(count, 3)]]
    numbers += [axis.dot(m.angular) for axis in axes[: max(count - 3, 0)]]
    return [sign * x for x in numbers]


def _rows(sight: Sight, columns: dict[int, list[list[Scalar]]], count: int) -> list[list[Scalar]]:
    """Rows of a Jacobian, from the columns of some joints, for the robot's degrees of freedom."""
    J = sight.tree.columns(count, apart=True)
    for slot, of_joint in columns.items():
        J[slot] = of_joint
    return [list(row) for row in J.in_rows()]


def _dot(row: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for a, b in zip(row, v, strict=True):
        total = total + a * b
    return total
