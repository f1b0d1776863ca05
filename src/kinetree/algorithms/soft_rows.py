"""Rows of contacts, as blocks of the convex problem; and common parts of all rows.

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
from typing import NamedTuple

from kinetree.algorithms.compliance import Compliance
from kinetree.algorithms.convex_dynamics import Block, Bounce
from kinetree.algorithms.kinematics import placements
from kinetree.algorithms.natural_map import RigidContact
from kinetree.algorithms.near_rigid import NearRigid
from kinetree.algorithms.row_costs import EllipticCone, OneSided, Pyramid, RowCost
from kinetree.algorithms.softness import Softness
from kinetree.collision import ContactPoint
from kinetree.expr import Scalar, dot, otherwise, select, sqrt
from kinetree.records import record
from kinetree.spatial import Motion, Transform, Vec3
from kinetree.tree import Tree

__all__ = ["Friction", "Law", "Sight", "contact", "contact_values", "cost_of", "jacobian", "pressed", "seen", "seen_at"]

Pieces = Sequence[Sequence[Scalar]]
Law = Softness | Compliance | NearRigid
"""How hard a row pushes."""


class Sight(NamedTuple):
    """A state, and the data of rows."""

    tree: Tree
    q: Pieces
    v: Sequence[Scalar]
    """In the order of the robot's degrees of freedom."""
    X_0: Sequence[Transform]
    """From the world's coordinates to those of each body."""
    columns: Sequence[tuple[Motion, ...]]
    """The motion that each joint gives per unit rate, in the world's coordinates."""
    drift: Sequence[Scalar]
    """The difference between q̈ and the rate of v in axes that do not turn."""


@record(frozen=True, slots=True)
class Friction:
    """How a contact resists motions across its normal."""

    coefficients: tuple[Scalar, ...]
    """One per row after the first: sliding twice, torsion (m), rolling twice (m)."""
    is_elliptic: bool
    """An elliptic cone, or a pyramid."""
    ratio: Scalar
    """How much stiffer it is than the normal direction."""
    softness: Law | None = None
    """The softness of its rows, where it is not that of the normal; for elliptic cones."""


def seen(tree: Tree, q: Pieces, qd: Pieces) -> Sight:
    """Quantities at a state that all rows share."""
    X_0 = placements(tree, q)
    columns = tree.slots(tuple[Motion, ...])
    for j, _ in tree.outward:
        S = tree.joint[j].calc(q[j], [0.0] * tree.joint[j].nv).S
        columns[j] = tuple(X_0[j].back(s) for s in S.columns)
    drift = tree.pieces()
    for j, _ in tree.outward:
        drift[j] = tree.joint[j].turning_rate(qd[j])
    return Sight(tree, q, tree.numbers(qd[1:], "nv"), X_0, columns, tree.numbers(drift[1:], "nv"))


def jacobian(sight: Sight, columns: dict[int, list[list[Scalar]]], count: int) -> list[list[Scalar]]:
    """Rows of a Jacobian, from the columns of some joints, for the robot's degrees of freedom."""
    J = sight.tree.columns(count, apart=True)
    for slot, of_joint in columns.items():
        J[slot] = of_joint
    return [list(row) for row in J.in_rows()]


def contact(
    sight: Sight,
    first: int,
    second: int,
    point: ContactPoint,
    margin: Scalar,
    softness: Law,
    friction: Friction | None,
    adhesion: float = 0.0,
    surface: Motion | None = None,
) -> Block:
    """A contact between two bodies, pushing the second one along the normal; `friction` is None without friction.

    `adhesion` is the force that pulls them together, N. `surface` is the velocity of the second one's surface relative
    to the first one's at the point, as those of conveyor belts do: it counts across the normal, and twisting about it.
    """
    size = 1 + (len(friction.coefficients) if friction else 0)
    nv, stiffnesses = len(sight.v), size if friction and friction.is_elliptic else 1
    there = softness.acts(point.distance - margin)
    idle = 1.0 - there

    def active() -> list[Scalar]:
        J = _contact_rows(sight, first, second, point, size)
        rates, drifts = ([dot(row, x) for row in J] for x in (sight.v, sight.drift))
        if surface is not None:
            rates = with_surface(rates, point, surface)
        reference, D = pressed(rates, drifts, point.distance - margin, softness, friction, adhesion)
        dead: list[Scalar] = []
        if bouncy is not None:
            still = replace(bouncy, restitution=0.0)
            dead, _ = pressed(rates, drifts, point.distance - margin, still, friction, adhesion)
        return [*(j for row in J for j in row), *reference, *D, *dead[:1]]

    bouncy = softness if isinstance(softness, NearRigid) and softness.restitution > 0.0 else None
    numbers = otherwise(idle, [0.0] * (size * nv + size + stiffnesses + (bouncy is not None)), active)
    J = [numbers[nv * k : nv * (k + 1)] for k in range(size)]
    reference, D = numbers[nv * size : (nv + 1) * size], numbers[(nv + 1) * size : (nv + 1) * size + stiffnesses]
    cost = cost_of(D, softness, friction)
    block = Block(J, reference, cost, select(there, adhesion, 0.0), idle)
    if bouncy is None:
        return block
    rate = dot(J[0], sight.v)
    still = [-rate * bouncy.damping - dot(J[0], sight.drift), *reference[1:]]
    rates = [rate, *(-(a + dot(row, sight.drift)) * bouncy.step for a, row in zip(reference[1:], J[1:], strict=True))]
    return block._replace(bounce=Bounce(numbers[-1], rates, still, bouncy.step))


