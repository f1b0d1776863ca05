"""Actuators for robots whose files have none: motors and servos at joints, within the limits that the joints have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ModelError, NameNotFoundError, OptionError, listed, nearest_names, quoted
from kinetree.inputs import number_or_row, repeated
from kinetree.joints import JointKind, Spherical
from kinetree.joints.wrapping import Wrapping
from kinetree.model.changes.common import Changed, base_joint, changed, leader_of
from kinetree.model.elements import Coupling, Joint
from kinetree.model.extras import Actuator
from kinetree.model.given import flags
from kinetree.model.robot import Robot
from kinetree.model.specs import CouplingSpec, JointSpec, shortest, usual_motors

__all__ = ["with_actuation", "with_motors", "with_servos"]

_PARAMETERS = 10
Range = tuple[float, float] | None
"""Smallest and largest value; None: unlimited."""


def with_motors(model: Robot, joints: Iterable[str] | None) -> Changed:
    """See `Model.with_motors`."""
    driven = _chosen(model, "with_motors", joints)
    made = [_motor(joint, dof) for joint in driven for dof in _degrees(model, joint)]
    return _with_actuators(model, made, f"motors added at {_names(driven)}")


def with_servos(model: Robot, kp: ArrayLike, kd: ArrayLike, joints: Iterable[str] | None) -> Changed:
    """See `Model.with_servos`."""
    driven = _chosen(model, "with_servos", joints)
    stiffness, damping = _gains("kp", kp, len(driven)), _gains("kd", kd, len(driven))
    made = []
    for joint, own_kp, own_kd in zip(driven, stiffness, damping, strict=True):
        if not own_kp and not own_kd:
            raise OptionError(f"with_servos: kp and kd of {joint.name!r} are both zero: it would exert no force")
        make = _position_servo if own_kp else _velocity_servo
        made += [make(joint, dof, own_kp, own_kd) for dof in _degrees(model, joint)]
    return _with_actuators(model, made, f"servos added at {_names(driven)}")


def _chosen(model: Robot, function: str, names: Iterable[str] | None) -> list[Joint]:
    """The joints that get actuators: those named, or all that have a motor and no actuator yet."""
    known = {one.target: one.name for one in model.extras.actuators if one.transmission in ("joint", "jointinparent")}
    if names is None:
        for owner in model.owners:
            if isinstance(owner, Coupling) and any(owner.actuated):
                raise ModelError(
                    f"{function}: the motors of coupling {owner.name!r} move several joints of {model.name!r} at once, "
                    "for which there are no actuators; name the other joints, joints=[…], and give tau for these"
                )
        free = [joint for joint in model.joints.values() if any(joint.actuated) and joint.name not in known]
        if not free:
            raise ModelError(f"{function}: every joint of {model.name!r} that has a motor has an actuator already")
        return free
    if isinstance(names, str):
        raise ModelError(f"{function}: joints must be a list of names, such as [{names!r}], not one string")
    given = list(names)
    if (twice := repeated(given)) is not None:
        raise ModelError(f"{function}: joint {twice!r} is named twice")
    for name in given:
        if name not in model.joints:
            near = nearest_names(str(name), model.joints)
            raise NameNotFoundError(f"{model.name!r} has no moving joint {quoted(name)}: {near}")
        if name in known:
            raise ModelError(f"{function}: joint {name!r} has the actuator {known[name]!r} already; leave it out")
        if not any(model.joints[name].actuated):
            raise ModelError(
                f"{function}: joint {name!r} has no motor; leave it out, or give it one first with "
                f"robot.with_actuation({{{name!r}: True}})"
            )
    return [model.joints[name] for name in given]


def _degrees(model: Robot, joint: Joint) -> Iterator[int]:
    """The degrees of freedom of a joint that have motors."""
    kind: JointKind = joint.kind
    while isinstance(kind, Wrapping):
        kind = kind.kind
    if kind.nv != 1 and not isinstance(kind, Spherical):
        raise ModelError(
            f"joint {joint.name!r} of {model.name!r}: there are actuators for joints with one degree of freedom and "
            f"ball joints, and this is one of kind {kind.description}; name the other joints, joints=[…], and give tau "
            "for this one"
        )
    for dof, has_motor in enumerate(joint.actuated):
        if has_motor and joint.limits.effort[dof] == 0.0:
            raise ModelError(
                f"joint {joint.name!r} of {model.name!r} has an effort limit of zero, so its motor exerts no force; "
                "correct the limit in its file, or name the other joints, joints=[…]"
            )
        if has_motor:
            yield dof


def _motor(joint: Joint, dof: int) -> Actuator:
    return _limited(_at(joint, dof), _both_ways(joint.limits.effort[dof]), None)


def _position_servo(joint: Joint, dof: int, kp: float, kd: float) -> Actuator:
    """f = kp (ctrl - ℓ) - kd ℓ̇."""
    ends = None if joint.kind.nv > 1 else (joint.limits.lower[0], joint.limits.upper[0])
    one = replace(
        _at(joint, dof), kind="position", gain_parameters=_padded(kp), bias="affine",
        bias_parameters=_padded(0.0, -kp, -kd), inputs=("pos",),
    )  # fmt: skip
    return _limited(one, ends, _both_ways(joint.limits.effort[dof]))


def _velocity_servo(joint: Joint, dof: int, _kp: float, kd: float) -> Actuator:
    """f = kd (ctrl - ℓ̇)."""
    one = replace(
        _at(joint, dof), kind="velocity", gain_parameters=_padded(kd), bias="affine",
        bias_parameters=_padded(0.0, 0.0, -kd), inputs=("vel",),
    )  # fmt: skip
    return _limited(one, _both_ways(joint.limits.velocity[dof]), _both_ways(joint.limits.effort[dof]))


def _at(joint: Joint, dof: int) -> Actuator:
    """A motor at a degree of freedom; on a ball joint its gear is the axis."""
    if joint.kind.nv == 1:
        return Actuator(joint.name, "joint", joint.name, kind="motor")
    axis = tuple(float(k == dof) for k in range(6))
    return Actuator(f"{joint.name}.{joint.kind.v_names[dof]}", "joint", joint.name, kind="motor", gear=axis)


def _limited(one: Actuator, control: Range, force: Range) -> Actuator:
    """The actuator with those ranges that are finite."""
    if control is not None and all(map(math.isfinite, control)) and control[0] < control[1]:
        one = replace(one, control_limited=True, control_range=control)
    if force is not None and all(map(math.isfinite, force)):
        one = replace(one, force_limited=True, force_range=force)
    return one


def _both_ways(limit: float) -> tuple[float, float]:
    return -limit, limit


def _padded(*numbers: float) -> tuple[float, ...]:
    return (*numbers, *(0.0,) * (_PARAMETERS - len(numbers)))


def _gains(name: str, value: ArrayLike, count: int) -> list[float]:
    gains = number_or_row(f"with_servos: {name}", value, count, "joint")
    if not (np.isfinite(gains) & (gains >= 0.0)).all():
        raise OptionError(f"with_servos: {name} must be finite and not negative, not {value!r:.60}")
    return list(map(float, gains))


def _names(joints: Iterable[Joint]) -> str:
    return listed(repr(joint.name) for joint in joints) or "no joint"


def _with_actuators(model: Robot, made: list[Actuator], sentence: str) -> Changed:
    """The robot with these actuators after its own; keyframes, if they have controls, get zeros for them."""
    parts, extras = model.parts, model.parts.extras
    taken = {actuator.name for actuator in extras.actuators}
    for one in made:
        if one.name in taken:
            raise ModelError(f"{model.name!r} has an actuator {one.name!r} already, which acts on something else")
    keyframes = tuple(
        replace(one, controls=(*one.controls, *(0.0,) * len(made))) if one.controls else one for one in extras.keyframes
    )
    extras = replace(extras, actuators=(*extras.actuators, *made), keyframes=keyframes)
    return changed(replace(parts, extras=extras), sentence)


Motors = Mapping[str, bool | Sequence[bool]]


def with_actuation(model: Robot, motors: Motors) -> Changed:
    """See `Model.with_actuation`."""
    if not isinstance(motors, Mapping):
        raise ModelError(f"with_actuation takes True or False by name, such as {{'joint': False}}, not {motors!r:.60}")
    owners = {owner.name: owner for owner in model.owners}
    flags_of: dict[str, tuple[bool, ...]] = {}
    for name, given in motors.items():
        _check_owner(model, name)
        place = owners[name].v_slice
        flags_of[name] = flags(f"the actuation of {name!r}", given, place.stop - place.start, "")
    parts = model.parts
    values = listed((f"{name!r} {shortest(given)}" for name, given in flags_of.items()), separator="; ") or "nothing"
    return changed(
        replace(
            parts,
            joints=tuple(_joint(spec, flags_of[spec.name]) if spec.name in flags_of else spec for spec in parts.joints),
            couplings=tuple(
                _coupling(spec, flags_of[spec.name]) if spec.name in flags_of else spec for spec in parts.couplings
            ),
        ),
        f"actuation changed: {values}",
    )


def _joint(spec: JointSpec, given: tuple[bool, ...]) -> JointSpec:
    return replace(spec, actuated=None if given == usual_motors(spec.kind, spec.mimic) else given)


def _coupling(spec: CouplingSpec, given: tuple[bool, ...]) -> CouplingSpec:
    return replace(spec, actuated=None if all(given) else given)


def _check_owner(model: Robot, name: object) -> None:
    """Raise unless it is the name of a coupling, or of a joint with coordinates, other than a floating base's."""
    if isinstance(name, str) and name in base_joint(model):
        raise ModelError(
            f"{name!r} is the joint of a floating base, which has no motor; build the robot with a free joint on a "
            "massless root, actuated=True, if it is to have one"
        )
    if isinstance(name, str) and name in model.joints:
        joint = model.joints[name]
        leader = leader_of(model, joint)
        if leader.coupling is not None:
            raise ModelError(f"joint {name!r} has no coordinates of its own; name coupling {leader.coupling!r} instead")
        if leader is not joint:
            raise ModelError(f"joint {name!r} mimics {leader.name!r}; name that joint instead")
        return
    if name not in model.couplings:
        if any(spec.name == name for spec in model.parts.joints):
            raise ModelError(f"joint {name!r} is fixed and has no motor; leave it out")
        known = [owner.name for owner in model.owners]
        raise NameNotFoundError(
            f"{model.name!r} has no joint or coupling {quoted(name)}: {nearest_names(str(name), known)}"
        )
