"""<keyframe> and the reference configuration: states in the robot's own coordinates.

Keyframes of attached models are among those of the whole robot: their numbers are parts of its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from kinetree.io.document import Element
from kinetree.io.mjcf.actuators import Origins, read_actuators
from kinetree.io.mjcf.bodies import BodyPart, Part, body_tree
from kinetree.io.mjcf.joints import MovingJoint, joint_type
from kinetree.io.mjcf.names import Names
from kinetree.io.mjcf.placements import quaternion_of
from kinetree.io.mjcf.scopes import Namespace, Scope
from kinetree.io.mjcf.tendons import read_tendons
from kinetree.io.mjcf.values import many
from kinetree.io.notes import Notes
from kinetree.joints import Free
from kinetree.model.extras import Actuator, JointState, Keyframe
from kinetree.model.problems import STRICT, Problems
from kinetree.records import record
from kinetree.spatial import Transform, Vec3
from kinetree.spatial.rotations import from_quaternion

__all__ = [
    "Joints",
    "Layout",
    "attached_keyframes",
    "control_count",
    "layout_of",
    "read_keyframes",
    "reference_q",
    "reference_state",
]

_SIZES = {"free": (7, 6), "ball": (4, 3), "hinge": (1, 1), "slide": (1, 1)}
"""How many coordinates and velocities a joint has."""

_MOST = 20_000_000

Key = tuple[int, Namespace]
"""An element by its identity, with the namespace in which it is there."""
Pieces = list[tuple[Key, tuple[float, ...]]]
"""Elements in the order of their numbers, with the numbers that are there by default."""
_MOST = 100_000
"""The largest number of keyframes."""

Joints = Mapping[str, tuple[MovingJoint, Transform]]
"""The joints in their order, with the placements of their bodies."""


@record(slots=True)
class Layout:
    """The elements whose numbers the attributes of a model's keyframes hold."""

    pieces: dict[str, Pieces] = field(default_factory=dict)
    """By attribute."""


def control_count(one: Actuator) -> int:
    """How many controls an actuator has."""
    if one.gain == "so3":
        return 4 if one.inputs == ("quat",) else 3
    if one.inputs == ("none",):
        return 0
    return len(one.inputs) if one.gain in ("pid", "dcmotor") else 1


