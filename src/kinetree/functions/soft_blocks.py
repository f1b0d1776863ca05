"""The rows at a state of all soft constraints but contacts: lengths of joints and tendons, connections and welds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from kinetree.algorithms.contact_table import ContactTable
from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.soft_equalities import held, held_together
from kinetree.algorithms.soft_lengths import (
    LengthLoop,
    LengthRow,
    LengthTable,
    degree_of_freedom,
    dry_friction,
    follower,
    inertia,
    largest_angle,
    limits,
)
from kinetree.algorithms.soft_rows import Law, Sight
from kinetree.algorithms.softness import Softness
from kinetree.algorithms.transmissions import Reach, View, across_coordinate
from kinetree.compiler.definition import Slots
from kinetree.contact_model import (
    FrictionSpec,
    LengthSpec,
    LimitSpec,
    SoftConstraints,
    TendonCoupling,
    TendonFriction,
    TendonLimit,
    TendonRow,
    anchored,
    reach_of_tendon,
)
from kinetree.expr import Scalar, is_zero
from kinetree.functions.contact_laws import ahead
from kinetree.functions.contact_tables import looked_up
from kinetree.model import Model
from kinetree.model.constraints import holds
from kinetree.tree.rolled.tables import Columns

__all__ = ["blocks_apart_from_contacts", "constant_moment", "looped_lengths"]

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
    for connection in constraints.connections:
        frames = anchored(robot, connection.first), anchored(robot, connection.second)
        blocks += held_together(sight.tree, sight.q, v, *frames, timed(connection.softness), connection.turning)
    for loop in constraints.loops:
        (hold,) = holds(robot.frames, [loop.constraint])
        blocks += held(sight.tree, sight.q, v, hold, timed(loop.softness), loop.rotation)
    for f in constraints.frictions:
        blocks.append(dry_friction(sight, degree_of_freedom(view, slot[f.joint], f.dof), f.loss, timed(f.softness)))
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


def looped_lengths(
    robot: Model, constraints: SoftConstraints, contacts: ContactTable, timed: Timed
) -> tuple[list[LengthTable], SoftConstraints]:
    """Limits and dry friction in loops, where the moments of their lengths are constant; and the other constraints."""
    alike: dict[Hashable, list[_LengthRow]] = {}
    others: dict[str, list[Any]] = {"limits": [], "frictions": [], "tendons": []}
    for name, left in others.items():
        for one in getattr(constraints, name):
            entries = constant_moment(robot, one)
            if not entries:
                left.append(one)
                continue
            for row in _length_rows(one, entries):
                alike.setdefault(row.kind(), []).append(row)
    if not alike:
        return [], constraints
    loops = [_length_loop(contacts.sight, rows, timed) for rows in alike.values()]
    left_out: Any = {name: tuple(left) for name, left in others.items()}
    return [LengthTable(contacts, loops)], replace(constraints, **left_out)


class _LengthRow(NamedTuple):
    """A row of a limit or of dry friction."""

    entries: Mapping[int, float]
    softness: Softness
    bound: Scalar = 0.0
    loss: Scalar | None = None
    """The force of dry friction; None: a limit."""

    def kind(self) -> Hashable:
        """Equal for rows that take the same operations on other numbers."""
        power = self.softness.impedance[-1]
        has_power = power if isinstance(power, float) else None
        return len(self.entries), self.loss is None, has_power, is_zero(self.softness.period)


def _length_rows(
    one: LimitSpec | FrictionSpec | TendonLimit | TendonFriction, entries: Mapping[int, float]
) -> Iterator[_LengthRow]:
    """The rows of a length whose moment has these entries."""
    if isinstance(one, FrictionSpec | TendonFriction):
        yield _LengthRow(entries, one.softness, loss=one.loss)
        return
    for sign, bound in ((1.0, one.lower), (-1.0, one.upper)):
        if bound not in (-inf, inf):
            signed = {k: sign * x for k, x in entries.items()}
            yield _LengthRow(signed, one.softness, sign * bound + one.margin)


def _length_loop(sight: Sight, rows: Sequence[_LengthRow], timed: Timed) -> LengthLoop:
    numbers = [
        (tuple(row.entries.values()), row.softness, row.bound, 0.0 if row.loss is None else row.loss) for row in rows
    ]
    look, rubs = looked_up(sight, Columns(numbers)), rows[0].loss is not None

    def row(k: Any) -> LengthRow:
        factors, softness, bound, loss = look(k)
        return LengthRow(factors, timed(softness) if rubs else ahead(timed(softness, True)), bound, loss)

    return LengthLoop(rubs, [[*row.entries] for row in rows], row)


def constant_moment(robot: Model, one: LimitSpec | FrictionSpec | TendonRow) -> dict[int, float] | None:
    """The numbers of the moment of a limit's or of dry friction's length that are not zero, by their places in v.

    None for others, and where they are not constant, or a joint turns the axes in which its velocities count.
    """
    if isinstance(one, FrictionSpec):
        joint = robot.joints[one.joint]
        turns = any(joint.kind.turning_rate(range(1, joint.kind.nv + 1)))
        return None if turns else {joint.v_slice.start + one.dof: 1.0}
    if isinstance(one, LimitSpec):
        joint = robot.joints[one.joint]
        is_rate = one.coordinate is not None and joint.kind.is_flat
        return {joint.v_slice.start + one.coordinate: 1.0} if is_rate else None
    if not isinstance(one, TendonLimit | TendonFriction):
        return None
    moment: dict[int, float] = {}
    for name, factor in one.length.terms:
        place = robot.joints[name].v_slice.start
        moment[place] = moment.get(place, 0.0) + factor
    return {k: x for k, x in moment.items() if x}
