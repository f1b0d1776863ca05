"""Joints without what their actuators add to them: readers add it again."""

from __future__ import annotations

from dataclasses import replace

from kinetree.io.decimals import shortest
from kinetree.io.mjcf.motors import Anatomy, Motors, read_motors
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

__all__ = ["without_actuators"]

_TYPES: dict[type[JointKind], str] = {
    Revolute: "hinge", Continuous: "hinge", Prismatic: "slide", Spherical: "ball", Free: "free", FloatingBase: "free",
}  # fmt: skip


def without_actuators(parts: Parts) -> Parts:
    """The parts with joints that have only their own armature, damping and choice of motors."""
    extras = parts.extras
    if not extras.actuators and not extras.tendons:
        return parts
    anatomy = _anatomy(parts)
    tendons = [one for one in extras.tendons if _is_whole(one, anatomy)]
    held = {one.name for one in tendons}
    actuators = [one for one in extras.actuators if _acts(one, anatomy, held)]
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
    """Whether what it acts on is there."""
    if one.transmission in ("joint", "jointinparent"):
        return one.target in anatomy.types
    if one.transmission == "tendon":
        return one.target in tendons
    return all(not name or name in anatomy.sites for name in (one.reference and one.target, one.reference))


def _own(joint: JointSpec, motors: Motors) -> JointSpec:
    if joint.mimic is not None or not joint.kind.nv:
        return joint
    usual = usual_motors(joint.kind, None)
    given = usual if joint.actuated is None else joint.actuated
    implied = motors.actuated(joint.name, joint.kind.nv)
    inertia, damping = motors.armature.get(joint.name, 0.0), motors.damping.get(joint.name, 0.0)
    own = replace(joint, actuated=None if given == (usual if implied is None else implied) else given)
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
