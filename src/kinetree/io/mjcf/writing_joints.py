"""Joints of one body: hinges, slides, balls and free joints in series."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kinetree.io.chains import chain_of, split
from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_values import vector
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import (
    Continuous,
    FloatingBase,
    Free,
    JointKind,
    Placed,
    Prismatic,
    Revolute,
    Spherical,
)
from kinetree.model.specs import JointSpec
from kinetree.records import record
from kinetree.spatial import Transform, Vec3
from kinetree.spatial.rotations import from_axis_angle, from_quaternion
from kinetree.tree.drive import Drive, Limits

__all__ = ["Series", "series_of", "write_joints"]

_HERE = Transform.identity()
_TYPES = {
    Revolute: "hinge",
    Continuous: "hinge",
    Prismatic: "slide",
    Spherical: "ball",
    Free: "free",
    FloatingBase: "free",
}
_HELD = "limits", "damping", "friction", "stiffness", "rest", "armature", "mimic"
_ROUNDING = 1e-14
_FAR = 1e10
"""A bound of a range that has only one, rad or m: MuJoCo has no infinite ones."""


@record(frozen=True, slots=True)
class Origin:
    """The robot's joint that a joint of the file is, or is a part of."""

    joint: str
    q: int
    """The index of its first coordinate among those of that joint."""
    v: int


@record(frozen=True, slots=True)
class Series:
    """The joints of a body, outward."""

    joints: tuple[JointSpec, ...]
    """Hinges, slides, balls or a free joint."""
    frames: tuple[Transform, ...]
    """From each joint's frame to the body's, where the body is placed by the file."""
    placement: Transform
    """The placement of the body in the one around it."""
    origins: tuple[Origin, ...] = ()
    """The robot's joint that each one comes from."""
    reference: tuple[float, ...] = ()
    """The coordinates of hinges and slides where the file places the body, and 0 for others."""

    @property
    def moves(self) -> bool:
        return bool(self.joints)


def series_of(
    joints: list[JointSpec],
    names: Collection[str],
    losses: Losses,
    *,
    on_world: bool,
    reference: Mapping[str, Sequence[float]],
) -> Series:
    """The joints of one body in MJCF's kinds, without those that are impossible.

    `reference` has the coordinates of joints where the file is to place the body, where these are not neutral.
    """
    steps: list[JointSpec] = []
    origins: list[Origin] = []
    end = _HERE
    for joint in joints:
        chain = chain_of(joint.kind)
        unknown = [step.kind for step in chain.steps if type(step.kind) not in _TYPES] if chain else [joint.kind]
        if chain is None or unknown:
            losses.impossible.append(
                f"joint {joint.name!r} ({joint.kind.description}) has neither a word in MJCF nor a substitute"
            )
            continue
        if not chain.steps:
            end = joint.placement @ end
            continue
        _report_form(joint, losses, first=not steps, reference=reference.get(joint.name, ()))
        parts = split(joint, chain, set(names) - {joint.name})
        steps += [replace(parts[0], placement=(parts[0].placement @ end).plain()), *parts[1:]]
        origins += [Origin(joint.name, step.q, step.v) for step in chain.steps]
        end = chain.after
    _check_together(steps, losses, on_world=on_world)
    frames = [end.plain()]
    start = []
    for step, origin in zip(reversed(steps), reversed(origins), strict=True):
        own = reference[origin.joint][origin.q : origin.q + step.kind.nq] if origin.joint in reference else ()
        moved = _at(step.kind, own)
        before = step.placement if moved is _HERE else moved @ step.placement
        frames.append((before if frames[-1] == _HERE else frames[-1] @ before).plain())
        start.append(own[0] if len(own) == 1 else 0.0)
    placement = frames.pop()
    return Series(tuple(steps), tuple(reversed(frames)), placement, tuple(origins), tuple(reversed(start)))


def _at(kind: JointKind, q: Sequence[float]) -> Transform:
    """From the fixed side of a hinge, slide or free joint to its moving side; no coordinates are neutral ones."""
    if not any(q) or not isinstance(kind, Prismatic | Revolute | Free | FloatingBase):
        return _HERE
    if isinstance(kind, Prismatic):
        return Transform(_HERE.E, kind.axis * float(q[0]))
    if isinstance(kind, Revolute):
        return Transform(from_axis_angle(kind.axis, float(q[0])).T, Vec3.zero())
    return Transform(from_quaternion(*q[3:7]).T, Vec3(*q[:3]))


def _report_form(joint: JointSpec, losses: Losses, *, first: bool, reference: Sequence[float]) -> None:
    """Report it if the same joint is read in another form."""
    kind = joint.kind
    inner, after = (kind.kind, kind.after) if isinstance(kind, Placed) else (kind, _HERE)
    plain = type(inner) in (Revolute, Spherical) or (inner is kind and type(kind) in (Prismatic, Free, FloatingBase))
    start = _at(inner, reference)
    in_place = first or _is_near(joint.placement if start is _HERE else start @ joint.placement, after.inverse)
    if isinstance(kind, Placed) and (kind.before != _HERE or after.E != _HERE.E or not any(after.r.components())):
        plain = False
    if type(inner) is Continuous and in_place:
        losses.changed.append(f"joint {joint.name!r} is continuous, and a hinge without a range in MJCF: revolute")
    elif not plain or not in_place:
        losses.changed.append(
            f"joint {joint.name!r} ({kind.description}) has another form in MJCF: hinges, slides and balls of one body"
        )


