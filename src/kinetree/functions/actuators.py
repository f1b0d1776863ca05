"""Forces of actuators and of gravity compensation, as functions of arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import dtype_like
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.functions.options import one_of
from kinetree.model import Model, check_robot
from kinetree.model.by_identity import ByIdentity
from kinetree.spatial import Vec3

if TYPE_CHECKING:
    from kinetree.actuation import Actuation, GravityCompensation
    from kinetree.algorithms.gravity_compensation import CarriedMass
    from kinetree.algorithms.transmissions import Reach

__all__ = ["ActuatorForces", "actuator_forces", "gravity_compensation"]

_KNOWN: ByIdentity[Actuation] = ByIdentity()


class ActuatorForces(NamedTuple):
    """The result of `actuator_forces`: parts of one array."""

    forces: Array
    """The force of each actuator along its transmission (…, nu); N, N·m for a gear of 1."""
    tau: Array
    """The joint forces of all of them (…, nv); N·m, N."""
    act_rates: Array
    """The rates of the activations (…, na); 1/s."""


def actuators_of(model: Model) -> Actuation:
    """The actuators of a robot, made once."""
    from kinetree.actuation import actuation as actuation_of

    if model not in _KNOWN:
        _KNOWN[model] = actuation_of(model)
    return _KNOWN[model]


def actuation_of_robot(model: Model) -> Actuation:
    """The actuators of a robot, which must have some."""
    actuation = actuators_of(model)
    if not actuation.actuators:
        raise OptionError(
            f"{model.name!r} has no actuators; those of an MJCF file are in robot.extras.actuators, and "
            "robot.with_motors() or robot.with_servos(kp, kd) gives them to any robot"
        )
    return actuation


def timestep_option(model: Model, value: Any) -> Actuation:
    """The actuators of a robot, with the time step that they look ahead; it counts only if some do."""
    from kinetree.actuation import Actuation

    if isinstance(value, Actuation):
        return value
    if value is not None and not (
        isinstance(value, int | float | np.floating) and not isinstance(value, bool) and 0.0 < value < math.inf
    ):
        raise OptionError(f"timestep must be a positive number of seconds, not {value!r:.60}")
    own = actuation_of_robot(model)
    return own if value is None or not own.looks_ahead else replace(own, timestep=float(value))


def _count(options: Mapping[str, Any]) -> int:
    return len(options["timestep"].actuators)


def _activations(options: Mapping[str, Any]) -> int:
    return len(options["timestep"].with_activation)


class Limited(NamedTuple):
    """A force, or a sum of forces on a tendon or a joint, before it is limited to a range."""

    force: Scalar
    limits: tuple[Scalar, Scalar] | None


class Acting(NamedTuple):
    """The action of actuators in a state."""

    reaches: list[Reach]
    forces: list[Scalar]
    limited: list[list[Limited]]
    """The limits of each actuator's force."""
    rates: list[Scalar]
    """The rates of activations."""
    pieces: list[list[Scalar]]
    """Joint forces by slots, the root's included."""


