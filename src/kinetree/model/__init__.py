"""Robots: collected from parts, checked, frozen, and changed into others."""

from kinetree.model.builder import ModelBuilder
from kinetree.model.elements import Body, Coupling, Frame, Geometry, Joint, Mimic, Named, Rotor
from kinetree.model.merge import merge
from kinetree.model.model import Model, check_robot
from kinetree.model.robot import no_motor
from kinetree.tree.drive import Limits

__all__ = [
    "Body",
    "Coupling",
    "Frame",
    "Geometry",
    "Joint",
    "Limits",
    "Mimic",
    "Model",
    "ModelBuilder",
    "Named",
    "Rotor",
    "check_robot",
    "merge",
    "no_motor",
]
