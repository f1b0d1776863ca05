"""<keyframe> and the reference configuration: states in the robot's own coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attached_keyframes import SIZES, control_count
from kinetree.io.mjcf.bodies import BodyPart
from kinetree.io.mjcf.joints import MovingJoint
from kinetree.io.mjcf.orientations import quaternion_of
from kinetree.io.mjcf.values import many
from kinetree.joints import Free
from kinetree.model.extras import Actuator, JointState, Keyframe
from kinetree.model.problems import Problems
from kinetree.spatial import Transform, Vec3
from kinetree.spatial.rotations import from_quaternion

__all__ = ["Joints", "read_keyframes", "reference_q", "reference_state"]

_MOST = 100_000
"""The largest number of keyframes."""

Joints = Mapping[str, tuple[MovingJoint, Transform]]
"""The joints in their order, with the placements of their bodies."""


def reference_state(joints: Joints) -> Keyframe | None:
    """The state in which the file places the bodies; None if there are no joints."""
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
    made: list[Keyframe] = []
    taken: set[str] = set()
    if len(elements) > _MOST:
        elements[0].fail(f"there are {len(elements):,} keyframes; the limit is {_MOST:,}", "too-large")
    for element in elements:
        key = problems.attempt(None, _keyframe, element, joints, bodies, actuators)
        if key is None:
            continue
        if key.name and key.name in taken:
            problems.add(
                element.error(f"there are two keyframes named {key.name!r}; rename one of them", "duplicate-name")
            )
            continue
        taken.add(key.name)
        made.append(key)
    return made


def _keyframe(element: Element, joints: Joints, bodies: Sequence[BodyPart], actuators: Sequence[Actuator]) -> Keyframe:
    nq = sum(SIZES[joint.type][0] for joint, _ in joints.values())
    nv = sum(SIZES[joint.type][1] for joint, _ in joints.values())
    q, v = _sized(element, "qpos", nq), _sized(element, "qvel", nv)
    states = []
    for name, (joint, place) in joints.items():
        n, m = SIZES[joint.type]
        own_q, q = q[:n], q[n:]
        own_v, v = v[:m], v[m:]
        states.append(_state(name, joint, own_q or reference_q(joint, place), own_v))
    activations = sum(one.activation_size for one in actuators)
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
    given = many(element, "time")
    if len(given) > 1:
        element.fail(f"time holds {len(given)} numbers, but one must stand there", "bad-number")
    return given[0] if given else 0.0


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
            element.fail("it holds a quaternion of length zero, which is no orientation", "bad-placement")
        return 0.0, 0.0, 0.0, 1.0
    w, x, y, z = (float(c) / length for c in wxyz)
    return x, y, z, w


def _state(name: str, joint: MovingJoint, q: Sequence[float], v: Sequence[float]) -> JointState:
    """The state of a joint from its coordinates in MuJoCo's order; no velocities are zero."""
    nv = SIZES[joint.type][1]
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