def acting(
    model: Form,
    q: Slots,
    v: Slots,
    ctrl: Sequence[Scalar],
    act: Sequence[Scalar],
    actuation: Actuation,
    step: Scalar | None = None,
) -> Acting:
    """Lengths, forces and joint forces of all actuators, and rates of their activations; `step` is the time step, if
    it is not that of the file."""
    from kinetree.actuation import CoordinateSpec, TendonSpec
    from kinetree.actuation.reaches import reach_of
    from kinetree.algorithms.transmissions import reach_velocity, viewed

    tree, robot = model.tree, model.one_by_one
    view, dt = viewed(tree, q), actuation.timestep if step is None else step
    places = {k: place for place, k in enumerate(actuation.with_activation)}
    reaches = [reach_of(view, robot, actuator.transmission) for actuator in actuation.actuators]
    forces: list[Scalar] = []
    rates: list[Scalar] = []
    for k, (one, reach) in enumerate(zip(actuation.actuators, reaches, strict=True)):
        w = act[places[k]] if k in places else 0.0
        is_off = one.is_disabled or not actuation.is_on
        speed = reach_velocity(reach, v)
        if one.muscle is not None and not is_off:
            forces.append(algorithms.muscle_force(one.muscle, w, reach.length, speed))
            rates.append(algorithms.muscle_rate(one.muscle, algorithms.within_range(ctrl[k], one.law.control_range), w))
            continue
        forces.append(0.0 if is_off else algorithms.actuator_force(one.law, ctrl[k], w, reach.length, speed, dt))
        if k in places:
            rates.append(0.0 if is_off else algorithms.activation_rate(one.law, ctrl[k], w))
    limited: list[list[Limited]] = [[] for _ in forces]
    for tendon, limits in actuation.tendon_ranges:
        on_it = [
            k
            for k, one in enumerate(actuation.actuators)
            if isinstance(one.transmission, TendonSpec) and one.transmission.tendon == tendon
        ]
        total = sum((forces[k] for k in on_it), 0.0)
        for k, force in zip(on_it, algorithms.shared_out([forces[k] for k in on_it], limits), strict=True):
            limited[k].append(Limited(total, limits))
            forces[k] = force
    for k, one in enumerate(actuation.actuators):
        limited[k].append(Limited(forces[k], one.law.force_range))
        forces[k] = algorithms.within_range(forces[k], one.law.force_range)
    pieces: list[list[Scalar]] = [[0.0] * joint.nv for joint in tree.joint]
    for force, reach in zip(forces, reaches, strict=True):
        for slot, row in reach.moment.items():
            pieces[slot] = [x + m * force for x, m in zip(pieces[slot], row, strict=True)]
    if actuation.is_on and actuation.compensation.by_actuators and actuation.compensation.bodies:
        weights = carried_weights(model, q, actuation.compensation)
        for name in actuation.compensation.by_actuators:
            slot = robot.joints[name].slot
            pieces[slot] = [x + w for x, w in zip(pieces[slot], weights[slot], strict=True)]
    for name, limits in actuation.joint_ranges:
        slot = robot.joints[name].slot
        for k, one in enumerate(actuation.actuators):
            if isinstance(one.transmission, CoordinateSpec) and one.transmission.joint == name:
                limited[k] += [Limited(total, limits) for total in pieces[slot]]
        pieces[slot] = [algorithms.within_range(x, limits) for x in pieces[slot]]
    return Acting(reaches, forces, limited, rates, pieces)


def _actuator_forces(
    model: Form, q: Slots, v: Slots, ctrl: Sequence[Scalar], act: Sequence[Scalar], *, timestep: Actuation
) -> list[Scalar]:
    forces = acting(model, q, v, ctrl, act, timestep)
    return [*forces.forces, *model.tree.joined(forces.pieces[1:], "nv"), *forces.rates]


def carried_weights(model: Form, q: Slots, carried: GravityCompensation) -> list[Sequence[Scalar]]:
    """The joint forces that compensate for gravity, by slots, the root's included."""
    from kinetree.algorithms.gravity_compensation import CarriedMass

    robot = model.one_by_one
    masses: dict[int, CarriedMass] = {}
    for name, part in carried.bodies:
        body = robot.bodies[name]
        m, old = body.inertia.mass * part, masses.get(body.slot, CarriedMass(0.0, Vec3.zero()))
        h = body.placement.E.T @ (body.inertia.h * part) + body.placement.r * m
        masses[body.slot] = CarriedMass(old.mass + m, old.first_moment + h)
    return [(), *algorithms.gravity_compensation(model.tree, q, masses)]


def _gravity_compensation(model: Form, q: Slots, *, part: tuple[str, GravityCompensation]) -> list[Scalar]:
    which, compensation = part
    robot, pieces = model.one_by_one, carried_weights(model, q, compensation)
    theirs = {robot.joints[name].slot for name in compensation.by_actuators}
    for slot, piece in enumerate(pieces):
        if which != "all" and (slot in theirs) != (which == "actuators"):
            pieces[slot] = [0.0] * len(piece)
    return model.tree.joined(pieces[1:], "nv")


_one_part = one_of("part", "all", "passive", "actuators")


def _part_option(model: Model, value: Any) -> Hashable:
    """The selected joints and the carried weights: kernels are kept by the data they depend on."""
    from kinetree.actuation import gravity_compensation as compensation_of

    return "all" if value is None else _one_part(model, value), compensation_of(model)


