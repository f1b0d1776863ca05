"""What robot files say beyond kinematics and inertia: actuators, tendons, sensors, contacts, options of simulations.

The records are plain and frozen; they name joints, bodies and frames by their names. `carried` gives those of a changed
robot.
"""

from kinetree.model.extras.carried import carried
from kinetree.model.extras.change import Change
from kinetree.model.extras.collisions import BodySpheres, CollisionPair, Sphere, UncheckedBody
from kinetree.model.extras.contacts import ContactParameters
from kinetree.model.extras.extras import NO_EXTRAS, Extras
from kinetree.model.extras.groups import EndEffector, JointGroup, JointValues, NamedState, VirtualJoint
from kinetree.model.extras.joint_limits import Calibration, MotionLimits, SafetyLimits
from kinetree.model.extras.joint_properties import JointProperty, PassiveJoint
from kinetree.model.extras.textures import Texture
from kinetree.model.extras.transmissions import Transmission, TransmissionActuator, TransmissionJoint
from kinetree.model.extras.unused import Unused

__all__ = [
    "NO_EXTRAS",
    "BodySpheres",
    "Calibration",
    "Change",
    "CollisionPair",
    "ContactParameters",
    "EndEffector",
    "Extras",
    "JointGroup",
    "JointProperty",
    "JointValues",
    "MotionLimits",
    "NamedState",
    "PassiveJoint",
    "SafetyLimits",
    "Sphere",
    "Texture",
    "Transmission",
    "TransmissionActuator",
    "TransmissionJoint",
    "UncheckedBody",
    "Unused",
    "VirtualJoint",
    "carried",
]
