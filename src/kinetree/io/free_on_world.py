"""Free joints on bodies at rest as free joints on the world, the only ones that MJCF and SDF have."""

from __future__ import annotations

from dataclasses import replace

from kinetree.io.chains import free_name
from kinetree.io.losses import Losses
from kinetree.joints import Fixed, Free
from kinetree.model.extras import Extras, JointState, Keyframe
from kinetree.model.specs import JointSpec, LinkSpec, Parts
from kinetree.spatial import Inertia, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion

__all__ = ["with_free_joints_on_world"]

_WORLD = "world"
_HERE = Transform.identity()


def with_free_joints_on_world(parts: Parts, losses: Losses) -> Parts:
    """The parts with free joints directly on the world if their carrier is at rest.

    Their coordinates, also those of keyframes and of the reference configuration, are then relative to the world. A
    root that is not the world is fixed on it, if it carries free bodies and none of the bodies is called "world".
    """
    moved, root = {} if parts.floating_base else _placements(parts), _root(parts)
    if not moved or (root != _WORLD and any(link.name == _WORLD for link in parts.links)):
        return parts
    for name in moved:
        losses.changed.append(
            f"free joint {name!r} is on the file's world without a placement: its coordinates are relative to the world"
        )
    links, joints = list(parts.links), list(parts.joints)
    if root != _WORLD:
        links.insert(0, LinkSpec(_WORLD, Inertia.zero(), ()))
        name = free_name(root, {joint.name for joint in joints})
        joints.insert(0, JointSpec.bare(name, Fixed(), _WORLD, root, _HERE))
        losses.changed.append(
            f"the root {root!r} is fixed in the file's world, which is a body 'world' when the file is read"
        )
    joints = [replace(joint, parent=_WORLD, placement=_HERE) if joint.name in moved else joint for joint in joints]
    return replace(parts, links=tuple(links), joints=tuple(joints), extras=_with_moved(parts.extras, moved))


def _root(parts: Parts) -> str:
    carried = {joint.child for joint in parts.joints}
    return next(link.name for link in parts.links if link.name not in carried)


def _placements(parts: Parts) -> dict[str, Transform]:
    """The placements in the world of the free joints that are not on it, or have a placement."""
    below: dict[str, list[JointSpec]] = {}
    for joint in parts.joints:
        below.setdefault(joint.parent, []).append(joint)
    pending, placements = [(_root(parts), _HERE)], {}
    while pending:
        body, around = pending.pop()
        for joint in below.get(body, []):
            placement = joint.placement if around is _HERE else joint.placement @ around
            if type(joint.kind) is Fixed:
                pending.append((joint.child, placement))
            elif type(joint.kind) is Free and (body != _WORLD or placement != _HERE):
                placements[joint.name] = placement
    return placements


def _with_moved(extras: Extras, moved: dict[str, Transform]) -> Extras:
    """Keyframes and the reference configuration in coordinates relative to the world."""
    reference = extras.reference_configuration or Keyframe("", ())
    there = {state.joint for state in reference.joints}
    neutral = tuple(JointState(name, tuple(Free().neutral()), (0.0,) * 6) for name in moved if name not in there)
    reference = replace(reference, joints=(*reference.joints, *neutral))
    return replace(
        extras,
        reference_configuration=_moved(reference, moved),
        keyframes=tuple(_moved(keyframe, moved) for keyframe in extras.keyframes),
    )


def _moved(keyframe: Keyframe, moved: dict[str, Transform]) -> Keyframe:
    """A state in coordinates relative to the world; velocities are in the body's axes anyway."""
    joints = []
    for state in keyframe.joints:
        if state.joint in moved and len(state.q) == Free().nq:
            position, turn = Vec3(*state.q[:3]), from_quaternion(*state.q[3:])
            X = Transform(turn.T, position) @ moved[state.joint]
            state = replace(state, q=(*map(float, X.r.components()), *map(float, X.quaternion)))
        joints.append(state)
    return replace(keyframe, joints=tuple(joints))
