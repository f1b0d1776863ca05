"""Contents of robot files beyond kinematics and inertia: actuators, tendons, sensors, contacts, options of simulations.

The records are plain and frozen; they name joints, bodies and frames by their names. `carried` gives those of a changed
robot.
"""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.model.extras.actuators import Actuator
    from kinetree.model.extras.bodies import BodySettings, ShapeSettings, Site
    from kinetree.model.extras.by_name import Records
    from kinetree.model.extras.cameras import Camera
    from kinetree.model.extras.carried import carried
    from kinetree.model.extras.change import Change
    from kinetree.model.extras.collisions import BodySpheres, CollisionPair, Sphere, UncheckedBody
    from kinetree.model.extras.contacts import ContactExclusion, ContactPair, ContactParameters
    from kinetree.model.extras.equalities import Equality
    from kinetree.model.extras.extras import NO_EXTRAS, Extras
    from kinetree.model.extras.groups import EndEffector, JointGroup, JointValues, NamedState, VirtualJoint
    from kinetree.model.extras.images import image_address, image_paths, with_images
    from kinetree.model.extras.joint_limits import Calibration, MotionLimits, SafetyLimits
    from kinetree.model.extras.joint_properties import JointProperty, PassiveJoint
    from kinetree.model.extras.joints import JointSettings
    from kinetree.model.extras.keyframes import JointState, Keyframe
    from kinetree.model.extras.options import SimulationFlags, SimulationOptions
    from kinetree.model.extras.sensors import Sensor
    from kinetree.model.extras.tendons import Pulley, Tendon, TendonJoint, TendonShape, TendonSite
    from kinetree.model.extras.textures import Texture
    from kinetree.model.extras.transmissions import Transmission, TransmissionActuator, TransmissionJoint
    from kinetree.model.extras.unused import Unused

__all__ = [
    "NO_EXTRAS",
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
