"""<transmission>, as ros_control has it and as PR2's files have it. It is data and does not concern the motion."""

from __future__ import annotations

from collections.abc import Container

from kinetree.io.document import Element, shown
from kinetree.io.numbers import number
from kinetree.io.urdf.raw import as_written
from kinetree.model import extras

__all__ = ["read_transmission"]


def read_transmission(element: Element, joints: Container[str]) -> extras.Transmission | None:
    """The transmission; None if it names a joint that the robot does not have."""
    other = []
    movers, moved = [], []
    type_, reduction = element.attributes.get("type", ""), None
    for child in element.children:
        if child.tag == "joint":
            moved.append(_joint(child))
        elif child.tag == "actuator":
            movers.append(_actuator(child))
        elif child.tag == "type" and not type_ and child.content.strip():
            type_ = child.content.strip()
        elif child.tag == "mechanicalReduction" and reduction is None:
            reduction = _number(child)
        else:
            other.append(as_written(child))
    if any(part.joint not in joints for part in moved):
        return None
    name = element.attributes.get("name", "").strip()
    return extras.Transmission(name, type_, tuple(moved), tuple(movers), reduction, tuple(other))


def _joint(element: Element) -> extras.TransmissionJoint:
    interfaces, reduction, offset, role, other = [], None, None, "", []
    for child in element.children:
        if child.tag == "hardwareInterface" and not child.children:
            interfaces.append(child.content.strip())
        elif child.tag == "mechanicalReduction" and reduction is None:
            reduction = _number(child)
        elif child.tag == "offset" and offset is None:
            offset = _number(child)
        elif child.tag == "role" and not role:
            role = child.content.strip()
        else:
            other.append(as_written(child))
    return extras.TransmissionJoint(element.text("name"), tuple(interfaces), reduction, offset, role, tuple(other))


def _actuator(element: Element) -> extras.TransmissionActuator:
    part = _joint(element)
    other = part.other
    if part.offset is not None:
        other += tuple(as_written(child) for child in element.all("offset"))
    return extras.TransmissionActuator(part.joint, part.reduction, part.interfaces, part.role, other)


def _number(element: Element) -> float:
    """The number that is the text of an element."""
    text = element.content.strip()
    if not text:
        element.fail("is empty; expected a number")
    whole = Element(element.tag, {element.tag: text}, element.line, element.parent, element.file)
    try:
        return number(whole, element.tag)
    except ValueError:
        return element.fail(f"holds {shown(text, 40)!r}, which is not a number")
