"""All that a file says beyond kinematics and inertia."""

from __future__ import annotations

from dataclasses import fields, replace

from kinetree.model import extras  # what its fields hold is imported when it is read
from kinetree.model.extras.by_name import Records
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["NO_EXTRAS", "Extras"]


@record(frozen=True, slots=True, repr=False)
class Extras:
    """All that a file says beyond kinematics and inertia.

    Each field is one record, None, or a tuple of records, which can be indexed by name:
    `robot.extras.actuators["hip"]`.
    """

    unused: tuple[extras.Unused, ...] = ()
    motion_limits: tuple[extras.MotionLimits, ...] = ()
    safety_limits: tuple[extras.SafetyLimits, ...] = ()
    calibrations: tuple[extras.Calibration, ...] = ()
    transmissions: tuple[extras.Transmission, ...] = ()
    textures: tuple[extras.Texture, ...] = ()
    groups: tuple[extras.JointGroup, ...] = ()
    named_states: tuple[extras.NamedState, ...] = ()
    end_effectors: tuple[extras.EndEffector, ...] = ()
    virtual_joints: tuple[extras.VirtualJoint, ...] = ()
    passive_joints: tuple[extras.PassiveJoint, ...] = ()
    joint_properties: tuple[extras.JointProperty, ...] = ()
    collision_pairs: tuple[extras.CollisionPair, ...] = ()
    unchecked_bodies: tuple[extras.UncheckedBody, ...] = ()
    body_spheres: tuple[extras.BodySpheres, ...] = ()
    options: extras.SimulationOptions | None = None
    actuators: tuple[extras.Actuator, ...] = ()
    tendons: tuple[extras.Tendon, ...] = ()
    equalities: tuple[extras.Equality, ...] = ()
    sensors: tuple[extras.Sensor, ...] = ()
    contact_pairs: tuple[extras.ContactPair, ...] = ()
    contact_exclusions: tuple[extras.ContactExclusion, ...] = ()
    keyframes: tuple[extras.Keyframe, ...] = ()
    reference_configuration: extras.Keyframe | None = None
    """The state in which the file places the bodies."""
    joints: tuple[extras.JointSettings, ...] = ()
    """Settings of those joints that have any."""
    bodies: tuple[extras.BodySettings, ...] = ()
    """Settings of those bodies that have any."""
    shapes: tuple[extras.ShapeSettings, ...] = ()
    """Settings of those shapes that have any."""
    absent_shapes: tuple[extras.AbsentShape, ...] = ()
    """Shapes of other objects that a body may be, whose data is in the robot itself, such as height fields."""
    sites: tuple[extras.Site, ...] = ()
    cameras: tuple[extras.Camera, ...] = ()

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
