"""Robots: collected from parts, checked, frozen, and changed into others."""

from kinetree.model.builder import ModelBuilder
from kinetree.model.elements import Body, Coupling, Frame, Geometry, Joint, Limits, Mimic, Named, Rotor
from kinetree.model.merge import merge
from kinetree.model.model import Model, check_robot

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
]
