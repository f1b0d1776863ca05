"""Extras that URDF has elements for: limits for controllers, transmissions, images, and raw parts of URDF files."""

from __future__ import annotations

import math

from kinetree.io.losses import Losses
from kinetree.io.xml_text import Tag, shown_number
from kinetree.model.extras import Extras, Unused
from kinetree.model.extras.transmissions import TransmissionActuator, TransmissionJoint

__all__ = ["write_controllers", "write_extras"]

_HELD = frozenset(("motion_limits", "safety_limits", "calibrations", "transmissions", "textures"))
_RAW = frozenset(("gazebo", "sensor", "ros2_control", "transmission"))
"""Elements of URDF files that say nothing about rigid bodies."""


def write_controllers(joint: Tag, name: str, extras: Extras) -> None:
    """Add the controllers' data about a joint to its element."""
    for limits in extras.motion_limits:
        if limits.joint == name:
            limit = next((child for child in joint.children if child.tag == "limit"), None)
            if limit is None:
                limit = joint.add("limit", effort="1e+30", velocity="1e+30")
            for what in ("acceleration", "deceleration", "jerk"):
                limit.attributes[what] = _bound(getattr(limits, what))
    for safety in extras.safety_limits:
        if safety.joint == name:
            joint.add(
                "safety_controller",
                soft_lower_limit=_optional(safety.soft_lower),
                soft_upper_limit=_optional(safety.soft_upper),
                k_position=_optional(safety.k_position),
                k_velocity=_bound(safety.k_velocity),
            )
    for places in extras.calibrations:
        if places.joint == name:
            joint.add(
                "calibration",
                rising=_optional(places.rising),
                falling=_optional(places.falling),
                reference_position=_optional(places.reference_position),
            )


def write_extras(root: Tag, extras: Extras, losses: Losses) -> None:
    """Add everything that is not inside a joint or a link; records that URDF does not know are lost."""
    for transmission in extras.transmissions:
        element = root.add("transmission", name=transmission.name or None)
        if transmission.type:
            element.add("type", transmission.type)
        for joint in transmission.joints:
            _write_part(element.add("joint", name=joint.joint), joint)
        for actuator in transmission.actuators:
            _write_part(element.add("actuator", name=actuator.name), actuator)
        if transmission.reduction is not None:
            element.add("mechanicalReduction", shown_number(transmission.reduction))
        for part in transmission.other:
            _write_raw(element, part)
    others = [part for part in extras.unused if part.tag not in _RAW]
    for part in extras.unused:
        if part.tag in _RAW:
            _write_raw(root, part)
    if others:
        tags = ", ".join(sorted({f"<{part.tag}>" for part in others}))
        losses.lost.append(f"robot.extras.unused has parts of another format, {tags}, which have no place in URDF")
    losses.lose_extras(extras, supported=_HELD | {"unused"})


def _write_part(element: Tag, part: TransmissionJoint | TransmissionActuator) -> None:
    if part.role:
        element.add("role", part.role)
    for interface in part.interfaces:
        element.add("hardwareInterface", interface)
    if part.reduction is not None:
        element.add("mechanicalReduction", shown_number(part.reduction))
    if isinstance(part, TransmissionJoint) and part.offset is not None:
        element.add("offset", shown_number(part.offset))
    for other in part.other:
        _write_raw(element, other)


def _write_raw(parent: Tag, part: Unused) -> None:
    element = parent.add(part.tag, part.text or None)
    element.attributes = dict(part.attributes)
    for child in part.children:
        _write_raw(element, child)


def _bound(x: float) -> str:
    return shown_number(math.copysign(1e30, x) if math.isinf(x) else x)


def _optional(x: float | None) -> str | None:
    return None if x is None else _bound(x)