ACTUATOR_FORCES = Definition(
    "actuator_forces",
    (("q", "nq"), ("v", "nv"), ("ctrl", "nu"), ("act", "na")),
    lambda model, options: (_count(options) + model.nv + _activations(options),),
    _actuator_forces,
    {"timestep": timestep_option},
    sizes={"nu": _count, "na": _activations},
    optional=("act",),
    strategy=Strategy(loops=False),
)
GRAVITY_COMPENSATION = Definition(
    "gravity_compensation",
    (("q", "nq"),),
    ("nv",),
    _gravity_compensation,
    {"part": _part_option},
    strategy=Strategy(loops=False),
)


@defined_by(ACTUATOR_FORCES, in_units=True)
def actuator_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    ctrl: ArrayLike,
    act: ArrayLike | None = None,
    *,
    timestep: float | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ActuatorForces:
    """The forces of a robot's actuators, with the meaning that MuJoCo gives them.

    Actuators are those of the robot's file, in its order: `[one.name for one in robot.extras.actuators]`. Their
    transmissions are joints, fixed tendons, sites and slider-cranks; gain and bias are fixed or affine, or those of
    muscles, activations those of integrators, filters and muscles. Ranges of controls, activations, forces, and of the
    sums of forces on tendons and joints are kept, and actuators of disabled groups exert no force. See
    `kinetree docs actuators`.

    Args:
        ctrl: controls (…, nu), one per actuator, with the units of the file. Where one is NaN, so are the results that
            depend on it in that sample.
        act: activations (…, na), one per actuator with dynamics, in the order of the file; zeros by default.
        timestep: the length of a time step, s, for actuators that act early (`actearly`); by default that of the file.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, (…, nu + nv + na), of the result's dtype.

    Returns:
        (forces, tau, act_rates). The joint forces are tau of `aba`, and have the part of weights that actuators carry.
        The damping that actuators add to joints is part of the joints' own (`passive_forces`).

    Raises:
        OptionError: the robot has no actuators, or one whose force is not computed; the message names it.

    Source: MuJoCo documentation, "Computation", section on actuation; version 4.

    >>> import kinetree as kt
    >>> from kinetree.model.extras import Actuator, Extras
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    >>> builder.extras = Extras(actuators=(Actuator("push", "joint", "slider", gear=(10.0, 0, 0, 0, 0, 0)),))
    >>> kt.dynamics.actuator_forces(builder.build(), [0.0, 0.0], [0.0, 0.0], [0.5]).tau.tolist()
    [5.0, 0.0]
    """
    model = check_robot(robot)
    own = actuation_of_robot(model)
    nu, na = len(own.actuators), len(own.with_activation)
    options: dict[str, Any] = {} if timestep is None else {"timestep": timestep_option(model, timestep)}
    given = (q, v, ctrl, np.zeros(na, dtype_like(q)) if act is None else act)
    flat = run(ACTUATOR_FORCES, model, given, parameters=parameters, out=out, threads=threads, **options)
    n = nu + model.nv
    return ActuatorForces(flat[..., :nu], flat[..., nu:n], flat[..., n:])


@defined_plainly_by(GRAVITY_COMPENSATION, in_units=True)
def gravity_compensation(
    robot: Model,
    q: ArrayLike,
    *,
    part: Literal["all", "passive", "actuators"] = "all",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The joint forces that carry weights of bodies, as far as the robot's file says (MuJoCo's `gravcomp`).

    Args:
        part: "passive" for joints at which it is a passive force; "actuators" for those whose actuators carry it
            (`actuatorgravcomp`), where it is part of the result of `actuator_forces`; "all" for both.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Joint forces (…, nv); N·m, N. Zeros if no weight is carried.

    Source: MuJoCo documentation, "XML Reference", attribute gravcomp of body; version 4.

    >>> import kinetree as kt
    >>> from kinetree.model.extras import BodySettings, Extras
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("double_pendulum"))
    >>> builder.extras = Extras(bodies=(BodySettings("upper_rod", gravity_compensation=1.0),))
    >>> robot = builder.build()
    >>> carried = kt.dynamics.gravity_compensation(robot, [0.5, 0.2])
    >>> bool(abs(carried[0]) > 0.0), float(carried[1])
    (True, 0.0)
    """
    model = check_robot(robot)
    options: dict[str, Any] = {} if part == "all" else {"part": part}
    return run(GRAVITY_COMPENSATION, model, (q,), parameters=parameters, out=out, threads=threads, **options)
