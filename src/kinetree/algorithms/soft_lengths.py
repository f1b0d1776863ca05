"""Rows of one length each: limits, dry friction and followers, for coordinates of joints and for tendons.

A length ℓ with the moment J has the rate ℓ̇ = J v (transmissions.py). A row that is not active has D = 0.

Source: MuJoCo documentation, "Computation", sections on equality, friction loss and limit; version 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.dot import dot
from kinetree.algorithms.row_costs import DryFriction, Equality, OneSided
from kinetree.algorithms.soft_rows import Law, Sight, jacobian
from kinetree.algorithms.transmissions import Reach
from kinetree.expr import Scalar, maximum, select, sqrt
from kinetree.spatial import Vec3

__all__ = ["degree_of_freedom", "dry_friction", "follower", "inertia", "largest_angle", "limits"]

_TINY = 1e-30
"""The smallest square of an angle with a defined axis."""


def degree_of_freedom(sight: Sight, slot: int, dof: int) -> Reach:
    """A degree of freedom of a joint, without a length."""
    return Reach(0.0, {slot: [float(k == dof) for k in range(sight.tree.joint[slot].nv)]})


def limits(sight: Sight, reach: Reach, lower: Scalar, upper: Scalar, margin: Scalar, softness: Law) -> list[Block]:
    """The smallest and the largest length; an infinite one has no row."""
    return [
        _one_sided(sight, _scaled(reach, sign), sign * (reach.length - bound), margin, softness)
        for sign, bound in ((1.0, lower), (-1.0, upper))
        if bound not in (-inf, inf)
    ]


def largest_angle(sight: Sight, slot: int, upper: Scalar, margin: Scalar, softness: Law) -> Block:
    """The limit of a ball joint."""
    joint = sight.tree.joint[slot]
    turn = Vec3(*joint.difference(joint.neutral(), sight.q[slot]))
    angle = sqrt(maximum(turn.dot(turn), _TINY))
    axis = turn * (1.0 / angle)
    toward = Reach(0.0, {slot: [-x for x in axis.components()]})
    return _one_sided(sight, toward, upper - angle, margin, softness)


def dry_friction(sight: Sight, reach: Reach, loss: float, softness: Law) -> Block:
    """Dry friction of a length, or of a degree of freedom."""
    row = _row(sight, reach)
    d = softness.at(0.0)
    rate = dot(row, sight.v)
    a_ref = softness.slowing(rate) - dot(row, sight.drift)
    return Block([row], [a_ref], DryFriction(1.0 / softness.regularisation(d, has_spring=False), loss))


def follower(
    sight: Sight,
    reach: Reach,
    leader: Reach | None,
    coefficients: Sequence[float],
    reference: tuple[float, float],
    softness: Law,
) -> Block:
    """A length that follows a polynomial of another one; or that is held, without another one.

    Both count from their references.
    """
    away: Scalar = 0.0
    slope: Scalar = 0.0
    if leader is not None:
        away = leader.length - reference[1]
        for k, c in reversed(list(enumerate(coefficients))[1:]):
            slope = slope * away + k * c
    wanted: Scalar = 0.0
    for c in reversed(coefficients if leader is not None else coefficients[:1]):
        wanted = wanted * away + c
    r = reach.length - reference[0] - wanted
    row = _row(sight, reach, *([] if leader is None else [_scaled(leader, -slope)]))
    d = softness.at(r)
    a_ref = softness.acceleration(dot(row, sight.v), d, r) - dot(row, sight.drift)
    return Block([row], [a_ref], Equality([1.0 / softness.regularisation(d)]))


def inertia(sight: Sight, reach: Reach, armature: float) -> Block:
    """The inertia ½ m ℓ̇² of a length whose moment is constant: as a cost, ½ m (J a)²."""
    return Block([_row(sight, reach)], [0.0], Equality([armature]))


def _one_sided(sight: Sight, reach: Reach, distance: Scalar, margin: Scalar, softness: Law) -> Block:
    row = _row(sight, reach)
    r = distance - margin
    d = softness.at(r)
    D = select(softness.acts(r), 1.0 / softness.regularisation(d), 0.0)
    a_ref = softness.acceleration(dot(row, sight.v), d, r) - dot(row, sight.drift)
    return Block([row], [a_ref], OneSided(D))


def _scaled(reach: Reach, factor: Scalar) -> Reach:
    return Reach(reach.length * factor, {slot: [factor * x for x in row] for slot, row in reach.moment.items()})


def _row(sight: Sight, *reaches: Reach) -> list[Scalar]:
    """The sum of their moments, for the robot's degrees of freedom."""
    columns: dict[int, list[list[Scalar]]] = {}
    for reach in reaches:
        for slot, numbers in reach.moment.items():
            before = columns.get(slot, [[0.0]] * len(numbers))
            columns[slot] = [[x + y] for (x,), y in zip(before, numbers, strict=True)]
    (row,) = jacobian(sight, columns, 1)
    return row
