"""Bodies that are moved from outside, put somewhere else: those of an MJCF file with `mocap`, which have no joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinetree.errors import ModelError, NameNotFoundError, listed, nearest_names, quoted
from kinetree.model.changes.common import Changed, changed
from kinetree.model.extras import Keyframe
from kinetree.model.robot import Robot
from kinetree.spatial import Transform
from kinetree.spatial.placement import placement
from kinetree.spatial.poses import Pose, pose

__all__ = ["with_mocap"]


def with_mocap(model: Robot, poses: Mapping[str, Pose] | str) -> Changed:
    """See `Model.with_mocap`."""
    bodies = [one.body for one in model.extras.bodies if one.mocap]
    if not bodies:
        raise ModelError(f"{model.name!r} has no bodies that are moved from outside (mocap, in an MJCF file)")
    if isinstance(poses, str):
        told, places = f"as in the keyframe {poses!r}", _of_keyframe(model, poses, bodies)
    elif isinstance(poses, Mapping):
        for name in poses:
            if name not in bodies:
                near = nearest_names(str(name), bodies)
                raise NameNotFoundError(f"{model.name!r} has no mocap body {quoted(name)}: {near}")
        places = {name: pose(f"the pose of {name!r}", given, ModelError) for name, given in poses.items()}
        told = listed(repr(name) for name in places)
    else:
        raise ModelError(f"with_mocap takes poses by body, or the name of a keyframe, not {poses!r:.60}")
    parts = model.parts
    joints = tuple(
        replace(spec, placement=places[spec.child]) if spec.child in places else spec for spec in parts.joints
    )
    return changed(replace(parts, joints=joints), f"mocap bodies put elsewhere: {told}")


def _of_keyframe(model: Robot, name: str, bodies: list[str]) -> dict[str, Transform]:
    keyframes: dict[str, Keyframe] = {one.name: one for one in model.extras.keyframes if one.name}
    if name not in keyframes:
        raise NameNotFoundError(f"{model.name!r} has no keyframe {quoted(name)}: {nearest_names(name, keyframes)}")
    one = keyframes[name]
    if len(one.mocap_positions) != len(bodies):
        count = len(one.mocap_positions)
        raise ModelError(f"the keyframe {name!r} places {count} mocap bodies, but {model.name!r} has {len(bodies)}")
    return {
        body: placement(position, quaternion=turn)
        for body, position, turn in zip(bodies, one.mocap_positions, one.mocap_rotations, strict=True)
    }
