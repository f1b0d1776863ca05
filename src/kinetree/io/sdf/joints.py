"""<joint>: the kind of joint, between which links it is, and its placement."""

from __future__ import annotations

import math

from kinetree.errors import ModelError, nearest_names
from kinetree.io.document import Element, shown
from kinetree.io.notes import Notes
from kinetree.io.sdf.axes import Axis, read_axis, read_dynamics
from kinetree.io.sdf.scopes import Node, between, body_of
from kinetree.io.sdf.values import child, number, number_in, required, word
from kinetree.joints import (
    Continuous,
    Fixed,
    Helical,
    JointKind,
    Placed,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from kinetree.model import Limits, Mimic, ModelBuilder
from kinetree.model.problems import coded
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["JOINT_TYPES", "ends", "joint_type", "read_joint"]

JOINT_TYPES = (
    "revolute", "continuous", "prismatic", "fixed", "ball", "universal", "revolute2", "screw", "gearbox",
)  # fmt: skip
_AXES = Mat3.identity()
_ORIGIN = Vec3.zero()
_IDENTITY = Transform.identity()
_TURN = 2.0 * math.pi


def joint_type(joint: Node) -> str:
    """The word for its kind."""
    text = joint.element.text("type").strip().lower()
    if text not in JOINT_TYPES:
        joint.element.fail(f'type="{shown(text, 40)}" is not a joint type: {nearest_names(text[:40], JOINT_TYPES)}')
    return text


def ends(joint: Node) -> tuple[Node, Node]:
    """The links between which a joint is; the first may be the world."""
    element, scope = joint.element, joint.scope
    assert scope is not None
    below = required(element, "child")
    child_link = body_of(joint.child())
    above = required(element, "parent")
    name = word(above)
    if name == word(below):
        above.fail(f"is {shown(name)!r}, as is the child; name two frames", "bad-joint")
    parent_link = _world_of(joint) if name == "world" else body_of(scope.find(name, above, "the parent"))
    if child_link.kind == "world":
        below.fail(
            f"{shown(word(below))!r} is fixed to the world, which nothing moves; name a frame on a link", "bad-joint"
        )
    if parent_link is child_link:
        element.fail(
            f"its parent and its child are both fixed to the link {shown(child_link.full)!r}; name two links",
            "bad-joint",
        )
    return parent_link, child_link


def _world_of(node: Node) -> Node:
    while node.home is not None:
        node = node.home
    return node


def read_joint(joint: Node, parent: Node, link: Node, builder: ModelBuilder, notes: Notes, *, mimic: bool) -> None:
    """Add a joint that is not a gearbox to the builder."""
    element = joint.element
    word_ = joint_type(joint)
    axes = _axes(joint, word_, notes)
    X_J = between(link, joint)
    try:
        kind, placement = _placed(joint, parent, link, _kind(joint, word_, axes, X_J, notes), X_J)
    except ModelError as error:
        if str(error).startswith(element.file):
            raise
        element.fail(str(error), "bad-joint")
    drive: dict[str, tuple[float, ...]] = {}
    if word_ == "ball":
        drive = _ball_dynamics(element, joint, notes)
    elif axes:
        drive = {
            "damping": tuple(axis.damping for axis in axes),
            "friction": tuple(axis.friction for axis in axes),
            "stiffness": tuple(axis.stiffness for axis in axes),
            "rest": tuple(axis.rest for axis in axes),
        }
    driven = tuple(axis.effort != 0.0 for axis in axes)
    if not all(driven):
        notes.add("joints with an effort limit of zero have no motor", joint.full)
    follows = _mimic(joint, kind, axes, notes, enforced=mimic)
    builder.add_joint(
        joint.full,
        kind,
        parent.full,
        link.full,
        placement,
        limits=_limits(axes) if axes else None,
        damping=drive.get("damping"),
        friction=drive.get("friction"),
        stiffness=drive.get("stiffness"),
        rest=drive.get("rest"),
        armature=_armature(joint, axes, notes),
        mimic=follows,
        actuated=None if all(driven) or follows is not None else driven,
        where=element,
    )


def _axes(joint: Node, type_: str, notes: Notes) -> list[Axis]:
    """The axes that a joint of this type has."""
    if type_ in ("fixed", "ball"):
        if child(joint.element, "axis") is not None and type_ == "fixed":
            notes.add("<axis> of fixed joints has no meaning", joint.full)
        return []
    tags = ("axis", "axis2") if type_ in ("universal", "revolute2") else ("axis",)
    if len(tags) == 1 and child(joint.element, "axis2") is not None:
        notes.add("<axis2> of joints with one degree of freedom has no meaning", joint.full)
    return [read_axis(required(joint.element, tag), joint, notes, bounded=type_ != "continuous") for tag in tags]


def _kind(joint: Node, type_: str, axes: list[Axis], X_J: Transform, notes: Notes) -> JointKind:
    """The kind, with its axes in the joint's frame or, where that moves alike, in the link's."""
    if type_ == "fixed":
        return Fixed()
    if type_ == "ball":
        return Spherical()
    in_link = type_ == "prismatic" or X_J.r == _ORIGIN
    directions = [X_J.E.T @ axis.direction if in_link and X_J.E != _AXES else axis.direction for axis in axes]
    if type_ == "prismatic":
        return Prismatic(directions[0])
    if type_ == "continuous":
        return Continuous(directions[0])
    if type_ == "revolute":
        return Revolute(directions[0])
    if type_ == "screw":
        return Helical(directions[0], _pitch(joint, notes))
    return Universal(*directions)


def _placed(joint: Node, parent: Node, link: Node, kind: JointKind, X_J: Transform) -> tuple[JointKind, Transform]:
    """The kind between the joint's frame and the link's, and the placement of its fixed side on the parent."""
    moves_as_link = isinstance(kind, Fixed | Prismatic) or X_J == _IDENTITY
    if moves_as_link or (X_J.r == _ORIGIN and not isinstance(kind, Spherical)):
        return kind, between(parent, link)
    return Placed(kind, between(joint, link)), between(parent, joint)


def _pitch(joint: Node, notes: Notes) -> float:
    """Metres per radian, positive for a right-handed thread."""
    newer, older = child(joint.element, "screw_thread_pitch"), child(joint.element, "thread_pitch")
    if newer is not None:
        if older is not None:
            notes.add("<thread_pitch> has no effect together with <screw_thread_pitch>", joint.full)
        return number(newer) / _TURN
    if older is None:
        notes.add("screw joints without <screw_thread_pitch> advance 1 m per turn, SDF's default", joint.full)
        return 1.0 / _TURN
    pitch = number(older)
    if pitch == 0.0:
        older.fail("is 0 rad/m, which is a screw without rotation; make the joint prismatic", "bad-joint")
    notes.add("<thread_pitch> is in rad/m and positive for left-handed threads, as Gazebo takes it", joint.full)
    return -1.0 / pitch


def _limits(axes: list[Axis]) -> Limits:
    return Limits(
        tuple(axis.lower for axis in axes),
        tuple(axis.upper for axis in axes),
        tuple(axis.velocity for axis in axes),
        tuple(axis.effort for axis in axes),
    )


def _ball_dynamics(element: Element, joint: Node, notes: Notes) -> dict[str, tuple[float, ...]]:
    """A ball joint has no axis; where there is one, its damping and friction are those of all three rotations."""
    axis = child(element, "axis")
    if axis is None:
        return {}
    damping, friction, stiffness, _ = read_dynamics(axis)
    notes.add("<axis> of ball joints gives the damping and friction of each rotation and nothing else", joint.full)
    if stiffness:
        axis.fail("a ball joint has no axis for a spring; remove <spring_stiffness>", "not-allowed-here")
    return {"damping": (damping,) * 3, "friction": (friction,) * 3}


def _armature(joint: Node, axes: list[Axis], notes: Notes) -> tuple[float, ...] | None:
    """The inertia of a rotor by Drake's elements, on a joint that has a motor."""
    rotor, gear = child(joint.element, "drake:rotor_inertia"), child(joint.element, "drake:gear_ratio")
    if rotor is None or len(axes) != 1 or axes[0].effort == 0.0:
        return None
    ratio = 1.0 if gear is None else number(gear)
    notes.add("<drake:rotor_inertia> times the square of <drake:gear_ratio> is the armature, as in Drake", joint.full)
    return (number(rotor) * ratio * ratio,)


def _mimic(joint: Node, kind: JointKind, axes: list[Axis], notes: Notes, *, enforced: bool) -> Mimic | None:
    """The law by which a joint follows: q = multiplier (q_leader - reference) + offset."""
    mimics = [(axis, element) for axis in axes if (element := child(axis.element, "mimic")) is not None]
    if not mimics:
        return None
    if not enforced:
        notes.add("<mimic> was left out, as asked: these joints move on their own", joint.full)
        return None
    notes.add("joints that mimic another follow it and have no place in q and v", joint.full)
    with coded("bad-mimic"):
        return _leader(joint, kind, mimics[0][1])


def _leader(joint: Node, kind: JointKind, element: Element) -> Mimic:
    """The data of a <mimic>."""
    if kind.nv != 1:
        element.fail(
            "the joint has two axes; kinetree lets only joints of one degree of freedom follow others", "bad-mimic"
        )
    assert joint.scope is not None
    name = element.text("joint").strip()
    leader = joint.scope.find(name, element, "the joint that it follows")
    if leader.kind != "joint":
        element.fail(f"follows {shown(name)!r}, which is a {leader.kind}; name a joint", "bad-mimic")
    axis = element.attributes.get("axis", "axis").strip()
    if axis != "axis":
        element.fail(
            f'axis="{shown(axis, 40)}": kinetree lets joints follow only joints of one axis, which is called "axis"',
            "bad-mimic",
        )
    multiplier = number_in(element, "multiplier", 1.0)
    offset, reference = number_in(element, "offset", 0.0), number_in(element, "reference", 0.0)
    return Mimic(leader.full, multiplier, offset - multiplier * reference)
