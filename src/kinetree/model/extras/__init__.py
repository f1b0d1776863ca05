"""Contents of robot files beyond kinematics and inertia: actuators, tendons, sensors, contacts, options of simulations.

The records are plain and frozen; they name joints, bodies and frames by their names. `carried` gives those of a changed
robot.
"""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.model.extras.bodies import AbsentShape, BodySettings, ShapeSettings, Site
    from kinetree.model.extras.by_name import Records
    from kinetree.model.extras.carried import carried
    from kinetree.model.extras.change import Change, Unused
    from kinetree.model.extras.contacts import (
        BodySpheres,
        CollisionPair,
        ContactExclusion,
        ContactPair,
        ContactParameters,
        Sphere,
        UncheckedBody,
    )
    from kinetree.model.extras.equalities import Equality
    from kinetree.model.extras.extras import NO_EXTRAS, Extras
    from kinetree.model.extras.groups import EndEffector, JointGroup, JointValues, NamedState, VirtualJoint
    from kinetree.model.extras.images import Camera, Texture, image_address, image_paths, with_images
    from kinetree.model.extras.joints import (
        Calibration,
        JointProperty,
        JointSettings,
        MotionLimits,
        PassiveJoint,
        SafetyLimits,
    )
    from kinetree.model.extras.keyframes import JointState, Keyframe
    from kinetree.model.extras.options import SimulationFlags, SimulationOptions
    from kinetree.model.extras.sensors import Sensor
    from kinetree.model.extras.tendons import Pulley, Tendon, TendonJoint, TendonShape, TendonSite
    from kinetree.model.extras.transmissions import Actuator, Transmission, TransmissionActuator, TransmissionJoint

__all__ = [
    "NO_EXTRAS",
    "AbsentShape",
    "Actuator",
    "BodySettings",
    "BodySpheres",
    "Calibration",
    "Camera",
    "Change",
    "CollisionPair",
    "ContactExclusion",
    "ContactPair",
    "ContactParameters",
    "EndEffector",
    "Equality",
    "Extras",
    "JointGroup",
    "JointProperty",
    "JointSettings",
    "JointState",
    "JointValues",
    "Keyframe",
    "MotionLimits",
    "NamedState",
    "PassiveJoint",
    "Pulley",
    "Records",
    "SafetyLimits",
    "Sensor",
    "ShapeSettings",
    "SimulationFlags",
    "SimulationOptions",
    "Site",
    "Sphere",
    "Tendon",
    "TendonJoint",
    "TendonShape",
    "TendonSite",
    "Texture",
    "Transmission",
    "TransmissionActuator",
    "TransmissionJoint",
    "UncheckedBody",
    "Unused",
    "VirtualJoint",
    "carried",
    "image_address",
    "image_paths",
    "with_images",
]
