"""Effects of actuators on joints: motors, inertia and damping.

Joints are written without these, since readers add them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise

from kinetree.io.decimals import shortest
from kinetree.io.mjcf.joints import MovingJoint
from kinetree.io.mjcf.names import Names
from kinetree.io.mjcf.tendons import only_joint
from kinetree.io.notes import Notes
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
from kinetree.model.extras import Actuator, Tendon, TendonJoint, TendonShape, TendonSite
from kinetree.model.specs import JointSpec, Parts, usual_motors
from kinetree.records import record

__all__ = ["NO_MOTORS", "Anatomy", "Motors", "anatomy_of", "read_motors", "without_actuators"]

_ALL_SIX = (True,) * 6
_TYPES: dict[type[JointKind], str] = {
    Revolute: "hinge", Continuous: "hinge", Prismatic: "slide", Spherical: "ball", Free: "free", FloatingBase: "free",
}  # fmt: skip


@record(frozen=True, slots=True)
class Anatomy:
    """Where joints, sites and shapes are."""

    types: Mapping[str, str]
    """"free", "ball", "hinge" or "slide", by joint."""
    sites: Mapping[str, str]
    """The body of each site."""
    shapes: Mapping[str, str]
    """The body of each shape that has a name."""
    above: Mapping[str, str]
    """The body around each body."""
    joints: Mapping[str, Sequence[str]]
    """The joints of each body that has some."""


def anatomy_of(names: Names) -> Anatomy:
    """The parts of a file that actuators refer to."""
    types = {
        name: "free" if part.element.tag == "freejoint" else part.attributes.text("type", "hinge")
        for name, (part, _) in names.joints.items()
    }
    return Anatomy(
        types,
        {name: body.name for name, (_, body) in names.parts["site"].items()},
        {name: body.name for name, (_, body) in names.parts["geom"].items()},
        {name: above.name for name, above in names.above.items()},
        {body.name: [part.name for part in body.joints if part.name] for body in names.bodies.values()},
    )


@record(slots=True)
class Motors:
    """Effects of actuators on joints, by the joints' names."""

    are_known: bool = False
    """Whether actuators say which degrees of freedom have a motor."""
    flags: dict[str, tuple[bool, ...]] = field(default_factory=dict)
    """Six flags each; a joint with fewer degrees of freedom has the first ones."""
    armature: dict[str, float] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)

    def actuated(self, joint: str, count: int) -> tuple[bool, ...] | None:
        """Whether each of a joint's degrees of freedom has a motor; None if actuators do not say so."""
        if not self.are_known:
            return None
        return self.flags.get(joint, (False,) * 6)[:count]

    def moved(self, name: str, joint: MovingJoint) -> MovingJoint:
        """A joint with the contributions of its actuators."""
        inertia, damping = self.armature.get(name, 0.0), self.damping.get(name, 0.0)
        if inertia or damping:
            joint.armature = tuple(x + inertia for x in joint.armature)
            joint.damping = tuple(x + damping for x in joint.damping)
            if inertia and isinstance(joint.kind, Free):
                joint.kind = FloatingBase()
        return joint

    def _set(self, joint: str, flags: Sequence[bool]) -> None:
        old = self.flags.get(joint, (False,) * 6)
        six = (*flags, *(False,) * (6 - len(flags)))
        self.flags[joint] = tuple(a or b for a, b in zip(old, six, strict=True))


NO_MOTORS = Motors()


def read_motors(actuators: Sequence[Actuator], tendons: Sequence[Tendon], anatomy: Anatomy, notes: Notes) -> Motors:
    """The effects of all actuators on joints.

    A degree of freedom has a motor if an actuator acts on its joint, on a tendon that it moves, or between two bodies
    on both sides of it. Forces on one body from outside, such as a propeller's, are not those of a joint's motor.
    """
    motors = Motors()
    by_name = {tendon.name: tendon for tendon in tendons}
    for tendon in tendons:
        _add_armature(motors, tendon, tendon.armature, notes)
    for one in actuators:
        gear2 = one.gear[0] * one.gear[0]
        if one.transmission in ("joint", "jointinparent"):
            motors._set(one.target, _of_joint(one, anatomy))
            motors.armature[one.target] = motors.armature.get(one.target, 0.0) + one.armature * gear2
            motors.damping[one.target] = motors.damping.get(one.target, 0.0) + one.damping[0] * gear2
            if one.armature or one.damping[0]:
                notes.add("joints have the inertia and damping of their actuators, times gear²", one.target)
            if any(one.damping[1:]):
                notes.add("quadratic and cubic damping of actuators is part of kt.dynamics.tendon_forces", one.name)
        elif one.transmission == "tendon":
            _add_armature(motors, by_name[one.target], one.armature * gear2, notes)
            for joint in _of_tendon(by_name[one.target], anatomy):
                motors._set(joint, _ALL_SIX)
        elif one.reference:
            for joint in _joints_between(anatomy.sites[one.target], anatomy.sites[one.reference], anatomy):
                motors._set(joint, _ALL_SIX)
        else:
            notes.add("actuators that push a body from outside are not motors of joints", one.name or one.target)
    motors.are_known = any(any(flags) for flags in motors.flags.values())
    return motors


