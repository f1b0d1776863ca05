"""All that a file says beyond kinematics and inertia."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from kinetree.model.extras.by_name import Records
from kinetree.record_text import call_text
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.model.extras.actuators import Actuator
    from kinetree.model.extras.bodies import BodySettings, ShapeSettings, Site
    from kinetree.model.extras.cameras import Camera
    from kinetree.model.extras.collisions import BodySpheres, CollisionPair, UncheckedBody
    from kinetree.model.extras.contacts import ContactExclusion, ContactPair
    from kinetree.model.extras.equalities import Equality
    from kinetree.model.extras.groups import EndEffector, JointGroup, NamedState, VirtualJoint
    from kinetree.model.extras.joint_limits import Calibration, MotionLimits, SafetyLimits
    from kinetree.model.extras.joint_properties import JointProperty, PassiveJoint
    from kinetree.model.extras.joints import JointSettings
    from kinetree.model.extras.keyframes import Keyframe
    from kinetree.model.extras.options import SimulationOptions
    from kinetree.model.extras.sensors import Sensor
    from kinetree.model.extras.tendons import Tendon
    from kinetree.model.extras.textures import Texture
    from kinetree.model.extras.transmissions import Transmission
    from kinetree.model.extras.unused import Unused

__all__ = ["NO_EXTRAS", "Extras"]


@record(frozen=True, slots=True, repr=False)
class Extras:
    """All that a file says beyond kinematics and inertia.

    Each field is one record, None, or a tuple of records, of which one can be had by its name:
    `robot.extras.actuators["hip"]`.
    """

    unused: tuple[Unused, ...] = ()
    motion_limits: tuple[MotionLimits, ...] = ()
    safety_limits: tuple[SafetyLimits, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    transmissions: tuple[Transmission, ...] = ()
    textures: tuple[Texture, ...] = ()
    groups: tuple[JointGroup, ...] = ()
    named_states: tuple[NamedState, ...] = ()
    end_effectors: tuple[EndEffector, ...] = ()
    virtual_joints: tuple[VirtualJoint, ...] = ()
    passive_joints: tuple[PassiveJoint, ...] = ()
    joint_properties: tuple[JointProperty, ...] = ()
    collision_pairs: tuple[CollisionPair, ...] = ()
    unchecked_bodies: tuple[UncheckedBody, ...] = ()
    body_spheres: tuple[BodySpheres, ...] = ()
    options: SimulationOptions | None = None
    actuators: tuple[Actuator, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    equalities: tuple[Equality, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    contact_pairs: tuple[ContactPair, ...] = ()
    contact_exclusions: tuple[ContactExclusion, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()
    reference_configuration: Keyframe | None = None
    """The state in which the file places the bodies."""
    joints: tuple[JointSettings, ...] = ()
    """Settings of those joints that have any."""
    bodies: tuple[BodySettings, ...] = ()
    """Settings of those bodies that have any."""
    shapes: tuple[ShapeSettings, ...] = ()
    """Settings of those shapes that have any."""
    sites: tuple[Site, ...] = ()
    cameras: tuple[Camera, ...] = ()

    def __post_init__(self) -> None:
        for entry in fields(self):
            held = getattr(self, entry.name)
            if isinstance(held, tuple) and not isinstance(held, Records):
                object.__setattr__(self, entry.name, Records(held))

    def __repr__(self) -> str:
        return call_text(self)

    def __bool__(self) -> bool:
        return any(getattr(self, entry.name) for entry in fields(self))

    def with_those_of(self, other: Extras) -> Extras:
        """Both together: tuples one after the other; of single records, those of this one (see `single_in_both`)."""
        if not other:
            return self
        joined = {}
        for entry in fields(self):
            own, more = getattr(self, entry.name), getattr(other, entry.name)
            joined[entry.name] = own + more if isinstance(own, tuple) else more if own is None else own
        return replace(self, **joined)

    def single_in_both(self, other: Extras) -> list[str]:
        """The names of the fields that hold one record each, but not the same, in both."""
        names = [entry.name for entry in fields(self)]
        pairs = ((name, getattr(self, name), getattr(other, name)) for name in names)
        return [name for name, a, b in pairs if not isinstance(a, tuple) and a is not None and b not in (None, a)]


NO_EXTRAS = Extras()
