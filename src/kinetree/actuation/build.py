"""From a robot to its actuators: as MuJoCo takes them from an MJCF file.

The damping of servos whose files give its ratio to the critical one, and the mobility of their loads.

    d = 2 ζ √(k m),    m = (J M⁻¹ Jᵀ)⁻¹

M and the moment J of the transmission are those in the reference configuration; armature of tendons counts.

Source: MuJoCo documentation, "XML Reference", attribute dampratio; version 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree import algorithms
from kinetree.actuation.reaches import reach_of
from kinetree.actuation.spec import (
    Actuation,
    ActuatorSpec,
    BallSpec,
    CoordinateSpec,
    FreeSpec,
    GravityCompensation,
    SiteSpec,
    SliderCrankSpec,
    TendonSpec,
    TransmissionSpec,
)
from kinetree.algorithms.actuators import ActuatorLaw, Dynamics
from kinetree.algorithms.muscles import Muscle
from kinetree.algorithms.transmissions import Reach, viewed
from kinetree.errors import ModelError, OptionError, quoted
from kinetree.joints import JointKind, Spherical
from kinetree.joints.wrapping import Wrapping
from kinetree.model import Model
from kinetree.model.actuator_parameters import ActuatorOf
from kinetree.model.by_identity import ByIdentity
from kinetree.model.extras import Actuator, SimulationOptions, Tendon, TendonJoint
from kinetree.model.parameters import ROWS, find
from kinetree.model.reference import reference_configuration, with_tendon_armature

__all__ = ["actuation", "damping_of_servo", "gravity_compensation", "with_ease"]

_DYNAMICS: dict[str, Dynamics] = {
    "none": "none", "integrator": "integrator", "filter": "filter", "filterexact": "filterexact",
    "muscle": "muscle",
}  # fmt: skip
JointRange = tuple[str, tuple[float, float]]
"""A joint, and the range of the force of all actuators on it."""
_LAST_GROUP = 30
_TINY = 1e-15


def actuation(robot: Model) -> Actuation:
    """All actuators of a robot, in the order of its file.

    Raises:
        OptionError: an actuator's force is not computed here; the message names it and its unsupported attribute.

    >>> import kinetree as kt
    >>> actuation(kt.zoo.load("arm6")).actuators
    ()
    """
    options = robot.extras.options or SimulationOptions()
    tendons = {tendon.name: tendon for tendon in robot.extras.tendons}
    actuators = []
    for k, one in enumerate(robot.extras.actuators):
        tendon = tendons[one.target] if one.transmission == "tendon" else None
        refuse_unknown(robot.name, k, one, tendon)
        transmission = _transmission(robot, one, tendon)
        muscle = _muscle(robot, one, transmission) if one.dynamics == "muscle" else None
        law = _law(one, transmission, servo_damping(robot, one, transmission), options)
        disabled = 0 <= one.group <= _LAST_GROUP and one.group in options.disabled_actuator_groups
        ease = ease_of_motion(robot, transmission) if any((*law.bias[1:], *law.gain[1:])) else 0.0
        actuators.append(ActuatorSpec(one.name, transmission, law, disabled, muscle, ease, one))
    compensation = gravity_compensation(robot)
    ranges, kept = _joint_ranges(robot, actuators, compensation.by_actuators)
    return Actuation(
        tuple(actuators),
        options.flags.actuation,
        tuple((name, tendon.force_range) for name, tendon in tendons.items() if tendon.force_limited),
        ranges,
        compensation,
        options.timestep,
        kept,
    )


def damping_of_servo(robot: Model, number: int) -> float:
    """The damping of a servo whose file gives its ratio to the critical one."""
    one = robot.extras.actuators[number]
    tendon = next((x for x in robot.extras.tendons if one.transmission == "tendon" and x.name == one.target), None)
    refuse_unknown(robot.name, number, one, tendon)
    return servo_damping(robot, one, _transmission(robot, one, tendon)) or 0.0


def with_ease(robot: Model, actuation: Actuation, names: Iterable[str]) -> Actuation:
    """A copy with how easily lengths move on which forces depend by these parameters alone."""
    owners = [find(robot, name.removesuffix(ROWS)).owner for name in names if name.startswith("actuator.")]
    acting = {owner.number for owner in owners if isinstance(owner, ActuatorOf)}
    actuators = tuple(
        replace(one, ease=ease_of_motion(robot, one.transmission))
        if k in acting and one.muscle is None and one.ease == 0.0
        else one
        for k, one in enumerate(actuation.actuators)
    )
    return replace(actuation, actuators=actuators)


def gravity_compensation(robot: Model) -> GravityCompensation:
    """The parts of weights that are carried, and those that actuators carry."""
    return GravityCompensation(
        tuple((body.body, body.gravity_compensation) for body in robot.extras.bodies if body.gravity_compensation),
        tuple(joint.joint for joint in robot.extras.joints if joint.actuators_carry_gravity),
    )


def _joint_ranges(
    robot: Model, actuators: Sequence[ActuatorSpec], carrying: Sequence[str]
) -> tuple[tuple[JointRange, ...], tuple[tuple[int, JointRange], ...]]:
    """Ranges of the forces of all actuators on a joint: those that are not alike in both directions, or the effort.

    Ranges that the only actuator on a joint keeps anyway are apart, with its number.
    """
    settings = {one.joint: one.actuator_force_range for one in robot.extras.joints if one.actuator_force_limited}
    ranges: list[JointRange] = []
    kept: list[tuple[int, JointRange]] = []
    for name, joint in robot.joints.items():
        if joint.kind.nv == 1 and (name in settings or math.isfinite(joint.limits.effort[0])):
            effort = joint.limits.effort[0]
            low, high = settings.get(name, (-effort, effort))
            only = None if name in carrying else _the_only_one(name, actuators)
            if only is not None and low <= min(only[1]) <= max(only[1]) <= high:
                kept.append((only[0], (name, (low, high))))
            else:
                ranges.append((name, (low, high)))
    return tuple(ranges), tuple(kept)


def _the_only_one(joint: str, actuators: Sequence[ActuatorSpec]) -> tuple[int, tuple[float, float]] | None:
    """The only actuator that may act on a joint, and the joint forces at the ends of its range; None without one."""
    on_it = [
        (k, one.settings)
        for k, one in enumerate(actuators)
        if not isinstance(one.transmission, CoordinateSpec) or one.transmission.joint == joint
    ]
    if len(on_it) != 1 or not isinstance(actuators[on_it[0][0]].transmission, CoordinateSpec):
        return None
    ((k, settings),) = on_it
    if settings is None or not settings.force_limited:
        return None
    low, high = (settings.gear[0] * x for x in settings.force_range)
    return k, (low, high)


def _transmission(robot: Model, one: Actuator, tendon: Tendon | None) -> TransmissionSpec:
    first, second = (one.gear[0], one.gear[1], one.gear[2]), (one.gear[3], one.gear[4], one.gear[5])
    if tendon is not None:
        terms = tuple((part.joint, part.coefficient) for part in tendon.path if isinstance(part, TendonJoint))
        return TendonSpec(tendon.name, terms, one.gear[0])
    if one.transmission in ("site", "slidercrank"):
        frames = {site.name: site.frame for site in robot.extras.sites}
        site, other = (frames.get(name, name) for name in (one.target, one.reference))
        if one.transmission == "slidercrank":
            return SliderCrankSpec(site, other, one.crank_length, one.gear[0])
        return SiteSpec(site, first, second, other)
    in_parent = one.transmission == "jointinparent"
    kind = _plain(robot.joints[one.target].kind)
    if kind.nv == 1:
        return CoordinateSpec(one.target, one.gear[0])
    if isinstance(kind, Spherical):
        return BallSpec(one.target, first, in_parent)
    return FreeSpec(one.target, first, second, in_parent)


def _plain(kind: JointKind) -> JointKind:
    while isinstance(kind, Wrapping):
        kind = kind.kind
    return kind


def _law(
    one: Actuator, transmission: TransmissionSpec, damping: float | None, options: SimulationOptions
) -> ActuatorLaw:
    gain, bias = one.gain_parameters[:3], one.bias_parameters[:3]
    if damping is not None:
        bias = (bias[0], bias[1], -damping)
    return ActuatorLaw(
        gain=(gain[0], gain[1], gain[2]) if one.gain == "affine" else (gain[0], 0.0, 0.0),
        bias=(bias[0], bias[1], bias[2]) if one.bias == "affine" else (0.0, 0.0, 0.0),
        dynamics=_DYNAMICS[one.dynamics],
        time_constant=one.dynamics_parameters[0],
        control_range=one.control_range if one.control_limited and options.flags.clampctrl else None,
        activation_range=one.activation_range if one.activation_limited else None,
        force_range=one.force_range if one.force_limited else None,
        acts_early=one.acts_early,
        period=_period(one, transmission),
    )


def _muscle(robot: Model, one: Actuator, transmission: TransmissionSpec) -> Muscle:
    low, high, force, scale, least, most, fastest, passive, eccentric = one.gain_parameters[:9]
    if force < 0.0:
        force = scale / max(unit_acceleration(robot, transmission), _TINY)
    rising, falling, smoothing = one.dynamics_parameters[:3]
    return Muscle(
        force, one.length_range, (low, high), least, most, fastest, passive, eccentric, (rising, falling), smoothing
    )


def _period(one: Actuator, transmission: TransmissionSpec) -> float:
    """The lengths of a whole turn, for servos of a rotation."""
    is_servo = (
        one.gain == "fixed"
        and one.bias == "affine"
        and one.gain_parameters[0] == -one.bias_parameters[1]
        and one.dynamics in ("none", "integrator")
    )
    if not is_servo:
        return 0.0
    if isinstance(transmission, BallSpec):
        return 2.0 * math.pi * math.hypot(*transmission.axis)
    if isinstance(transmission, SiteSpec) and transmission.reference and not any(transmission.force):
        return 2.0 * math.pi * math.hypot(*transmission.torque)
    return 0.0


_GAINS, _BIASES = ("fixed", "affine"), ("none", "affine")
_KNOWN_DYNAMICS = _DYNAMICS.keys() - {"muscle"}
_TRANSMISSIONS = {
    "body": "adhesion, the transmission that is a body's contacts",
}


def refuse_unknown(robot: str, number: int, one: Actuator, tendon: Tendon | None) -> None:
    """Raise an error that names the unsupported feature of an actuator."""
    for feature in _unknown(one, tendon):
        who = quoted(one.name) if one.name else f"number {number}"
        raise OptionError(
            f"{robot!r}: the actuator {who} ({one.kind}) has {feature}, which is not computed; give it a fixed or "
            "affine gain and bias on joints, fixed tendons or sites, or compute its force yourself and give it as tau"
        )


def _unknown(one: Actuator, tendon: Tendon | None) -> Iterator[str]:
    if one.plugin is not None or one.kind == "plugin":
        yield "a plugin"
    if one.transmission in _TRANSMISSIONS:
        yield _TRANSMISSIONS[one.transmission]
    if tendon is not None and tendon.kind != "fixed":
        yield f"a spatial tendon, {tendon.name!r},"
    if one.dynamics == one.gain == one.bias == "muscle":
        yield from _of_muscles(one)
        return
    for word, known, what in (
        (one.dynamics, _KNOWN_DYNAMICS, "dynamics"), (one.gain, _GAINS, "a gain"), (one.bias, _BIASES, "a bias")
    ):  # fmt: skip
        if word not in known:
            yield f"{what} of the kind {word!r}"
    if one.activation_size != int(one.dynamics != "none"):
        yield f"an activation of {one.activation_size} numbers"
    if one.delay:
        yield "a delay of its control"


def _of_muscles(one: Actuator) -> Iterator[str]:
    if one.length_range == (0.0, 0.0):
        yield "no lengthrange, which MuJoCo finds by simulation,"
    if one.gain_parameters[:9] != one.bias_parameters[:9]:
        yield "other parameters of its gain than of its bias"
    if one.acts_early:
        yield "a muscle that acts early"
    if one.delay:
        yield "a delay of its control"


_MASS: ByIdentity[NDArray[np.float64]] = ByIdentity()


def servo_damping(robot: Model, one: Actuator, transmission: TransmissionSpec) -> float | None:
    """The damping of a servo by its ratio; None if it does not have a ratio."""
    if one.damping_ratio is None:
        return None
    row, moved = _row_and_acceleration(robot, transmission)
    ease = float(row @ moved) if np.isfinite(moved).all() else math.inf
    if not ease > 0.0:
        return 0.0
    if not math.isfinite(ease):
        raise ModelError(
            f"{robot.name!r}: the actuator {one.name!r} has a damping ratio, but what it moves has no inertia; give it "
            "kv, or give the bodies inertia"
        )
    return 2.0 * one.damping_ratio * math.sqrt(one.gain_parameters[0] / ease)


def ease_of_motion(robot: Model, transmission: TransmissionSpec) -> float:
    """J M⁻¹ Jᵀ: the acceleration along the length for a force of 1 along it, in the reference configuration."""
    row, moved = _row_and_acceleration(robot, transmission)
    return float(row @ moved) if np.isfinite(moved).all() else 0.0


def unit_acceleration(robot: Model, transmission: TransmissionSpec) -> float:
    """|M⁻¹ Jᵀ|: the acceleration that a force of 1 along the length gives in the reference configuration."""
    return float(np.linalg.norm(_row_and_acceleration(robot, transmission)[1]))


def _row_and_acceleration(
    robot: Model, transmission: TransmissionSpec
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """J, and M⁻¹ Jᵀ; infinite where M is singular."""
    q = robot.tree.split(reference_configuration(robot).tolist(), "nq")
    row = _row(robot, reach_of(viewed(robot.tree, q), robot, transmission))
    if robot not in _MASS:
        M = np.array(algorithms.crba(robot.tree, q).flat(), dtype=np.float64).reshape(robot.nv, robot.nv)
        _MASS[robot] = with_tendon_armature(robot, M)
    try:
        return row, np.asarray(np.linalg.solve(_MASS[robot], row), dtype=np.float64)
    except np.linalg.LinAlgError:
        return row, np.full_like(row, math.inf)


def _row(robot: Model, reach: Reach) -> NDArray[np.float64]:
    """The moment along the degrees of freedom."""
    J = robot.tree.columns(1, apart=True)
    for slot, moment in reach.moment.items():
        J[slot] = [[x] for x in moment]
    return np.array(next(iter(J.in_rows())), dtype=np.float64)
