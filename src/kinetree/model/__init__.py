"""What a robot is."""

from kinetree.model.base_parameters import regrouped
from kinetree.model.builder import ModelBuilder
from kinetree.model.elements import Body, Coupling, Frame, Geometry, Joint, Limits, Mimic, Named, Rotor
from kinetree.model.joints import Continuous, Fixed, Free, JointKind, JointMotion, Prismatic, Revolute
from kinetree.model.model import Model
from kinetree.model.tree import JointBlocks, Tree

__all__ = [
    "Body",
    "Continuous",
    "Coupling",
    "Fixed",
    "Frame",
    "Free",
    "Geometry",
    "Joint",
    "JointBlocks",
    "JointKind",
    "JointMotion",
    "Limits",
    "Mimic",
    "Model",
    "ModelBuilder",
    "Named",
    "Prismatic",
    "Revolute",
    "Rotor",
    "Tree",
    "regrouped",
]