def _add_armature(motors: Motors, tendon: Tendon, armature: float, notes: Notes) -> None:
    """Add the armature of a tendon to the only joint that it moves with, if there is one."""
    target = only_joint(tendon)
    if armature and target is not None:
        joint, factor = target
        motors.armature[joint] = motors.armature.get(joint, 0.0) + armature * factor * factor
        notes.add("joints have the armature of tendons that move with them alone, times factor²", joint)


def _of_joint(one: Actuator, anatomy: Anatomy) -> tuple[bool, ...]:
    kind = anatomy.types[one.target]
    if kind in ("hinge", "slide"):
        return (True,)
    is_parent = one.transmission == "jointinparent"
    if kind == "ball":
        return (True,) * 3 if is_parent or one.gain == "so3" else tuple(bool(x) for x in one.gear[:3])
    linear = (any(one.gear[:3]),) * 3
    return (*linear, *((any(one.gear[3:]),) * 3 if is_parent else tuple(bool(x) for x in one.gear[3:])))


def _of_tendon(tendon: Tendon, anatomy: Anatomy) -> Iterator[str]:
    bodies = []
    for step in tendon.path:
        if isinstance(step, TendonJoint):
            if step.coefficient:
                yield step.joint
        elif isinstance(step, TendonSite):
            bodies.append(anatomy.sites[step.site])
        elif isinstance(step, TendonShape):
            bodies.append(anatomy.shapes[step.shape])
    for one, other in pairwise(bodies):
        yield from _joints_between(one, other, anatomy)


def _joints_between(one: str, other: str, anatomy: Anatomy) -> Iterator[str]:
    """The joints on the way from one body to another."""
    first, others = list(_way_out(one, anatomy)), list(_way_out(other, anatomy))
    common = {*first} & {*others}
    for body in (*first, *others):
        if body not in common:
            yield from anatomy.joints.get(body, ())


def _way_out(body: str, anatomy: Anatomy) -> Iterator[str]:
    at: str | None = body
    while at is not None:
        yield at
        at = anatomy.above.get(at)


def without_actuators(parts: Parts) -> Parts:
    """The parts with joints that have only their own armature, damping and choice of motors."""
    extras = parts.extras
    if not extras.actuators and not extras.tendons:
        return parts
    anatomy = _anatomy(parts)
    tendons = [tendon for tendon in extras.tendons if _is_whole(tendon, anatomy)]
    names = {one.name for one in tendons}
    actuators = [actuator for actuator in extras.actuators if _acts(actuator, anatomy, names)]
    motors = read_motors(actuators, tendons, anatomy, Notes())
    return replace(parts, joints=tuple(_own(joint, motors) for joint in parts.joints))


def _anatomy(parts: Parts) -> Anatomy:
    joints: dict[str, list[str]] = {}
    types = {}
    for joint in parts.joints:
        kind = joint.kind.kind if type(joint.kind) is Placed and isinstance(joint.kind, Placed) else joint.kind
        if type(kind) in _TYPES:
            types[joint.name] = _TYPES[type(kind)]
            joints.setdefault(joint.child, []).append(joint.name)
    return Anatomy(
        types,
        {site.name: site.body for site in parts.extras.sites},
        {shape.name: link.name for link in parts.links for shape in link.geometry if shape.name},
        {joint.child: joint.parent for joint in parts.joints},
        joints,
    )


def _is_whole(one: Tendon, anatomy: Anatomy) -> bool:
    """Whether all that its path names is there."""
    return all(
        step.joint in anatomy.types
        if isinstance(step, TendonJoint)
        else step.site in anatomy.sites
        if isinstance(step, TendonSite)
        else not isinstance(step, TendonShape) or step.shape in anatomy.shapes
        for step in one.path
    )


def _acts(one: Actuator, anatomy: Anatomy, tendons: set[str]) -> bool:
    """Whether its target exists."""
    if one.transmission in ("joint", "jointinparent"):
        return one.target in anatomy.types
    if one.transmission == "tendon":
        return one.target in tendons
    return all(not name or name in anatomy.sites for name in (one.reference and one.target, one.reference))


def _own(joint: JointSpec, motors: Motors) -> JointSpec:
    if joint.mimic is not None or not joint.kind.nv:
        return joint
    usual = usual_motors(joint.kind, None)
    actuated = usual if joint.actuated is None else joint.actuated
    implied = motors.actuated(joint.name, joint.kind.nv)
    inertia, damping = motors.armature.get(joint.name, 0.0), motors.damping.get(joint.name, 0.0)
    own = replace(joint, actuated=None if actuated == (usual if implied is None else implied) else actuated)
    if not inertia and not damping:
        return own
    armature = tuple(_less(x, inertia) for x in joint.armature)
    is_bare = isinstance(joint.kind, FloatingBase) and not any(armature) and not any(joint.drive.friction)
    return replace(
        own,
        kind=Free() if is_bare and inertia else joint.kind,
        armature=armature,
        drive=replace(joint.drive, damping=tuple(_less(x, damping) for x in joint.drive.damping)),
    )


def _less(total: float, share: float) -> float:
    """The number that gives the total together with a share."""
    return 0.0 if total == share else shortest(total - share, lambda x: x + share == total)
