"""Which shapes of a robot are seen, and their names."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.joints import Free
from kinetree.model import Body, Geometry, Model
from kinetree.records import record

__all__ = ["Seen", "part_names", "skins", "touching", "visible"]

_SHOWN_GROUPS = 3
"""MuJoCo's viewer shows the groups 0, 1 and 2."""


@record(frozen=True, slots=True, eq=False)
class Seen:
    """A shape to draw."""

    name: str
    body: Body
    index: int
    """Its place in the body's `geometry`."""
    shape: Geometry

    @property
    def is_scenery(self) -> bool:
        """Whether it is part of the world, not of the robot: a ground, a terrain, an obstacle."""
        return self.body.slot == 0 and self.shape.contact is not None


def visible(robot: Model) -> list[Seen]:
    """The shapes that are there to be seen.

    Of an MJCF file, those that touch count too, if MuJoCo shows their group; unless their body has meshes that are only
    for show, and none of their group. A loose body without such shapes, or one with a skin, shows those that it has.
    """
    groups = {(shape.body, shape.index): shape.group for shape in robot.extras.shapes}
    has_skin, joints = bool(skins(robot)), robot.joints.values()
    loose = {joint.child for joint in joints if isinstance(joint.kind, Free) and joint.parent == robot.root}
    loose -= {one.parent for one in joints}
    indices: dict[str, list[int]] = {}
    for body in robot.bodies.values():
        group = [groups.get((body.name, k), 0) for k in range(len(body.geometry))]
        in_groups = [k for k, one in enumerate(group) if one < _SHOWN_GROUPS]
        shown = [k for k in in_groups if body.geometry[k].role == "visual" or body.geometry[k].contact is not None]
        for_show = [k for k in shown if body.geometry[k].role == "visual"]
        if any(body.geometry[k].shape == "mesh" for k in for_show):
            with_these = {group[k] for k in for_show}
            shown = [k for k in shown if group[k] in with_these]
        indices[body.name] = shown or (list(range(len(group))) if has_skin else in_groups if body.name in loose else [])
    return _chosen(robot, lambda body, index, _: index in indices[body.name])


def skins(robot: Model) -> list[str]:
    """The names of the skins of an MJCF file."""
    return [
        dict(one.attributes).get("name", "")
        for section in robot.extras.unused
        for one in (section.children if section.tag in ("asset", "deformable") else ())
        if one.tag == "skin"
    ]


def touching(robot: Model) -> list[Seen]:
    """The shapes for collisions."""
    return _chosen(robot, lambda _, __, shape: shape.role == "collision")


def part_names(robot: Model) -> dict[tuple[str, int], str]:
    """A name of its own for each shape, by its body and its place there."""
    names: dict[tuple[str, int], str] = {}
    taken: set[str] = set()
    for body in robot.bodies.values():
        for k, shape in enumerate(body.geometry):
            name = shape.name if shape.name and shape.name not in taken else f"{body.name}[{k}]"
            taken.add(name)
            names[body.name, k] = name
    return names


def _chosen(robot: Model, is_wanted: Callable[[Body, int, Geometry], bool]) -> list[Seen]:
    names = part_names(robot)
    return [
        Seen(names[body.name, k], body, k, shape)
        for body in robot.bodies.values()
        for k, shape in enumerate(body.geometry)
        if is_wanted(body, k, shape)
    ]
