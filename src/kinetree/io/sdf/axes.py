"""<axis> and <axis2>: directions, limits, friction and springs of one degree of freedom each."""

from __future__ import annotations

import math

from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.io.sdf.scopes import Node, between
from kinetree.io.sdf.values import bound, child, flag, number_in, numbers
from kinetree.records import record
from kinetree.spatial import Vec3

__all__ = ["Axis", "read_axis", "read_dynamics"]

_Z = Vec3(0.0, 0.0, 1.0)


@record(frozen=True, slots=True)
class Axis:
    """The data of an <axis> for its degree of freedom."""

    element: Element
    direction: Vec3
    """In the joint's frame."""
    lower: float
    upper: float
    velocity: float
    effort: float
    damping: float
    friction: float
    stiffness: float
    rest: float


def read_axis(element: Element, joint: Node, notes: Notes, *, bounded: bool) -> Axis:
    """An <axis> or <axis2> of a joint."""
    damping, friction, stiffness, rest = read_dynamics(element)
    lower, upper, velocity, effort = -math.inf, math.inf, math.inf, math.inf
    limit = child(element, "limit")
    if limit is not None:
        lower, upper = bound(limit, "lower", lower), bound(limit, "upper", upper)
        velocity, effort = (
            math.inf if value < 0.0 else value
            for value in (bound(limit, "velocity", math.inf), bound(limit, "effort", math.inf))
        )
    if not bounded:
        if math.isfinite(lower) or math.isfinite(upper):
            notes.add("lower and upper limits on continuous joints have no meaning and were not kept", joint.full)
        lower, upper = -math.inf, math.inf
    if lower > upper:
        (limit or element).fail(
            f"the lower limit {lower:g} is above the upper limit {upper:g}; exchange them", "bad-limits"
        )
    if math.isinf(lower) and lower == upper:
        (limit or element).fail(
            f"lower and upper are both {lower:g}; leave them out where there is no limit", "bad-limits"
        )
    return Axis(
        element, _direction(element, joint, notes), lower, upper, velocity, effort, damping, friction, stiffness, rest
    )


def read_dynamics(element: Element) -> tuple[float, float, float, float]:
    """Damping, friction, spring stiffness and the coordinate at which the spring is at rest."""
    dynamics = child(element, "dynamics")
    if dynamics is None:
        return 0.0, 0.0, 0.0, 0.0
    damping, friction, stiffness, rest = (
        number_in(dynamics, tag, 0.0) for tag in ("damping", "friction", "spring_stiffness", "spring_reference")
    )
    return damping, friction, stiffness, rest


def _direction(element: Element, joint: Node, notes: Notes) -> Vec3:
    """The direction in the joint's frame."""
    xyz = child(element, "xyz")
    vector = _Z
    if xyz is None:
        notes.add("joint axes without <xyz> are z, SDF's default", joint.full)
    else:
        x, y, z = numbers(xyz, 3)
        length = math.hypot(x, y, z)
        if length == 0.0:
            xyz.fail("has length zero, which is not a direction; give a unit vector", "bad-axis")
        if not 1e-100 < length < 1e100:
            xyz.fail(f"has the length {length:g}; give a unit vector", "bad-axis")
        if abs(length - 1.0) > 1e-6:
            notes.add("joint axes that were not of length one were normalised", joint.full)
        vector = Vec3(x, y, z)
    base = _expressed_in(element, xyz, joint)
    return vector if base is None else between(joint, base).E.T @ vector


def _expressed_in(element: Element, xyz: Element | None, joint: Node) -> Node | None:
    """The frame whose axes a direction is given in; None if it is the joint's own."""
    scope = joint.scope
    assert scope is not None
    model = child(element, "use_parent_model_frame")
    if scope.version >= 7:
        if model is not None:
            model.fail('was removed in SDF 1.7; write <xyz expressed_in="__model__"> instead', "unknown-element")
    elif scope.version == 4 or flag(element, "use_parent_model_frame"):
        return scope.frame
    frame = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
    if not frame or xyz is None:
        return None
    return scope.find(frame, xyz, "expressed_in")
