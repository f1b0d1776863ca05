"""The rows at a state of all soft constraints but contacts: lengths of joints and tendons, connections and welds."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.soft_equalities import held, held_together
from kinetree.algorithms.soft_lengths import (
    degree_of_freedom,
    dry_friction,
    follower,
    inertia,
    largest_angle,
    limits,
)
from kinetree.algorithms.soft_rows import Law, Sight
from kinetree.algorithms.transmissions import Reach, View, across_coordinate
from kinetree.compiler.definition import Slots
from kinetree.contact_model import (
    LengthSpec,
    SoftConstraints,
    TendonCoupling,
    TendonFriction,
    TendonLimit,
    TendonRow,
    anchored,
    reach_of_tendon,
)
from kinetree.functions.contact_laws import ahead
from kinetree.model import Model
from kinetree.model.constraints import holds

__all__ = ["blocks_apart_from_contacts"]

Timed = Callable[..., Law]
"""timed(softness, gives_way): the law in a step of some length, of a row that is to give way or not."""


def blocks_apart_from_contacts(
    robot: Model, constraints: SoftConstraints, sight: Sight, v: Slots, timed: Timed
) -> list[Block]:
    """Equalities, dry friction and limits; `v` is the velocity by slots."""
    slot = {name: joint.slot for name, joint in robot.joints.items()}
    view = View(sight.tree, sight.q, sight.X_0, sight.columns)
    blocks: list[Block] = []
    for c in constraints.couplings:
        leader = None if c.joint2 is None else across_coordinate(view, slot[c.joint2], 1.0)
        own = across_coordinate(view, slot[c.joint1], 1.0)
        blocks.append(follower(sight, own, leader, c.coefficients, c.reference, timed(c.softness)))
    for one in constraints.connections:
        frames = anchored(robot, one.first), anchored(robot, one.second)
        blocks += held_together(sight.tree, sight.q, v, *frames, timed(one.softness), one.turning)
    for loop in constraints.loops:
        (hold,) = holds(robot.frames, [loop.constraint])
        blocks += held(sight.tree, sight.q, v, hold, timed(loop.softness), loop.rotation)
    for f in constraints.frictions:
        blocks.append(dry_friction(sight, degree_of_freedom(sight, slot[f.joint], f.dof), f.loss, timed(f.softness)))
    for x in constraints.limits:
        softness = ahead(timed(x.softness, True))
        if x.coordinate is None:
            blocks.append(largest_angle(sight, slot[x.joint], x.upper, x.margin, softness))
        else:
            reach = across_coordinate(view, slot[x.joint], 1.0, x.coordinate)
            blocks += limits(sight, reach, x.lower, x.upper, x.margin, softness)
    for row in constraints.tendons:
        blocks += _of_tendon(robot, sight, view, row, timed)
    return blocks


def _of_tendon(robot: Model, sight: Sight, view: View, row: TendonRow, timed: Timed) -> list[Block]:
    def reach(length: LengthSpec) -> Reach:
        return reach_of_tendon(view, robot, length)

    if isinstance(row, TendonLimit):
        return limits(sight, reach(row.length), row.lower, row.upper, row.margin, ahead(timed(row.softness, True)))
    if isinstance(row, TendonFriction):
        return [dry_friction(sight, reach(row.length), row.loss, timed(row.softness))]
    if isinstance(row, TendonCoupling):
        leader = None if row.second is None else reach(row.second)
        return [follower(sight, reach(row.first), leader, row.coefficients, row.reference, timed(row.softness))]
    return [inertia(sight, reach(row.length), row.armature)]
