"""The option `contact`: whether a robot's contacts, limits and dry friction act; and their rows at a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from kinetree.compiler.definition import Slots
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SETTINGS, SoftConstraints, check_count
from kinetree.contact_model.touches import bodies_of
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.spatial import Motion, Transform, Vec3
from kinetree.tree import Tree

if TYPE_CHECKING:
    from kinetree.algorithms.convex_dynamics import Block, LoopedTable
    from kinetree.algorithms.sleeping_islands import Sleep
    from kinetree.algorithms.soft_rows import Law, Sight
    from kinetree.collision import ContactPoint
    from kinetree.contact_model import TouchingShape, TouchSpec

__all__ = [
    "ContactOption",
    "check_whose",
    "contact_option",
    "contact_switch",
    "has_no_rows",
    "is_without_contact",
    "own_contact_option",
    "soft",
    "soft_of",
    "touching_blocks",
    "touching_points",
    "without_dry_friction",
]

ContactOption = bool | Literal["partial", "mujoco", "compliant", "rigid"] | SoftConstraints
"""Whether contacts act: all that the robot has; "partial", those that kinetree can compute; all in some setting; or
given ones."""

_KNOWN: ByIdentity[dict[str, SoftConstraints]] = ByIdentity()
_PARTIAL: ByIdentity[SoftConstraints] = ByIdentity()
_SHOWN = 4


def contact_option(model: Model, value: Any) -> SoftConstraints | None:
    """The soft constraints of a robot, or None where they do not act."""
    if value is None or value is False:
        return None
    is_given, is_partial = isinstance(value, SoftConstraints), isinstance(value, str) and value == "partial"
    is_setting = isinstance(value, str) and value in SETTINGS
    if value is not True and not is_given and not is_partial and not is_setting:
        settings = ", ".join(f'"{name}"' for name in SETTINGS)
        raise OptionError(
            f'contact must be True, False, "partial", a setting ({settings}), or what kt.contact.soft_constraints '
            f"returns, "
            f"not {value!r:.60}"
        )
    constraints: SoftConstraints = value if is_given else soft_of(model, value if is_setting else "mujoco")
    for touches in (constraints.touches, constraints.absent):
        check_count(model, touches, constraints)
    if constraints.unsupported and not is_partial:
        raise OptionError(_missing(model, constraints, is_given))
    return _part_of(model) if constraints.unsupported else constraints


def own_contact_option(model: Model, value: Any) -> SoftConstraints:
    """The soft constraints of a robot; they act unless something else is said."""
    constraints = contact_option(model, True if value is None else value)
    if constraints is None:
        raise OptionError('contact_dynamics without contacts is kt.aba; contact is True or "partial"')
    return constraints


def contact_switch(model: Model, value: Any) -> dict[str, SoftConstraints]:
    """The option in a call, if it is not the usual one."""
    constraints = contact_option(model, value)
    return {} if constraints is None else {"contact": constraints}


def soft_of(model: Model, setting: Any = "mujoco") -> SoftConstraints:
    """The soft constraints of a robot in a setting with its usual numbers, made once."""
    if model not in _KNOWN:
        _KNOWN[model] = {}
    if setting not in _KNOWN[model]:
        from kinetree.contact_model import soft_constraints

        _KNOWN[model][setting] = soft_constraints(model, setting=setting)
    return _KNOWN[model][setting]


def _part_of(model: Model) -> SoftConstraints:
    """The constraints without the parts that are not computed."""
    if model not in _PARTIAL:
        _PARTIAL[model] = replace(soft_of(model), unsupported=())
    return _PARTIAL[model]


def _missing(model: Model, found: SoftConstraints, is_given: bool) -> str:
    """Parts of a robot that kinetree does not compute."""
    shown = "; ".join(f"{x.what} {x.name!r}: {x.reason}" for x in found.unsupported[:_SHOWN])
    more = len(found.unsupported) - _SHOWN
    return (
        f"{model.name!r} has constraints that are not computed yet: {shown}"
        + (f"; and {more} more (kt.contact.soft_constraints(robot).unsupported)" if more > 0 else "")
        + ". Leave these out of the robot (robot.without_self_contact() keeps what touches the world, "
        "robot.with_contacts(bodies) what some bodies touch), or for a motion without them "
        + ("give dataclasses.replace(contact, unsupported=())" if is_given else 'say contact="partial"')
    )


def is_without_contact(options: Mapping[str, Any]) -> bool:
    """Whether no soft constraints act."""
    return options.get("contact") is None


def has_no_rows(robot: Model, options: Mapping[str, Any]) -> bool:
    """Whether bodies can be gone through in loops: where no row of soft constraints is written out."""
    from kinetree.functions.soft_blocks import constant_moment

    contact = options.get("contact")
    if contact is None:
        return True
    return contact.may_be_looped and all(constant_moment(robot, x) for x in (*contact.limits, *contact.frictions))


def without_dry_friction(passive: Sequence[str], constraints: SoftConstraints | None) -> Sequence[str]:
    """The passive forces that remain forces: dry friction is a row, where there are rows."""
    return passive if constraints is None else [name for name in passive if name != "friction"]


def soft(
    model: Form,
    constraints: SoftConstraints | None,
    passive: Sequence[str],
    gradient_softness: float = 0.0,
    integrator: str | None = None,
    *,
    written_out: bool = False,
    sleep: Sleep | None = None,
) -> Callable[[Tree, Slots, Slots, Scalar, bool], tuple[Sequence[Block], Sequence[LoopedTable]]] | None:
    """The rows at a state, for a step of some length, or as at the end of that step; and those that are in loops.

    Dry friction is among them if it is among the passive forces. `written_out`: whether none are in loops. `sleep`:
    which bodies are left out.
    """
    from kinetree.contact_model import TendonFriction
    from kinetree.functions.gradient_softness import softened, with_softer

    if constraints is None:
        return None
    if constraints.setting is not None:
        _check_setting(gradient_softness, integrator)
    if "friction" not in passive:
        others = tuple(row for row in constraints.tendons if not isinstance(row, TendonFriction))
        constraints = replace(constraints, frictions=(), tendons=others)
    rows = partial(_rows, model, constraints, written_out=written_out or bool(gradient_softness), sleep=sleep)
    if not gradient_softness:
        return rows
    softer = softened(constraints, gradient_softness)
    return with_softer(rows, partial(_rows, model, softer, written_out=True))


def _check_setting(gradient_softness: float, integrator: str | None) -> None:
    """Reject options that apply to MuJoCo's contacts only."""
    from kinetree.algorithms import INTEGRATORS

    if integrator in INTEGRATORS and INTEGRATORS[integrator].stages > 1:
        raise OptionError(
            f"compliant and rigid contacts are laws of a whole step, but {integrator!r} divides it into stages; "
            'take integrator="discrete", or contact="mujoco"'
        )
    if gradient_softness:
        raise OptionError('gradient_softness is for contacts of the setting "mujoco"; leave it out, or take that')


