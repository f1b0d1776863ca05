"""Bodies that only slide, for which MuJoCo takes the mass itself as their inertia."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.contact_model.origin import is_from_mjcf
from kinetree.joints import Prismatic
from kinetree.joints.wrapping import Wrapping
from kinetree.model import Body, Joint, Model

__all__ = ["SlideBodies", "slide_bodies"]

_TINY = 1e-14


class SlideBodies(NamedTuple):
    """Bodies that only slide, and their joints, with the masses that these move."""

    bodies: dict[str, float]
    joints: dict[str, float]


def slide_bodies(robot: Model) -> SlideBodies:
    """The bodies that carry no others and that sliding joints along their axes join to the world.

    Their frame is that of their inertia. Joints' armature does not count for them, and they do not turn.
    """
    bodies = SlideBodies({}, {})
    if not is_from_mjcf(robot):
        return bodies
    carrying = {spec.parent for spec in robot.parts.joints}
    below = {joint.child: joint for joint in robot.joints.values()}
    fixed = {spec.child: spec.parent for spec in robot.parts.joints if spec.child not in below}
    plain = {one.body for one in robot.extras.bodies if one.simple == "false"}
    for name, body in robot.bodies.items():
        if name in carrying or name in plain or not body.mass or not _has_own_frame(body):
            continue
        joint, parent, chain = below.get(name), "", []
        while joint is not None and _slides(joint):
            chain.append(joint.name)
            parent = joint.parent
            joint = below.get(parent) if parent and not robot.bodies[parent].mass else None
        if joint is None and chain and robot.root in (parent, fixed.get(parent)):
            bodies.bodies[name] = body.mass
            bodies.joints.update(dict.fromkeys(chain, body.mass))
    return bodies


def _slides(joint: Joint) -> bool:
    kind = joint.kind
    while isinstance(kind, Wrapping):
        kind = kind.kind
    return isinstance(kind, Prismatic) and sum(abs(float(x)) > _TINY for x in kind.axis.components()) == 1


def _has_own_frame(body: Body) -> bool:
    """Whether its frame is that of its inertia: at the centre of mass, along the principal axes."""
    I = body.rotational_inertia
    if np.abs(body.center_of_mass).max() > _TINY or np.abs(I - np.diag(np.diag(I))).max() > _TINY * np.abs(I).max():
        return False
    if len(body.geometry) != 1:
        return True
    E = body.geometry[0].placement.E
    return all(abs(float(x) - 1.0) <= _TINY for x in (E.x.x, E.y.y, E.z.z))
