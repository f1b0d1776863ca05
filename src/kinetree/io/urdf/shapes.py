"""What URDF's elements may contain, as far as kinematics, dynamics and geometry are concerned; one row per element.

Everything else (transmissions, simulator settings, sensors) is skipped and listed in the model's notes.
"""

from __future__ import annotations

from kinetree.io.document import Shape

__all__ = ["SHAPES"]

SHAPES = {
    "robot": Shape.of("link joint material", "name version"),
    "material": Shape.of("color texture", "name"),
    "color": Shape.of("", "rgba"),
    "texture": Shape.of("", "filename"),
    "link": Shape.of("inertial visual collision", "name"),
    "inertial": Shape.of("origin mass inertia"),
    "origin": Shape.of("", "xyz rpy"),
    "mass": Shape.of("", "value"),
    "inertia": Shape.of("", "ixx ixy ixz iyy iyz izz"),
    "visual": Shape.of("origin geometry material", "name"),
    "collision": Shape.of("origin geometry material", "name"),
    "geometry": Shape.of("box cylinder sphere capsule mesh", "name"),
    "box": Shape.of("", "size"),
    "cylinder": Shape.of("", "radius length"),
    "sphere": Shape.of("", "radius"),
    "capsule": Shape.of("", "radius length"),
    "mesh": Shape.of("", "filename scale"),
    "joint": Shape.of("origin parent child axis limit dynamics mimic", "name type"),
    "parent": Shape.of("", "link"),
    "child": Shape.of("", "link"),
    "axis": Shape.of("", "xyz"),
    "limit": Shape.of("", "lower upper velocity effort"),
    "dynamics": Shape.of("", "damping friction"),
    "mimic": Shape.of("", "joint multiplier offset"),
}