def check_whose(robot: Model, constraints: SoftConstraints) -> None:
    """Reject the soft constraints of another robot."""
    for what, names, own in (
        ("body", bodies_of(constraints.touches), robot.bodies),
        ("joint", [limit.joint for limit in constraints.limits], robot.joints),
    ):
        for name in names:
            if name is not None and name not in own:
                raise OptionError(
                    f"contact= is of another robot: it names the {what} {name!r}, which {robot.name!r} does not have; "
                    "give kt.contact.soft_constraints of this robot"
                )


def _rows(
    model: Form, constraints: SoftConstraints, tree: Tree, q: Slots, v: Slots, dt: Scalar, at_the_end: bool = False, *,
    written_out: bool, sleep: Sleep | None = None,
) -> tuple[list[Block], Sequence[LoopedTable]]:  # fmt: skip
    from kinetree.algorithms.soft_rows import seen
    from kinetree.functions.contact_laws import timed_laws
    from kinetree.functions.contact_tables import looped_contacts
    from kinetree.functions.soft_blocks import blocks_apart_from_contacts, looped_lengths

    robot = model.one_by_one
    check_whose(robot, constraints)
    sight = seen(tree, q, v)
    timed = timed_laws(constraints.setting, dt, at_the_end=at_the_end)
    looped: list[LoopedTable] = []
    apart: Sequence[int] = range(len(constraints.touches))
    others = constraints
    if not written_out:
        table, _, apart = looped_contacts(model, constraints, sight, timed, sleep=sleep)
        if table is not None:
            lengths, others = looped_lengths(robot, constraints, table, timed)
            looped = [table, *lengths]
    blocks = blocks_apart_from_contacts(robot, others, sight, v, timed)
    for k in apart:
        touch = constraints.touches[k]
        points = touching_points(robot, touch, sight)
        blocks += touching_blocks(robot, constraints, touch, sight, points, timed)
    return blocks, looped


