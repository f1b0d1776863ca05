"""Transmissions between actuators and joints, as URDF files describe them."""

from __future__ import annotations

from dataclasses import replace

from kinetree.model.extras.change import Change
from kinetree.model.extras.unused import Unused
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Transmission", "TransmissionActuator", "TransmissionJoint"]


@record(frozen=True, slots=True, repr=False)
class TransmissionJoint:
    """A joint that a transmission moves."""

    joint: str
    interfaces: tuple[str, ...] = ()
    """The hardware interfaces it offers to controllers."""
    reduction: float | None = None
    offset: float | None = None
    role: str = ""
    other: tuple[Unused, ...] = ()
    """Other elements in it, as they are written."""

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class TransmissionActuator:
    """An actuator of a transmission."""

    name: str
    reduction: float | None = None
    interfaces: tuple[str, ...] = ()
    role: str = ""
    other: tuple[Unused, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class Transmission:
    """How actuators move joints (URDF's `<transmission>`). It is data: the robot's motors are in `robot.actuated`."""

    name: str
    type: str = ""
    joints: tuple[TransmissionJoint, ...] = ()
    actuators: tuple[TransmissionActuator, ...] = ()
    reduction: float | None = None
    """The reduction of the whole transmission, where a file gives it next to the actuator, as PR2's do."""
    other: tuple[Unused, ...] = ()
    """Other elements in it, as they are written."""

    def __repr__(self) -> str:
        return call_text(self)

    def under(self, change: Change) -> Transmission | None:
        if any(part.joint not in change.joints or change.factor(part.joint) != 1.0 for part in self.joints):
            return None
        if self.other and change.own("") != "":
            return None
        joints = tuple(replace(part, joint=change.joints[part.joint]) for part in self.joints)
        actuators = tuple(replace(part, name=change.own(part.name)) for part in self.actuators)
        return replace(self, name=change.own(self.name), joints=joints, actuators=actuators)