def layout_of(
    bodies: Sequence[BodyPart],
    actuators: Sequence[Actuator],
    origins: Origins,
    references: Mapping[int, Sequence[float]] | None = None,
) -> Layout:
    """The layout of a model; `references` are joints' coordinates where the file places bodies, by their parts."""
    pieces: dict[str, Pieces] = {name: [] for name in ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")}
    for body in bodies:
        for part in body.joints:
            nq, nv = _SIZES[joint_type(part)]
            q = (0.0,) * nq if references is None else tuple(references[id(part)])
            pieces["qpos"].append((_key(part), q))
            pieces["qvel"].append((_key(part), (0.0,) * nv))
        if body.part.attributes.flag("mocap"):
            pieces["mpos"].append((_key(body.part), tuple(map(float, body.placement.r.components()))))
            pieces["mquat"].append((_key(body.part), tuple(quaternion_of(body.placement.E.T))))
    for actuator in actuators:
        pieces["act"].append((origins[id(actuator)], (0.0,) * actuator.activation_size))
        pieces["ctrl"].append((origins[id(actuator)], (0.0,) * control_count(actuator)))
    return Layout(pieces)


def attached_keyframes(scope: Scope, whole: Layout, notes: Notes) -> Iterator[Element]:
    """The keyframes of all attached models, as a file would have them whose model is the `whole` robot.

    Other joints are at their reference. A model that is replicated has them once, for the first replica; parts of it
    that are not in the robot are left out.
    """
    layouts: dict[int, Layout] = {}
    size = sum(len(default) for pieces in whole.pieces.values() for _, default in pieces)
    total = 0
    visited: set[tuple[int, str]] = set()
    for owner, space in scope.instances:
        if owner is scope or (id(owner), space.prefix) in visited:
            continue
        visited.add((id(owner), space.prefix))
        for element in (element for section in owner.sections("keyframe") for element in section.children):
            if id(owner) not in layouts:
                layouts[id(owner)] = _alone(owner)
            total += size
            if total > _MOST:
                element.fail(
                    f"the keyframes of attached models hold more than {_MOST:,} numbers together, which is the limit",
                    "too-large",
                )
            yield _in_whole(element, space, layouts[id(owner)], whole, notes)


def _key(part: Part) -> Key:
    return id(part.element), part.names


def _alone(scope: Scope) -> Layout:
    """The layout of an attached model by itself."""
    world = body_tree(scope)
    notes, origins = Notes(), Origins()
    names = Names(world, STRICT)
    actuators = read_actuators(scope, names, read_tendons(scope, names, notes, STRICT), notes, STRICT, origins)
    bodies, pending = [], [world]
    while pending:
        bodies.append(pending.pop())
        pending += reversed(bodies[-1].children)
    return layout_of(bodies, actuators, origins)


def _in_whole(element: Element, space: Namespace, alone: Layout, whole: Layout, notes: Notes) -> Element:
    name = Namespace(space.prefix).of(element.attributes.get("name", ""))
    attributes = {"name": name, "time": element.attributes.get("time", "0")}
    for attribute, pieces in alone.pieces.items():
        values = many(element, attribute)
        if not values:
            continue
        count = sum(len(default) for _, default in pieces)
        if len(values) != count:
            element.fail(
                f"{attribute} holds {len(values)} numbers, but its model has {count} of them; correct the keyframe",
                "bad-number",
            )
        coordinates: dict[Key, tuple[float, ...]] = {}
        for (place, names), default in pieces:
            coordinates[place, space.inside(names.prefix, names.suffix)] = values[: len(default)]
            values = values[len(default) :]
        full = [number for key, default in whole.pieces[attribute] for number in coordinates.get(key, default)]
        attributes[attribute] = " ".join(map(repr, full))
    if "plastic" in element.attributes:
        notes.add("rest positions of springs that yield (plastic) in keyframes of attached models are left out", name)
    return Element(element.tag, attributes, element.line, element.parent, element.file)


def reference_state(joints: Joints) -> Keyframe | None:
    """The state in which the file places the bodies; None without joints."""
    if not joints:
        return None
    return Keyframe(
        "", tuple(_state(name, joint, reference_q(joint, place), ()) for name, (joint, place) in joints.items())
    )


def read_keyframes(
    elements: Sequence[Element], joints: Joints, bodies: Sequence[BodyPart], actuators: Sequence[Actuator],
    problems: Problems,
) -> list[Keyframe]:  # fmt: skip
    """Keyframes, in their order."""
    keyframes: list[Keyframe] = []
    names: set[str] = set()
    if len(elements) > _MOST:
        elements[0].fail(f"there are {len(elements):,} keyframes; the limit is {_MOST:,}", "too-large")
    for element in elements:
        key = problems.attempt(None, _keyframe, element, joints, bodies, actuators)
        if key is None:
            continue
        if key.name and key.name in names:
            problems.add(
                element.error(f"there are two keyframes named {key.name!r}; rename one of them", "duplicate-name")
            )
            continue
        names.add(key.name)
        keyframes.append(key)
    return keyframes


def _keyframe(element: Element, joints: Joints, bodies: Sequence[BodyPart], actuators: Sequence[Actuator]) -> Keyframe:
    nq = sum(_SIZES[joint.type][0] for joint, _ in joints.values())
    nv = sum(_SIZES[joint.type][1] for joint, _ in joints.values())
    q, v = _sized(element, "qpos", nq), _sized(element, "qvel", nv)
    states = []
    for name, (joint, place) in joints.items():
        n, m = _SIZES[joint.type]
        own_q, q = q[:n], q[n:]
        own_v, v = v[:m], v[m:]
        states.append(_state(name, joint, own_q or reference_q(joint, place), own_v))
    activations = sum(actuator.activation_size for actuator in actuators)
    controls = sum(control_count(one) for one in actuators)
    mocap = [body for body in bodies if body.part.attributes.flag("mocap")]
    positions = _sized(element, "mpos", 3 * len(mocap)) or [
        float(x) for body in mocap for x in body.placement.r.components()
    ]
    turns = _sized(element, "mquat", 4 * len(mocap)) or [x for body in mocap for x in quaternion_of(body.placement.E.T)]
    has_plugins = any(one.plugin is not None for one in actuators)
    return Keyframe(
        element.attributes.get("name", ""),
        tuple(states),
        _time(element),
        _sized(element, "act", None if has_plugins else activations) or (0.0,) * activations,
        _sized(element, "ctrl", controls) or (0.0,) * controls,
        tuple((float(x), float(y), float(z)) for x, y, z in _groups(positions, 3)),
        tuple(_turned(quaternion, element) for quaternion in _groups(turns, 4)),
        many(element, "plastic"),
    )


def _time(element: Element) -> float:
    times = many(element, "time")
    if len(times) > 1:
        element.fail(f"time holds {len(times)} numbers; expected one", "bad-number")
    return times[0] if times else 0.0


def _sized(element: Element, attribute: str, count: int | None) -> tuple[float, ...]:
    """As many numbers as there must be, or none."""
    values = many(element, attribute)
    if values and count is not None and len(values) != count:
        element.fail(
            f"{attribute} holds {len(values)} numbers, but this model has {count} of them; correct the keyframe",
            "bad-number",
        )
    return values


def _groups(values: Sequence[float], size: int) -> Iterator[Sequence[float]]:
    return (values[k : k + size] for k in range(0, len(values), size))


def reference_q(joint: MovingJoint, place: Transform) -> Sequence[float]:
    """The coordinates in MuJoCo's order at which a joint leaves its body where the file places it."""
    if joint.type == "free":
        return (*map(float, place.r.components()), *quaternion_of(place.E.T))
    return (1.0, 0.0, 0.0, 0.0) if joint.type == "ball" else joint.reference


def _turned(wxyz: Sequence[float], element: Element | None = None) -> tuple[float, float, float, float]:
    """A quaternion of length one with w at the end."""
    length = math.hypot(*wxyz)
    if length < 1e-15:
        if element is not None:
            element.fail("it holds a quaternion of length zero, which is not an orientation", "bad-placement")
        return 0.0, 0.0, 0.0, 1.0
    w, x, y, z = (float(c) / length for c in wxyz)
    return x, y, z, w


def _state(name: str, joint: MovingJoint, q: Sequence[float], v: Sequence[float]) -> JointState:
    """The state of a joint from its coordinates in MuJoCo's order; no velocities are zero."""
    nv = _SIZES[joint.type][1]
    v = tuple(v) or (0.0,) * nv
    if joint.type in ("hinge", "slide"):
        return JointState(name, tuple(map(float, q)), tuple(map(float, v)))
    if joint.type == "ball":
        return JointState(name, _turned(q), tuple(v))
    turn = _turned(q[3:])
    linear = Vec3(*v[:3])
    if isinstance(joint.kind, Free):  # its linear velocity is in the body's axes; in MuJoCo it is in the world's
        linear = from_quaternion(*turn).T @ linear
    return JointState(name, (*map(float, q[:3]), *turn), (*map(float, linear.components()), *v[3:]))
