"""Which shapes of a robot are seen, and what they are called."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.model import Body, Geometry, Model
from kinetree.records import record

__all__ = ["Seen", "part_names", "touching", "visible"]

_SHOWN_GROUPS = 3
"""MuJoCo's viewer shows the groups 0, 1 and 2."""


@record(frozen=True, slots=True, eq=False)
class Seen:
    """A shape that is to be drawn."""

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
    """The shapes that are there to be seen; of an MJCF file, those that touch count if MuJoCo shows their group."""
    groups = {(one.body, one.index): one.group for one in robot.extras.shapes}

    def is_seen(body: Body, index: int, shape: Geometry) -> bool:
        is_shown = groups.get((body.name, index), 0) < _SHOWN_GROUPS
        return is_shown and (shape.role == "visual" or shape.contact is not None)

    return _chosen(robot, is_seen)


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
