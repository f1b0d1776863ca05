"""The contents of URDF's elements, as far as kinematics, dynamics and geometry are concerned; one row per element.

Transmissions, sensors and settings of simulators and controllers are kept as data. Everything else is skipped and
listed in the model's notes.
"""

from __future__ import annotations

from kinetree.io.document import Shape

__all__ = ["SHAPES"]

SHAPES = {
    "robot": Shape.of("link joint material transmission gazebo sensor ros2_control", "name version"),
    "material": Shape.of("color texture", "name"),
    "color": Shape.of("", "rgba"),
    "texture": Shape.of("", "filename"),
    "link": Shape.of("inertial visual collision", "name"),
    "inertial": Shape.of("origin mass inertia"),
    "origin": Shape.of("", "xyz rpy quat_xyzw"),
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
    "joint": Shape.of("origin parent child axis limit dynamics mimic safety_controller calibration", "name type"),
    "parent": Shape.of("", "link"),
    "child": Shape.of("", "link"),
    "axis": Shape.of("", "xyz"),
    "limit": Shape.of("", "lower upper velocity effort acceleration deceleration jerk"),
    "safety_controller": Shape.of("", "soft_lower_limit soft_upper_limit k_position k_velocity"),
    "calibration": Shape.of("", "rising falling reference_position"),
    "dynamics": Shape.of("", "damping friction"),
    "transmission": Shape.of(raw=True),
    "gazebo": Shape.of(raw=True),
    "sensor": Shape.of(raw=True),
    "ros2_control": Shape.of(raw=True),
    "mimic": Shape.of("", "joint multiplier offset"),
}
