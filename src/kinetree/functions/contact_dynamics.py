"""Forward dynamics with contacts, limits and dry friction, as a function of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.algorithms.forward_dynamics import unbalanced
from kinetree.algorithms.convex_dynamics import Block, Effort, minimum_acceleration
from kinetree.algorithms.soft_rows import Friction, Sight, contact, dry_friction, follower, limits, seen
from kinetree.collision import contacts
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact import SoftConstraints, TouchSpec
from kinetree.contact.spec import TouchingShape
from kinetree.expr import Scalar
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force, Transform

__all__ = ["ContactMotion", "contact_dynamics"]

Forces = dict[int, Force]


class ContactMotion(NamedTuple):
    """What `contact_dynamics` returns: parts of one array."""

    qdd: Array
    """Accelerations (…, nv)."""
    error: Array
    """A bound on the relative error of qdd, measured by the kinetic energy (…,)."""
    iterations: Array
    """How many iterations the solver took (…,)."""


def soft_blocks(model: Form, soft: SoftConstraints, q: Slots, v: Slots) -> list[Block]:
    """All soft constraints at a state."""
    robot = model.one_by_one
    sight = seen(model.tree, q, v)
    slot = {name: joint.slot for name, joint in robot.joints.items()}
    blocks: list[Block] = []
    for e in soft.couplings:
        leader = None if e.joint2 is None else slot[e.joint2]
        blocks.append(follower(sight, slot[e.joint1], leader, e.coefficients, e.reference, e.softness))
    for f in soft.frictions:
        blocks.append(dry_friction(sight, slot[f.joint], f.dof, f.loss, f.softness))
    for x in soft.limits:
        blocks += limits(sight, slot[x.joint], x.lower, x.upper, x.margin, x.softness)
    for touch in soft.touches:
        blocks += _touch(robot, soft, touch, sight)
    return blocks


def _touch(robot: Model, soft: SoftConstraints, touch: TouchSpec, sight: Sight) -> list[Block]:
    (i, X_1), (j, X_2) = (_placed(robot, side, sight) for side in (touch.first, touch.second))
    points = contacts(touch.first.shape, X_1, touch.second.shape, X_2, touch.selection)
    friction = None
    if touch.dimension > 1:
        reference = touch.friction_reference
        own = replace(touch.softness, reference=reference) if any(reference) else None
        friction = Friction(touch.friction[: touch.dimension - 1], soft.is_elliptic, soft.friction_ratio, own)
    return [contact(sight, i, j, p, touch.margin, touch.softness, friction) for p in points]


def _placed(robot: Model, side: TouchingShape, sight: Sight) -> tuple[int, Transform]:
    if side.body is None:
        return 0, side.placement
    body = robot.bodies[side.body]
    return body.slot, side.placement @ body.placement @ sight.X_0[body.slot]


def _contact_dynamics(
    model: Form, q: Slots, v: Slots, tau: Slots, guess: Slots, *,
    passive: Sequence[str], limits: bool, contact: SoftConstraints, f_ext: Forces,
) -> list[Scalar]:  # fmt: skip
    tree = model.tree
    acting = algorithms.driven(tree, q, v, tau, passive, limits)
    blocks = soft_blocks(model, contact, q, v)
    coupled = [[k for k in range(len(block.J[0])) if any(_is_there(row[k]) for row in block.J)] for block in blocks]
    M = algorithms.crba(tree, q).sparse(coupled=coupled)
    left = tree.joined(unbalanced(tree, q, v, acting, f_ext)[1:], "forces")
    found = minimum_acceleration(M, left, blocks, tree.numbers(guess[1:], "nv"), Effort())
    return [*found.acceleration, found.error, found.iterations]


def _is_there(x: Scalar) -> bool:
    return not (isinstance(x, float) and x == 0.0)


def _contact_option(model: Model, value: Any) -> SoftConstraints:
    return value


CONTACT_DYNAMICS = Definition(
    "contact_dynamics",
    (("q", "nq"), ("v", "nv"), ("tau", "forces"), ("guess", "nv")),
    lambda model, _: (model.nv + 2,),
    _contact_dynamics,
    {"passive": passive_option, "limits": limits_option, "contact": _contact_option},
    takes_forces=True,
    divides_by_inertia=True,
    strategy=Strategy(loops=False, is_dense=lambda *_: True),
)
