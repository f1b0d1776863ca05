"""All that a file says beyond kinematics and inertia."""

from __future__ import annotations

from dataclasses import fields, replace

from kinetree.model.extras.collisions import BodySpheres, CollisionPair, UncheckedBody
from kinetree.model.extras.groups import EndEffector, JointGroup, NamedState, VirtualJoint
from kinetree.model.extras.joint_limits import Calibration, MotionLimits, SafetyLimits
from kinetree.model.extras.joint_properties import JointProperty, PassiveJoint
from kinetree.model.extras.textures import Texture
from kinetree.model.extras.transmissions import Transmission
from kinetree.model.extras.unused import Unused
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["NO_EXTRAS", "Extras"]


@record(frozen=True, slots=True, repr=False)
class Extras:
    """All that a file says beyond kinematics and inertia. Each field is a tuple of records, or None."""

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
