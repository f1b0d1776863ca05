"""Transmissions between actuators and joints, as URDF files describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from kinetree.model.extras.change import Change, Unused
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Actuator", "Transmission", "TransmissionActuator", "TransmissionJoint"]


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


@record(frozen=True, slots=True, repr=False)
class Actuator:
    """Something that exerts a force through a transmission.

    Its force is gain · input + bias, where the input is the activation if it has dynamics, and the control otherwise;
    gain and bias are functions of the transmission's length and velocity, which `gain`, `bias` and their parameters
    give as MuJoCo defines them. Shortcuts of files, such as position servos, are written in these terms.
    """

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "target": "=transmission", "reference": "site"}

    name: str
    transmission: str
    """"joint", "jointinparent", "tendon", "site", "slidercrank" or "body": the object that the force acts on."""
    target: str
    """The name of that joint, tendon, site or body; of a slider-crank, the site where crank and rod meet."""
    reference: str = ""
    """The site in whose frame a site's motion is measured; of a slider-crank, the site of the slider."""
    gear: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """The factor of length and force; for sites, ball and free joints the axes of force, then of torque."""
    crank_length: float = 0.0
    """Length of a slider-crank's rod, m."""
    kind: str = "general"
    """The word of the file, such as "motor" or "position"."""
    dynamics: str = "none"
    """"none", "integrator", "filter", "filterexact", "pid", "dcmotor", "muscle" or "user": of the activation."""
    dynamics_parameters: tuple[float, ...] = (1.0, *(0.0,) * 9)
    gain: str = "fixed"
    """"fixed", "affine", "muscle", "dcmotor", "pid", "so3" or "user"."""
    gain_parameters: tuple[float, ...] = (1.0, *(0.0,) * 9)
    bias: str = "none"
    """"none", "affine", "muscle", "dcmotor", "so3" or "user"."""
    bias_parameters: tuple[float, ...] = (0.0,) * 10
    damping_ratio: float | None = None
    """The ratio to critical damping of a servo whose damping follows from the inertia that it moves in the reference
    configuration; the third bias parameter is then 0 here."""
    inputs: tuple[str, ...] = ()
    """The meaning of its controls, such as "pos" and "vel", if given."""
    control_limited: bool = False
    control_range: tuple[float, float] = (0.0, 0.0)
    velocity_range: tuple[float, float] = (0.0, 0.0)
    """Range of the velocity among its controls; 0 0: no range."""
    feedforward_range: tuple[float, float] = (0.0, 0.0)
    """Range of the force among its controls; 0 0: no range."""
    force_limited: bool = False
    force_range: tuple[float, float] = (0.0, 0.0)
    activation_limited: bool = False
    activation_range: tuple[float, float] = (0.0, 0.0)
    activation_size: int = 0
    """Numbers of its activation."""
    acts_early: bool = False
    """Whether the force follows from the activation at the end of a time step."""
    length_range: tuple[float, float] = (0.0, 0.0)
    """Range of the transmission's length; 0 0 if it is not given."""
    damping: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Linear, quadratic and cubic damping that it adds to its joint or tendon, before gear²."""
    armature: float = 0.0
    """Inertia that it adds to its joint or tendon, before gear². A joint's `armature` has it already."""
    group: int = 0
    samples: int = 0
    """Controls that are kept for a delay."""
    interpolation: str = "zoh"
    """"zoh", "linear" or "cubic": between those controls."""
    delay: float = 0.0
    """Delay of the controls, s."""
    user: tuple[float, ...] = ()
    plugin: Unused | None = None
    """The plugin that computes its force, as the file has it."""

    def __repr__(self) -> str:
        return call_text(self)