def _is_near(X: Transform, Y: Transform) -> bool:
    """Whether two placements are the same up to rounding."""
    if X == Y:
        return True
    pairs = zip((*X.E.components(), *X.r.components()), (*Y.E.components(), *Y.r.components()), strict=True)
    return all(abs(float(x) - float(y)) < _ROUNDING * (1.0 + abs(float(y))) for x, y in pairs)


def _check_together(steps: list[JointSpec], losses: Losses, *, on_world: bool) -> None:
    """MuJoCo's rules for the joints of one body."""
    types = [_TYPES[type(step.kind)] for step in steps]
    if not steps:
        return
    name, why = steps[-1].child, ""
    if "free" in types and (len(types) > 1 or not on_world or steps[0].placement != _HERE):
        why = "has a free joint that is not its only one, not on the world, or has a placement"
    elif sum(step.kind.nv for step in steps) > 6:
        why = "has joints with more than six degrees of freedom"
    elif "ball" in types and set(types[types.index("ball") + 1 :]) & {"ball", "hinge"}:
        why = "has a ball joint before another joint that turns"
    if why:
        losses.impossible.append(f"body {name!r} {why}, which MuJoCo refuses")


def write_joints(body: Tag, series: Series, losses: Losses) -> None:
    """Add the elements of a body's joints."""
    for joint, frame, start in zip(series.joints, series.frames, series.reference, strict=True):
        _write_joint(body, joint, frame, start, losses)


def _write_joint(body: Tag, joint: JointSpec, frame: Transform, start: float, losses: Losses) -> None:
    kind, drive = joint.kind, joint.drive
    type_ = _TYPES[type(kind)]
    attributes: dict[str, str | None] = {"name": joint.name, "type": type_}
    anchor = frame.inverse.r
    if any(anchor.components()) and type_ in ("hinge", "ball"):
        attributes["pos"] = vector(anchor)
    if isinstance(kind, Revolute | Prismatic):
        attributes["axis"] = vector(frame.E @ kind.axis if frame.E != _HERE.E else kind.axis)
    if start:
        attributes["ref"] = shown_number(start)
    attributes |= _range(joint, losses)
    bare = Drive.none(kind)
    for name, values in (
        ("stiffness", drive.stiffness),
        ("damping", drive.damping),
        ("armature", joint.armature),
        ("frictionloss", drive.friction),
    ):
        if not any(values):
            continue
        if len(set(values)) > 1 or min(values) < 0.0:
            losses.lost.append(
                f"joint {joint.name!r}: its {name} is negative or differs between degrees of freedom, and is lost"
            )
        elif name == "stiffness" and type_ == "free":
            losses.lost.append(f"joint {joint.name!r} has a spring, for which a free joint of MJCF has no place here")
        else:
            attributes[name] = shown_number(values[0])
    if isinstance(kind, Free) and (any(joint.armature) or any(drive.friction)):
        losses.lost.append(
            f"joint {joint.name!r} is free: MuJoCo's armature and friction act along the world's axes, not the body's"
        )
    if isinstance(kind, FloatingBase) and not (any(joint.armature) or any(drive.friction)):
        losses.lost.append(f"joint {joint.name!r} is read as kt.Free, with its linear velocity in the body's axes")
    if drive.rest != bare.rest:
        if kind.nq == 1:
            attributes["springref"] = shown_number(drive.rest[0])
        else:
            losses.lost.append(f"joint {joint.name!r} has a spring at rest elsewhere, for which MJCF has no place")
    if joint.limits.velocity != Limits.none(kind).velocity:
        losses.leave_out("velocity limits of joints", repr(joint.name))
    losses.lose_numbers(joint, _HELD)
    element = body.add("joint")
    order = (
        "name",
        "type",
        "pos",
        "axis",
        "ref",
        "range",
        "actuatorfrcrange",
        "stiffness",
        "springref",
        "damping",
        "armature",
        "frictionloss",
    )
    element.attributes = {name: value for name in order if (value := attributes.get(name)) is not None}
    if attributes.keys() <= {"name", "type"} and type_ == "free":
        element.tag = "freejoint"
        del element.attributes["type"]


def _range(joint: JointSpec, losses: Losses) -> dict[str, str | None]:
    kind, limits = joint.kind, joint.limits
    none, lose = Limits.none(kind), losses.lost.append
    attributes: dict[str, str | None] = {}
    if kind.nq != 1:
        if (limits.lower, limits.upper, limits.effort) != (none.lower, none.upper, none.effort):
            lose(f"joint {joint.name!r} ({kind.description}) has limits, for which MJCF has no place")
        return attributes
    (lower,), (upper,), (effort,) = limits.lower, limits.upper, limits.effort
    least, most = (math.copysign(_FAR, x) if math.isinf(x) else x for x in (lower, upper))
    if least >= most:
        lose(f"joint {joint.name!r} has the range {lower:g} to {upper:g}, which MuJoCo refuses: it would have none")
    elif math.isfinite(lower) or math.isfinite(upper):
        if math.isinf(lower) or math.isinf(upper):
            lose(f"joint {joint.name!r} has one position limit, and MJCF only both: the other would be {_FAR:g}")
        attributes["range"] = shown_numbers([least, most])
    if effort == 0.0:
        lose(f"joint {joint.name!r} has an effort limit of zero, which MJCF takes for none")
    elif math.isfinite(effort):
        attributes["actuatorfrcrange"] = shown_numbers([-effort, effort])
    return attributes
