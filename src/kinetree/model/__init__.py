"""Robots: collected from parts, checked, frozen, and changed into others."""

from kinetree.lazy_names import lazy_names as _lazy_names
from kinetree.tree.drive import Limits

with _lazy_names(__name__):
    from kinetree.model.builder import ModelBuilder
    from kinetree.model.elements import Body, Coupling, Frame, Geometry, Joint, Mimic, Named, Rotor
    from kinetree.model.extras import Actuator, Extras
    from kinetree.model.merge import merge
    from kinetree.model.model import Model, check_robot
    from kinetree.model.robot import no_motor
    from kinetree.spatial import Inertia, Sym3, Vec3

__all__ = [
    "Actuator",
    "Body",
    "Coupling",
    "Extras",
    "Frame",
    "Geometry",
    "Inertia",
    "Joint",
    "Limits",
    "Mimic",
    "Model",
    "ModelBuilder",
    "Named",
    "Rotor",
    "Sym3",
    "Vec3",
    "check_robot",
    "merge",
    "no_motor",
]