def cost_of(D: Sequence[Scalar], softness: Law, friction: Friction | None) -> RowCost:
    """The cost of a contact's rows."""
    if friction is None:
        return _rigid_if(OneSided(D[0]), softness)
    if not friction.is_elliptic:
        return Pyramid(D[0], friction.coefficients)
    mu = friction.coefficients
    return _rigid_if(EllipticCone(D, mu, mu[0] * sqrt(1.0 / friction.ratio)), softness)


def _rigid_if(cost: EllipticCone | OneSided, law: Law) -> RowCost:
    """The cost of a contact, which is a rigid one if its law is."""
    if not isinstance(law, NearRigid) or not law.rounds:
        return cost
    return RigidContact(cost, law.step, law.rounds, law.tolerance)


def _contact_rows(sight: Sight, first: int, second: int, point: ContactPoint, size: int) -> list[list[Scalar]]:
    """The Jacobian of the second body's motion relative to the first: along the normal, across it, and turning."""
    n, t = point.normal, point.tangent
    axes = (n, t, n.cross(t))
    columns: dict[int, list[list[Scalar]]] = {}
    meeting = sight.tree.meeting(first, second)
    for body, sign in ((first, -1.0), (second, 1.0)):
        for j, _ in sight.tree.toward_tip(meeting, body):
            columns[j] = [seen_at(m, point.position, axes, size, sign) for m in sight.columns[j]]
    return jacobian(sight, columns, size)


def contact_values(point: ContactPoint, f: Sequence[Scalar]) -> list[Scalar]:
    """The distance, the place, the normal, the force and the couple of a contact, of forces along its rows."""
    n, t = point.normal, point.tangent
    axes, f = (n, t, n.cross(t)), [*f, *([0.0] * (6 - len(f)))]

    def along(x: Sequence[Scalar]) -> Vec3:
        return axes[0] * x[0] + axes[1] * x[1] + axes[2] * x[2]

    parts = (point.position, n, along(f[:3]), along(f[3:]))
    return [point.distance, *(x for part in parts for x in part.components())]


def with_surface(rates: Sequence[Scalar], point: ContactPoint, surface: Motion) -> list[Scalar]:
    """The rates of rows, with the motion of the second body's surface relative to the first one's."""
    n, t = point.normal, point.tangent
    across = n.cross(t)
    moves = [0.0, t.dot(surface.linear), across.dot(surface.linear), n.dot(surface.angular), 0.0, 0.0]
    return [rate + x for rate, x in zip(rates, moves, strict=False)]


def pressed(
    rates: Sequence[Scalar],
    drifts: Sequence[Scalar],
    r: Scalar,
    softness: Law,
    friction: Friction | None,
    adhesion: float = 0.0,
) -> tuple[list[Scalar], list[Scalar]]:
    """The reference accelerations and the stiffnesses of the rows of a contact that is closed.

    r is the distance beyond the margin; drifts are the rows' products with `Sight.drift`.
    """
    d = softness.at(r)
    R = [softness.regularisation(d)]
    pull = R[0] * adhesion
    tangential = softness
    if friction is not None:
        mu = friction.coefficients
        if friction.is_elliptic:
            R_1 = R[0] * (1.0 / friction.ratio)
            R += [R_1 * (mu[0] * mu[0] / (m * m)) for m in mu]
            tangential = friction.softness or softness
        else:
            assert isinstance(softness, Softness), "pyramids are MuJoCo's"
            edge = replace(softness, inverse_inertia=softness.inverse_inertia * (1.0 + mu[0] * mu[0]))
            R = [edge.regularisation(d) * (2.0 * mu[0] * mu[0] / friction.ratio)]
            pull = R[0] * (adhesion / (2 * len(mu)))  # all edges have the same part of it
    reference = [softness.acceleration(rates[0], d, r) + pull]
    if friction is not None and not friction.is_elliptic:  # edges have the spring of the normal
        reference += [softness.acceleration(rate, d, 0.0) for rate in rates[1:]]
    else:
        reference += [tangential.slowing(rate) for rate in rates[1:]]
    return [a - drift for a, drift in zip(reference, drifts, strict=True)], [1.0 / x for x in R]


def seen_at(m: Motion, p: Vec3, axes: Sequence[Vec3], count: int, sign: Scalar) -> list[Scalar]:
    """How a motion moves the body at a point along the axes, and turns it about them; the first `count` of these."""
    velocity = m.linear + m.angular.cross(p)
    numbers = [axis.dot(velocity) for axis in axes[: min(count, 3)]]
    numbers += [axis.dot(m.angular) for axis in axes[: max(count - 3, 0)]]
    return [sign * x for x in numbers]
