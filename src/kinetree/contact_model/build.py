"""From a robot to its soft constraints: as MuJoCo takes them from an MJCF file, with its defaults for other files."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real

from kinetree.collision import is_supported, unsupported
from kinetree.contact_model.equalities import connections, couplings, other_equalities
from kinetree.contact_model.held_spec import ConnectionSpec
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.contact_model.limits import frictions, limits
from kinetree.contact_model.loops import loop_rows
from kinetree.contact_model.many_pairs import about_many
from kinetree.contact_model.mixing import LEAST_FRICTION, softness, softness_across
from kinetree.contact_model.overlaps import overlap_at_rest
from kinetree.contact_model.pairs import TouchingPair, touching_pairs
from kinetree.contact_model.settings import Rigid, SettingName, friction_number, setting_named
from kinetree.contact_model.shapes import Shapes, Surface, kind_of
from kinetree.contact_model.spec import (
    CouplingSpec,
    FrictionSpec,
    LimitSpec,
    SoftConstraints,
    TouchingShape,
    TouchSpec,
    Unsupported,
)
from kinetree.contact_model.tendon_rows import tendon_inertias, tendon_rows
from kinetree.errors import OptionError, SimulationWarning
from kinetree.model import Model, check_robot
from kinetree.model.constraints import Constraint
from kinetree.model.extras import SimulationOptions

__all__ = ["soft_constraints"]

_LEAST_RATIO = 1e-15


def soft_constraints(
    robot: Model,
    timestep: float | None = None,
    *,
    constraints: Constraint | Sequence[Constraint] = (),
    setting: SettingName = "mujoco",
    friction: float | None = None,
    stiffness: float | None = None,
    dissipation: float | None = None,
    restitution: float | None = None,
    accurate: bool | None = None,
    correction: float | None = None,
    fastest_correction: float | None = None,
    tolerance: float | None = None,
    reach: float | None = None,
) -> SoftConstraints:
    """All soft constraints of a robot: contacts, limits, dry friction, couplings of joints, connections and welds.

    Args:
        robot: the robot.
        timestep: that of the simulation, s; by default that of the robot's options, or MuJoCo's, 0.002 s. For "mujoco"
            twice this is the shortest time constant of a constraint; for the others it is the step that
            `contact_dynamics` takes the acceleration of. Functions that take steps use their own.
        constraints: a list of `kt.constraints.Loop` and `kt.constraints.Contact` that hold as well, as rows that are
            almost rigid: a force moves them by a ten-thousandth of the displacement without the constraint. Errors
            vanish as their gains say, or with a time constant of 0.02 s without gains. A contact needs its place, `at`.
            The result is the option `contact` of `contact_dynamics`, `rollout` and `simulate`, where it takes the place
            of True.
        setting: how hard they push. "mujoco": springs and dampers in accelerations, with the file's numbers.
            "compliant": springs and dampers in physical units. "rigid": no overlap, and Coulomb's friction without
            lift-off. Both are laws of a step; limits, dry friction and couplings of joints are near-rigid in them.
        friction: the coefficient of sliding friction of all contacts, instead of those of the shapes.
        stiffness: "compliant": of each point of contact, N/m, 1e5 by default.
        dissipation: "compliant": damping over stiffness, s, 0.02 by default.
        restitution: "rigid": the normal speed after an impact over that before, 0 by default.
        accurate: "rigid": whether up to 40 rounds make friction and normal motion agree to `tolerance`. By default
            there is one round, which takes friction's lift from the motion at the step's beginning.
        correction: "rigid": the time in which overlaps are corrected, s, 0.02 by default.
        fastest_correction: "rigid": the largest speed at which they are, 1 m/s by default (rad/s, of joints).
        tolerance: "rigid": the residual at which rounds end, 1e-8 m/s by default.
        reach: "rigid": how far contacts look ahead, 0.02 m by default. Bodies that move farther in one step may overlap
            before they are pushed back.

    `unsupported` names the parts without a constraint yet.

    Raises:
        OptionError: the time step is not positive, the constraints have a fault, the setting is unknown, or a number is
            out of its range or belongs to another setting.
        NameNotFoundError: the robot has no such frame.

    >>> import kinetree as kt
    >>> from kinetree.contact_model import soft_constraints
    >>> [limit.joint for limit in soft_constraints(kt.zoo.load("arm6")).limits][:2]
    ['base_yaw', 'shoulder_pitch']
    """
    options = check_robot(robot).extras.options or SimulationOptions()
    step = options.timestep if timestep is None else timestep
    if isinstance(step, bool) or not isinstance(step, Real) or not 0.0 < step < math.inf:
        raise OptionError(f"timestep is {timestep!r:.40}, but it must be a positive number of seconds")
    law = setting_named(
        setting, step,
        {
            "stiffness": stiffness, "dissipation": dissipation, "restitution": restitution, "accurate": accurate,
            "correction": correction, "fastest_correction": fastest_correction, "tolerance": tolerance,
            "reach": reach,
        },
    )  # fmt: skip
    flags = options.flags
    period = 2.0 * step if flags.refsafe else 0.0
    pairs = touching_pairs(robot, options) if flags.constraint and flags.contact and robot.nv else []
    weights = InverseWeights(robot)
    of_tendons, not_there = tendon_inertias(robot)
    loops = loop_rows(robot, weights, constraints, period)
    soft = SoftConstraints(
        is_elliptic=options.cone == "elliptic" or law is not None, friction_ratio=max(options.impratio, _LEAST_RATIO),
        unsupported=tuple(not_there), tendons=tuple(of_tendons), loops=tuple(loops), setting=law,
    )  # fmt: skip
    if not flags.constraint or not robot.nv:
        return soft
    not_there += _of_options(options) + _of_parts(robot)
    own_limits: list[LimitSpec] = []
    own_frictions: list[FrictionSpec] = []
    own_couplings: list[CouplingSpec] = []
    own_connections: list[ConnectionSpec] = []
    touches: list[TouchSpec] = []
    remarks: tuple[str, ...] = ()
    if flags.limit:
        own_limits, more = limits(robot, weights, period)
        not_there += more
    if flags.frictionloss:
        own_frictions = frictions(robot, weights, period)
    if flags.equality:
        own_couplings = couplings(robot, weights, period)
        own_connections = connections(robot, weights, period)
        not_there += other_equalities(robot)
    more_of_tendons, more = tendon_rows(robot, weights, period, flags)
    of_tendons += more_of_tendons
    not_there += more
    if flags.contact:
        touches, more, remarks = _touches(robot, pairs, weights, period, mixes=not flags.override)
        if friction is not None:
            touches = _with_friction(touches, friction_number(friction))
        if isinstance(law, Rigid):
            touches = [replace(touch, selection=touch.selection + law.reach) for touch in touches]
        not_there += more
    return replace(
        soft, limits=tuple(own_limits), frictions=tuple(own_frictions), couplings=tuple(own_couplings),
        touches=tuple(touches), unsupported=tuple(not_there), connections=tuple(own_connections),
        tendons=tuple(of_tendons), remarks=remarks,
    )  # fmt: skip


def _with_friction(touches: list[TouchSpec], mu: float) -> list[TouchSpec]:
    """The same with one coefficient of sliding friction."""
    sliding = max(mu, LEAST_FRICTION)
    return [replace(touch, friction=(sliding, sliding, *touch.friction[2:])) for touch in touches]


def _touches(
    robot: Model, pairs: Sequence[TouchingPair], weights: InverseWeights, period: float, *, mixes: bool
) -> tuple[list[TouchSpec], list[Unsupported], tuple[str, ...]]:
    """The pairs that may touch, those that cannot, and simplifications."""
    touches: list[TouchSpec] = []
    missing: dict[str, Unsupported] = {}
    shapes = Shapes(robot)
    for pair in pairs:
        for side in (pair.first, pair.second):
            if reason := shapes.why_not(side):
                missing[side.name] = Unsupported("shape", side.name, reason)
        if pair.first.name in missing or pair.second.name in missing:
            continue
        kinds = kind_of(pair.first.geometry), kind_of(pair.second.geometry)
        if not is_supported(*kinds):
            name = f"{pair.first.name}, {pair.second.name}"
            missing[name] = Unsupported("pair", name, unsupported(*kinds))
            continue
        if overlap_at_rest(robot, weights, pair, shapes):
            name = f"{pair.first.name}, {pair.second.name}"
            missing[name] = Unsupported("overlap", name, _OVERLAP)
            continue
        touches.append(_touch(pair, weights, period, shapes, mixes=mixes))
    if remark := about_many(robot, touches):
        warnings.warn(remark, SimulationWarning, stacklevel=3)
    return touches, [*missing.values()], tuple(shapes.remarks())


_OVERLAP = (
    "they overlap in the reference configuration, so their contacts are left out; an SRDF file can say what touches"
)


def _touch(pair: TouchingPair, weights: InverseWeights, period: float, shapes: Shapes, *, mixes: bool) -> TouchSpec:
    touch = pair.touch
    one, other = weights.of_body(pair.first.body), weights.of_body(pair.second.body)
    return TouchSpec(
        _placed(pair.first, shapes),
        _placed(pair.second, shapes),
        touch.condim,
        touch.friction,
        softness(touch.solref, touch.solimp, one.translation + other.translation, period),
        softness_across(touch.solref_friction),
        touch.margin,
        touch.margin + touch.gap,
        touch.adhesion,
        (pair.first.contact.surface_velocity, pair.second.contact.surface_velocity),
        (pair.first.contact, pair.second.contact) if mixes and pair.pair is None else None,
        pair.pair if mixes else None,
    )


def _placed(side: Surface, shapes: Shapes) -> TouchingShape:
    shape = shapes.of(side)
    assert shape is not None
    return TouchingShape(side.body, side.name, shape.shape, shape.placement, side.place[1], shape.within)


def _of_options(options: SimulationOptions) -> list[Unsupported]:
    """Options without a consequence here."""
    unsupported = []
    if options.noslip_iterations:
        unsupported.append(Unsupported("option", "noslip_iterations", _NOSLIP))
    for flag, reason in _FLAGS.items():
        if getattr(options.flags, flag):
            unsupported.append(Unsupported("option", flag, reason))
    return unsupported


_NOSLIP = (
    "friction is not corrected after the solution: what that gives depends on the order of the contacts; a larger "
    "impratio with elliptic cones lets bodies slip less"
)
_FLAGS = {
    "diagexact": "constraints are measured by approximate inertias in the reference configuration",
    "speculative": "contacts are those of the present configuration",
    "sleep": "all bodies are always simulated",
    "ipc": "contacts are soft constraints only",
}


def _of_parts(robot: Model) -> list[Unsupported]:
    """Deformable bodies."""
    return [
        Unsupported("body", part.tag, "deformable bodies are not simulated")
        for part in robot.extras.unused
        if part.tag == "deformable"
    ]
