"""Measurements of sensors of contacts and limits."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from kinetree.algorithms import contact_sensors
from kinetree.algorithms.contact_sensors import Push
from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.soft_equalities import held_together
from kinetree.algorithms.soft_lengths import largest_angle, limits
from kinetree.algorithms.soft_rows import Sight
from kinetree.algorithms.transmissions import Reach, across_coordinate
from kinetree.collision import ContactPoint
from kinetree.collision.rays import MISSED, holds, ray_distance
from kinetree.contact_model import LimitSpec, TendonLimit, TouchSpec, anchored, reach_of_tendon
from kinetree.errors import OptionError
from kinetree.expr import Scalar, dot, less, maximum, select, sqrt
from kinetree.functions.sensed_state import SensedState
from kinetree.functions.sensor_specs import ContactSensing, Place, SensorSpec
from kinetree.spatial import Force, Mat3, Vec3

__all__ = ["connected_wrench", "contact_data", "limit_value", "pushes_on", "touch_force"]

_TINY = 1e-30


def touch_force(state: SensedState, one: SensorSpec) -> Scalar:
    """The normal forces on a body whose lines of action meet a site."""
    assert one.zone is not None
    X = state.frame(one.zone.place).X
    total: Scalar = 0.0
    for push, sign in pushes_on(state, one.bodies):
        ray = push.axes.x * -sign
        meets = less(ray_distance(one.zone.shape, X, push.position, ray), MISSED)
        total = total + select(meets, maximum(push.force.x, 0.0), 0.0)
    return total


def pushes_on(state: SensedState, bodies: Sequence[str]) -> list[tuple[Push, float]]:
    """The contacts of some bodies with others, and 1 where the bodies are the second ones, -1 where the first ones."""
    pushes = []
    for touch in state.touches:
        is_first, is_second = touch.first.body in bodies, touch.second.body in bodies
        if is_first != is_second:
            pushes += [(push, 1.0 if is_second else -1.0) for push in _pushes(state, touch, touch.margin)]
    return pushes


def contact_data(state: SensedState, one: SensorSpec) -> list[Scalar]:
    """The measurements of a contact sensor."""
    asked = one.contact
    assert asked is not None
    pushes: list[tuple[Push, float]] = []
    for touch in state.touches:
        sign = _direction(asked, touch)
        if sign:
            for push in _pushes(state, touch, touch.selection):
                if one.zone is not None:
                    inside = holds(one.zone.shape, state.frame(one.zone.place).X, push.position)
                    push = push._replace(is_there=push.is_there * inside)
                pushes.append((push, sign))
    if asked.reduction == "netforce":
        slots = [contact_sensors.together(pushes), *[{}] * (asked.count - 1)]
    else:
        outward = [push if sign > 0.0 else push.turned() for push, sign in pushes]
        slots = contact_sensors.in_order(outward, asked.reduction, asked.count)
    numbers: list[Scalar] = []
    for slot in slots:
        for name in asked.data:
            numbers += slot.get(name, [0.0] * _SIZES[name])
    return numbers


_SIZES = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}


def _direction(asked: ContactSensing, touch: TouchSpec) -> float:
    """1 where the sensor's first side comes first in a pair of shapes, -1 where it comes second, 0 for other pairs."""
    one, other = asked.sides
    ends = [(end.body, end.name) for end in (touch.first, touch.second)]
    first, second = ([side.has(*end) for end in ends] for side in asked.sides)
    if not any(first) or not any(second):
        return 0.0
    if one.is_any and other.is_any:
        return 1.0
    if other.is_any:
        return 1.0 if first[0] else -1.0
    if one.is_any:
        return 1.0 if second[1] else -1.0
    if first[0] and second[1]:
        return 1.0
    return -1.0 if first[1] and second[0] else 0.0


def _pushes(state: SensedState, touch: TouchSpec, reach: Scalar) -> list[Push]:
    """All points of a pair; those nearer than `reach` count."""
    return [_push(point, less(point.distance, reach), forces) for point, forces in state.touching(touch)]


def _push(point: ContactPoint, is_there: Scalar, forces: Sequence[Scalar]) -> Push:
    axes = Mat3(point.normal, point.tangent, point.normal.cross(point.tangent))
    six = [*forces, *([0.0] * (6 - len(forces)))]
    return Push(is_there, point.position, axes, point.distance, Vec3(*six[:3]), Vec3(*six[3:]))


def connected_wrench(state: SensedState, bodies: Sequence[str]) -> Force:
    """The wrench of connections and welds on some bodies, about the world's origin.

    Where both ends are on these bodies, a couple is left: the two forces act at the two points, which are apart as far
    as the constraint is violated.
    """
    total = Force.zero()
    for one in () if state.constraints is None else state.constraints.connections:
        sides = [(frame, sign) for frame, sign in ((one.first, 1.0), (one.second, -1.0)) if frame.body in bodies]
        if not sides:
            continue
        if one.turning is not None and len(sides) == 1:
            raise OptionError(
                f"{state.robot.name!r}: {one.name!r} holds bodies whose support is measured, and what welds exert is "
                "not computed; choose other sensors by names="
            )
        frames = anchored(state.robot, one.first), anchored(state.robot, one.second)
        blocks = held_together(state.tree, state.q, state.v, *frames, one.softness, one.turning, every_row=True)
        for block in blocks:
            force = Vec3(*state.forces(block)[:3])
            for frame, sign in sides:
                point = state.frame(Place(body=frame.body, offset=frame.placement)).X.r
                total = total + Force(point.cross(force), force) * sign
    return total


def limit_value(state: SensedState, one: SensorSpec) -> Scalar:
    """Where a limit of a joint or tendon acts: the distance less the margin, its rate, or the limit's force."""
    result: Scalar = 0.0
    for distance, block in reversed(_limits(state, one)):
        value = distance
        if one.kind.endswith("vel"):
            value = dot(block.J[0], state.sight.v)
        elif one.kind.endswith("frc"):
            (value,) = state.forces(block)
        result = select(less(distance, 0.0), value, result)
    return result


def _limits(state: SensedState, one: SensorSpec) -> list[tuple[Scalar, Block]]:
    """Each limit: how far it is, less the margin, and its row."""
    assert state.constraints is not None
    robot, sight = state.robot, state.sight
    limits: list[tuple[Scalar, Block]] = []
    for limit in state.constraints.limits:
        if limit.joint == one.joint:
            slot = robot.joints[limit.joint].slot
            if limit.coordinate is None:
                joint = sight.tree.joint[slot]
                turn = Vec3(*joint.difference(joint.neutral(), state.q[slot]))
                distance = limit.upper - sqrt(maximum(turn.dot(turn), _TINY)) - limit.margin
                limits.append((distance, largest_angle(sight, slot, limit.upper, limit.margin, limit.softness)))
            else:
                limits += _of_length(sight, across_coordinate(state.view, slot, 1.0, limit.coordinate), limit)
    for row in state.constraints.tendons:
        if isinstance(row, TendonLimit) and one.tendon and row.length.tendon == one.tendon:
            limits += _of_length(sight, reach_of_tendon(state.view, robot, row.length), row)
    return limits


def _of_length(sight: Sight, reach: Reach, limit: LimitSpec | TendonLimit) -> list[tuple[Scalar, Block]]:
    blocks = limits(sight, reach, limit.lower, limit.upper, limit.margin, limit.softness)
    pairs = ((1.0, limit.lower), (-1.0, limit.upper))
    distances = [sign * (reach.length - bound) - limit.margin for sign, bound in pairs if not isinf(bound)]
    return list(zip(distances, blocks, strict=True))
