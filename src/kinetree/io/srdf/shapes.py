"""The contents of SRDF's elements; one row per element. Others are kept as they are written."""

from __future__ import annotations

from kinetree.io.document import Shape

__all__ = ["SHAPES"]

SHAPES = {
    "robot": Shape.of(
        "virtual_joint group group_state end_effector passive_joint joint_property link_sphere_approximation "
        "disable_default_collisions disable_collisions=pair enable_collisions=pair",
        "name version",
        raw=True,
    ),
    "virtual_joint": Shape.of("", "name type parent_frame child_link"),
    "group": Shape.of("joint=name link=name chain group=name", "name"),
    "name": Shape.of("", "name"),
    "chain": Shape.of("", "base_link tip_link"),
    "group_state": Shape.of("joint=value", "name group"),
    "value": Shape.of("", "name value"),
    "end_effector": Shape.of("", "name group parent_link parent_group"),
    "passive_joint": Shape.of("", "name"),
    "joint_property": Shape.of("", "joint_name property_name value"),
    "link_sphere_approximation": Shape.of("sphere", "link"),
    "sphere": Shape.of("", "center radius"),
    "disable_default_collisions": Shape.of("", "link"),
    "pair": Shape.of("", "link1 link2 reason"),
}
