"""Checks of joints, frames and placements.

A `check_…` function gives anything impossible to `problems`, which raises it or collects it, and returns anything
suspicious but possible. Masses and inertias are checked in `masses.py`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

import numpy as np

from kinetree.errors import ModelError, ModelWarning, nearest_names
from kinetree.joints import Continuous, Fixed, Prismatic, Revolute
from kinetree.model.checks.masses import indices
from kinetree.model.elements import Mimic, Rotor
from kinetree.model.problems import STRICT, Problems
from kinetree.model.specs import CouplingSpec, FrameSpec, JointSpec, fault, suspicion
from kinetree.spatial import Transform

__all__ = ["check_joints", "check_mimics", "check_names", "check_placements", "hint", "missing_leader"]

ROTATION_TOLERANCE = 1e-9
_AT_ORIGIN = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_HINT_LIMIT = 500
_NAMELESS = frozenset((Continuous, Prismatic, Revolute))
"""Kinds with one coordinate, which has the joint's name."""


def check_placements(parts: Sequence[JointSpec] | Sequence[FrameSpec], what: str, problems: Problems = STRICT) -> None:
    """Check that placements are finite and have a rotation matrix."""
    if not parts:
        return
    rows = np.array(
        [problems.attempt(_AT_ORIGIN, _twelve, part.placement, part, what) for part in parts], dtype=np.float64
    )
    E = rows[:, :9].reshape(-1, 3, 3)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(E @ E.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        mirrored = np.linalg.det(np.where(np.isfinite(E), E, 0.0)) < 0.0
    is_finite = np.isfinite(rows).all(axis=1)
    for k in indices(~is_finite):
        problems.add(
            fault(parts[k].where, f"{what} {parts[k].name!r} is at a place that is not finite", "bad-placement")
        )
    for k in indices(is_finite & ((error > ROTATION_TOLERANCE) | mirrored)):
        problems.add(
            fault(
                parts[k].where,
                f"{what} {parts[k].name!r}: the E of its placement is not a rotation matrix (E Eᵀ = 1)",
                "bad-placement",
            )
        )


def check_joints(joints: Sequence[JointSpec], problems: Problems = STRICT) -> list[ModelWarning]:
    """Check that limits, damping, friction and armature are numbers, ordered, and as many as the joint needs.

    Negative damping or friction, which feed energy in, are suspicious.
    """
    suspicions: list[ModelWarning] = []
    for joint in joints:
        if not _is_sound(joint):
            suspicions += problems.attempt([], _unsound, joint)
    return suspicions


def _is_sound(joint: JointSpec) -> bool:
    """Whether nothing at all is wrong with the joint's numbers: a quick check for the usual case."""
    limits, drive = joint.limits, joint.drive
    nq, nv = joint.kind.nq, joint.kind.nv
    forces = (*drive.damping, *drive.friction, *drive.stiffness, *joint.armature)
    bounds = (*limits.velocity, *limits.effort)
    try:
        return (
            len(limits.lower) == len(limits.upper) == nq
            and len(drive.damping) == len(drive.friction) == len(drive.stiffness) == len(joint.armature) == nv
            and len(drive.friction_speed) == nv
            and len(drive.rest) == nq
            and joint.rotor is None
            and len(limits.velocity) == len(limits.effort) == nv
            and all(
                low <= high and low < math.inf and high > -math.inf
                for low, high in zip(limits.lower, limits.upper, strict=True)
            )
            and all(x >= 0.0 for x in bounds)
            and all(0.0 <= x < math.inf for x in forces)
            and all(0.0 < x < math.inf for x in drive.friction_speed)
            and all(-math.inf < x < math.inf for x in drive.rest)
        )
    except (TypeError, ValueError):  # something is not a number
        return False


def _unsound(joint: JointSpec) -> list[ModelWarning]:
    """Find faults of a joint: raise if it is impossible, return them if it is possible."""
    suspicions: list[ModelWarning] = []
    kind, limits = joint.kind, joint.limits
    for name, values, count in (
        ("lower limits", limits.lower, kind.nq),
        ("upper limits", limits.upper, kind.nq),
        ("velocity limits", limits.velocity, kind.nv),
        ("effort limits", limits.effort, kind.nv),
        ("damping", joint.damping, kind.nv),
        ("friction", joint.friction, kind.nv),
        ("friction speed", joint.friction_speed, kind.nv),
        ("stiffness", joint.stiffness, kind.nv),
        ("rest position", joint.rest, kind.nq),
        ("armature", joint.armature, kind.nv),
    ):
        if len(values) != count:
            _fail_joint(joint, f"needs {count} values of {name} ({kind.description}), not {len(values)}")
        for value in values:
            if not isinstance(value, int | float) or value != value:
                _fail_joint(joint, f"has {value!r:.40} among its {name}; give numbers")
    for lower, upper in zip(limits.lower, limits.upper, strict=True):
        if lower > upper:
            _fail_joint(
                joint, f"has the lower limit {lower:g} above the upper limit {upper:g}; exchange them", "bad-limits"
            )
        if lower == upper and math.isinf(lower):
            _fail_joint(
                joint, f"has both limits at {lower:g}; without limits, lower is -inf and upper is inf", "bad-limits"
            )
    for name, values in (("velocity", limits.velocity), ("effort", limits.effort)):
        if values and min(values) < 0.0:
            _fail_joint(joint, f"has the negative {name} limit {min(values):g}; give its magnitude", "bad-limits")
    if not all(0.0 < x < math.inf for x in joint.friction_speed):
        _fail_joint(joint, f"has the friction speed {min(joint.friction_speed):g}; it must be positive and finite")
    if not all(map(math.isfinite, joint.rest)):
        _fail_joint(joint, "has a rest position that is not finite")
    if joint.rotor is not None:
        _check_rotor(joint, joint.rotor)
    for name, values in (
        ("damping", joint.damping),
        ("friction", joint.friction),
        ("stiffness", joint.stiffness),
        ("armature", joint.armature),
    ):
        if not all(map(math.isfinite, values)):
            _fail_joint(joint, f"has {name} that is not finite")
        if values and min(values) < 0.0:
            if name == "armature":
                _fail_joint(joint, f"has the negative armature {min(values):g}; a rotor's inertia is positive")
            suspicions.append(
                suspicion(
                    joint.where,
                    f"joint {joint.name!r} has negative {name}, which feeds energy in",
                    "negative-damping",
                    repair=f"{name} is set to zero",
                )
            )
    return suspicions


def _check_rotor(joint: JointSpec, rotor: Rotor) -> None:
    """Check that it has one degree of freedom, a non-negative inertia, a ratio, and an axis of length one."""
    if not isinstance(rotor, Rotor):
        _fail_joint(joint, f"has {rotor!r:.60} as its rotor; give a Rotor(inertia, ratio)")
    if joint.kind.nv != 1:
        _fail_joint(joint, f"has a rotor, but {joint.kind.nv} degrees of freedom; rotors drive joints of one")
    for name, value in (("inertia", rotor.inertia), ("ratio", rotor.ratio)):
        if not isinstance(value, int | float) or not math.isfinite(value):
            _fail_joint(joint, f"has a rotor whose {name} is {value!r:.40}; give a finite number")
    if rotor.inertia < 0.0:
        _fail_joint(joint, f"has a rotor with the negative inertia {rotor.inertia:g}; no body has one")
    if not math.isfinite(rotor.ratio * rotor.ratio * rotor.inertia):
        _fail_joint(joint, "has a rotor whose ratio² inertia overflows; give its inertia in kg·m²")
    if rotor.axis is None:
        if joint.kind.rotor_axis is None:
            _fail_joint(joint, f"has a rotor without an axis, and none of its own ({joint.kind.description}); name one")
    elif not _is_direction(rotor.axis):
        _fail_joint(joint, f"has a rotor with the axis {rotor.axis!r:.60}; give three numbers of length one")


def _is_direction(axis: object) -> bool:
    """Whether it is three numbers of length one."""
    if not isinstance(axis, Sequence) or len(axis) != 3 or not all(isinstance(x, int | float) for x in axis):
        return False
    return abs(math.hypot(*axis) - 1.0) < ROTATION_TOLERANCE


def check_mimics(joints: Mapping[str, JointSpec], problems: Problems = STRICT) -> None:
    """Check joints that mimic others: both have one coordinate, the leader exists and moves, without circles."""
    leader: dict[str, str] = {}
    for joint in joints.values():
        if joint.mimic is not None:
            with problems.of():
                leader[joint.name] = _leader(joint, joint.mimic, joints)

    finished: set[str] = set()
    for start in leader:
        path: dict[str, None] = {}
        name = start
        while name in leader and name not in finished:
            if name in path:
                circle = list(path)[list(path).index(name) :]
                shown = " → ".join([*circle[:6], *(["…"] if len(circle) > 6 else []), name])
                with problems.of():
                    _fail_joint(
                        joints[name], f"mimics itself in a circle: {shown}; one of them must move on its own", "circle"
                    )
                break
            path[name] = None
            name = leader[name]
        finished.update(path)


def _leader(joint: JointSpec, mimic: Mimic, joints: Mapping[str, JointSpec]) -> str:
    """The name of the joint that this one follows; raises if it cannot."""
    code = "bad-mimic"
    if not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
        _fail_joint(joint, "mimics with a multiplier or an offset that is not finite", code)
    if mimic.joint not in joints:
        raise missing_leader(joint, mimic, joints)
    target = joints[mimic.joint]
    if isinstance(target.kind, Fixed):
        _fail_joint(joint, f"mimics {mimic.joint!r}, which is fixed; remove <mimic> or name a joint that moves", code)
    if joint.kind.nq != 1 or target.kind.nq != 1:
        _fail_joint(joint, f"mimics {mimic.joint!r}; both must be joints of one coordinate", code)
    if not (joint.kind.is_flat and target.kind.is_flat):
        _fail_joint(joint, f"mimics {mimic.joint!r}; both must be joints with v as the rate of q", code)
    if joint.actuated is not None:
        _fail_joint(joint, f"mimics {mimic.joint!r}, so a motor acts on that joint; leave out actuated=True here", code)
    return mimic.joint


def missing_leader(joint: JointSpec, mimic: Mimic, joints: Mapping[str, JointSpec]) -> ModelError:
    """The error that a joint mimics another that does not exist."""
    known = [name for name in joints if name != joint.name]
    return fault(
        joint.where,
        f"joint {joint.name!r} mimics {mimic.joint!r}, but there is no such joint: {hint(mimic.joint, known)}",
        "unknown-joint",
        repair="it follows no joint and moves on its own",
    )


def check_names(
    joints: Sequence[JointSpec],
    couplings: Sequence[CouplingSpec],
    known: Mapping[str, JointSpec],
    problems: Problems = STRICT,
) -> None:
    """Check that couplings differ from joints in name, and that coordinates and degrees of freedom have unique names.

    `joints` are those that move, `known` all by name. Only composed names can clash.
    """
    for coupling in couplings:
        if coupling.name in known:
            problems.add(
                fault(
                    coupling.where,
                    f"coupling {coupling.name!r} has the name of joint {coupling.name!r}; rename one",
                    "duplicate-name",
                )
            )
    if not couplings and all(type(joint.kind) in _NAMELESS for joint in joints):
        return
    coupled = {name for coupling in couplings for name in coupling.joints}
    own = [joint for joint in joints if joint.mimic is None and joint.name not in coupled]
    long = [joint for joint in own if type(joint.kind) not in _NAMELESS]
    short = {joint.name: f"joint {joint.name!r}" for joint in own if type(joint.kind) in _NAMELESS}
    for attribute, what in (("q_names", "coordinates"), ("v_names", "degrees of freedom")):
        taken = dict(short)
        owners = [("joint", joint.name, getattr(joint.kind, attribute), joint.where) for joint in long]
        owners += [("coupling", spec.name, spec.coordinates, spec.where) for spec in couplings]
        for word, owner, suffixes, where in owners:
            for suffix in suffixes:
                name = f"{owner}.{suffix}" if suffix else owner
                if name in taken:
                    problems.add(
                        fault(
                            where,
                            f"{word} {owner!r} and {taken[name]} both have {what} named {name!r}; rename one of them",
                            "duplicate-name",
                        )
                    )
                taken[name] = f"{word} {owner!r}"


def hint(name: str, known: Collection[str]) -> str:
    """The end of a message about a wrong name; comparing it with a very large number of names would take long."""
    if len(known) > _HINT_LIMIT:
        return f"none of the {len(known)} is called that"
    return nearest_names(name, known)


def _twelve(placement: Transform, part: JointSpec | FrameSpec, what: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, (*placement.E.components(), *placement.r.components())))
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise fault(
            part.where, f"{what} {part.name!r}: its placement has entries that are not numbers", "bad-placement"
        ) from None


def _fail_joint(joint: JointSpec, sentence: str, code: str = "bad-drive") -> NoReturn:
    raise fault(joint.where, f"joint {joint.name!r} {sentence}", code)
