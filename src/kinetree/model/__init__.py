"""Robots: collected from parts, checked, frozen, and changed into others."""

import typing

from kinetree.lazy_names import lazy_names as _lazy_names
from kinetree.tree.drive import Limits

if typing.TYPE_CHECKING:
    from kinetree.model.builder import ModelBuilder
    from kinetree.model.elements import Body, Coupling, Frame, Geometry, Joint, Mimic, Named, Rotor
    from kinetree.model.merge import merge
    from kinetree.model.model import Model, check_robot
    from kinetree.model.robot import no_motor
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "builder": "ModelBuilder",
            "elements": "Body Coupling Frame Geometry Joint Mimic Named Rotor",
            "merge": "merge",
            "model": "Model check_robot",
            "robot": "no_motor",
        },
    )

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
