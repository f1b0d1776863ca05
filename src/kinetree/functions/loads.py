"""From the options of a step to the forces on the robot during it, and to the bodies that may sleep."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinetree import algorithms
from kinetree.compiler.definition import Slots
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError
from kinetree.expr import Symbol
from kinetree.functions.contact_options import soft, without_dry_friction
from kinetree.model import Model
from kinetree.model.constraints import Contact
from kinetree.spatial import Force, Vec3
from kinetree.tree.holds import Hold

if TYPE_CHECKING:
    from kinetree.contact_model import LengthSpec

__all__ = ["RULE", "beginning_sleep", "loads_of", "refuse_sleep"]

RULE = algorithms.ConstraintRule("kkt", 0.0, 1e-10)
"""How constraints are satisfied during a motion."""


def loads_of(
    model: Form,
    tau: Slots,
    f_ext: Callable[[Slots], Mapping[int, Force]],
    *,
    passive: Sequence[str],
    limits: bool,
    contact: SoftConstraints | None,
    integrator: str | None = None,
    gradient_softness: float = 0.0,
    commands: algorithms.Applied | None = None,
    held: Sequence[Hold] = (),
    sleep: algorithms.Sleep | None = None,
) -> algorithms.Loads:
    """The loads of a step. With contacts dry friction is among the soft constraints, and no passive force."""
    if sleep is None or gradient_softness:
        refuse_sleep(contact, "only in kt.simulate and in kt.rollout for arrays, without programs and derivatives")
    return algorithms.Loads(
        tau, f_ext, without_dry_friction(passive, contact), limits,
        soft(model, contact, passive, gradient_softness, integrator, sleep=sleep), commands, holds=held,
        rule=RULE if held else None, sleep=sleep,
    )  # fmt: skip


def beginning_sleep(model: Form, constraints: SoftConstraints, trees: Slots) -> algorithms.Sleep:
    """Which bodies sleep at the beginning of a step, from the numbers of the trees."""
    if model.tree.coordinates is not None:
        refuse_sleep(constraints, "joints of this robot share coordinates")
    return algorithms.Sleep(model.tree, _kinematic_trees(model.one_by_one, constraints), trees)


def refuse_sleep(constraints: SoftConstraints | None, why: str) -> None:
    """Raise OptionError if bodies may sleep, where that is not computed."""
    if constraints is not None and constraints.sleep is not None:
        raise OptionError(
            f"bodies may sleep (sleep={constraints.sleep:g} of the soft constraints), but {why}; give "
            "contact=kt.contact.soft_constraints(robot, sleep=False)"
        )


def _kinematic_trees(robot: Model, constraints: SoftConstraints) -> algorithms.KinematicTrees:
    """The kinematic trees of a robot."""
    from kinetree.collision.far_apart import enclosing_radius
    from kinetree.contact_model.inverse_weights import InverseWeights

    assert constraints.sleep is not None
    tree, of_slot = robot.tree, [0] * robot.tree.size
    count = 0
    for i, p in tree.outward:
        if p == 0:
            count += 1
        of_slot[i] = of_slot[p] or count
    may = [0.0, *[1.0] * count]
    for slot in _held(robot, constraints):
        may[of_slot[slot]] = 0.0
    may[0] = 0.0
    view, shapes = InverseWeights(robot).view, dict[int, list[Any]]()
    sides = {id(side): side for touch in constraints.touches for side in (touch.first, touch.second)}
    for side in sides.values():
        if side.body is None:
            continue
        body, radius = robot.bodies[side.body], enclosing_radius(side.shape)
        if radius is None:
            may[of_slot[body.slot]] = 0.0
        if any(isinstance(x, Symbol) for x in (radius, *side.placement.r.components())):
            refuse_sleep(constraints, "parameters give the size or the place of a shape")
        place = (side.placement.plain() @ body.placement @ view.X_0[body.slot]).r
        for j, _ in tree.toward_root(body.slot):
            shapes.setdefault(j, []).append((place, radius or 0.0))
    lengths: list[float] = []
    for j, _ in tree.outward:
        around = shapes.get(j, [(view.X_0[j].r, 1.0)])
        for S in view.columns[j]:
            turning = _length(S.angular)
            lengths.append(max(_length(S.linear + S.angular.cross(p)) + turning * r for p, r in around))
    return algorithms.KinematicTrees(of_slot, may, lengths, constraints.sleep)


def _length(x: Vec3) -> float:
    return math.sqrt(sum(float(x_k) ** 2 for x_k in x.components()))


def _held(robot: Model, constraints: SoftConstraints) -> Iterator[int]:
    """The slots of bodies on which something other than contacts in loops acts, or which their file keeps awake."""
    from kinetree.contact_model import TendonCoupling

    joints = [limit.joint for limit in constraints.limits] + [row.joint for row in constraints.frictions]
    bodies: list[str | None] = [body.body for body in robot.extras.bodies if body.sleep == "never"]
    for coupling in constraints.couplings:
        joints += [coupling.joint1, *([] if coupling.joint2 is None else [coupling.joint2])]
    for row in constraints.tendons:
        lengths = [row.first, row.second] if isinstance(row, TendonCoupling) else [row.length]
        for length in lengths:
            if length is not None:
                joints += [joint for joint, _ in length.terms]
                bodies += _along(length)
    for connection in constraints.connections:
        bodies += [connection.first.body, connection.second.body]
    for loop in constraints.loops:
        c = loop.constraint
        names = [c.frame] if isinstance(c, Contact) else [c.frame_a, c.frame_b]
        bodies += [robot.frames[name].body for name in names]
    for touch in constraints.touches:
        if not touch.is_plain:
            bodies += [touch.first.body, touch.second.body]
    yield from (robot.joints[name].slot for name in joints)
    yield from (robot.bodies[name].slot for name in bodies if name is not None)


def _along(length: LengthSpec) -> Iterator[str]:
    """The bodies that a tendon's way goes along."""
    from kinetree.contact_model.held_spec import HeldFrame, RoundShape

    for places, _ in length.stretches:
        for place in places:
            yield place.body if isinstance(place, HeldFrame) else place.frame.body
            if isinstance(place, RoundShape) and place.side is not None:
                yield place.side.body