def touching_points(robot: Model, touch: TouchSpec, sight: Sight) -> tuple[ContactPoint, ...]:
    """Where two shapes touch, or are near each other."""
    from kinetree.collision import contacts_nearby

    (_, X_1), (_, X_2) = (_placed(robot, side, sight) for side in (touch.first, touch.second))
    return contacts_nearby(touch.first.shape, X_1, touch.second.shape, X_2, touch.selection, touch.absent)


def touching_blocks(
    robot: Model, all_of_it: SoftConstraints, touch: TouchSpec, sight: Sight, points: Sequence[ContactPoint],
    timed: Callable[..., Law] | None = None,
) -> list[Block]:  # fmt: skip
    """The rows of two shapes that touch at these points.

    `timed` says how soft they are in a step; without it in that of the setting.
    """
    from kinetree.algorithms.soft_rows import contact
    from kinetree.functions.contact_laws import law_of_contact, timed_laws

    timed = timed or timed_laws(all_of_it.setting, 0.0)
    (i, X_1), (j, X_2) = (_placed(robot, side, sight) for side in (touch.first, touch.second))
    coefficients = touch.friction[: touch.dimension - 1]
    own, friction = law_of_contact(all_of_it, timed, touch.softness, coefficients, touch.friction_reference)
    moving = [(X, *motion) for X, motion in zip((X_1, X_2), _surface_motions(touch), strict=True)]
    return [
        contact(sight, i, j, point, touch.margin, own, friction, touch.adhesion, _surface(moving, point.position))
        for point in points
    ]


def _surface_motions(touch: TouchSpec) -> list[tuple[Vec3, Vec3]]:
    """The linear and the angular velocity of each shape's surface, in its own axes."""
    six = [(*numbers, *([0.0] * (6 - len(numbers)))) for numbers in touch.surface_velocity]
    return [(Vec3(*numbers[:3]), Vec3(*numbers[3:])) for numbers in six]


def _surface(moving: Sequence[tuple[Transform, Vec3, Vec3]], p: Vec3) -> Motion | None:
    """The velocity of the second shape's surface relative to the first one's at a point, in the world's axes."""
    if not any(any(x.components()) for _, *motion in moving for x in motion):
        return None
    at: list[Motion] = []
    for X, linear, angular in moving:
        turning = X.E.T @ angular
        at.append(Motion(turning, X.E.T @ linear + turning.cross(p - X.r)))
    return at[1] - at[0]


def _placed(robot: Model, side: TouchingShape, sight: Sight) -> tuple[int, Transform]:
    if side.body is None:
        return 0, side.placement
    body = robot.bodies[side.body]
    return body.slot, side.placement @ body.placement @ sight.X_0[body.slot]
