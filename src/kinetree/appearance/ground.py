"""The ground of a robot's world, if it has one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.choice import part_names
from kinetree.appearance.looks import Looks
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Ground", "ground_of"]

_STEEPEST = math.cos(math.radians(80.0))
"""The least vertical part of the normal of a plane on which something can rest."""


@record(frozen=True, slots=True, eq=False)
class Ground:
    """A plane that does not move."""

    part: str
    """The name of the part that it is."""
    placement: NDArray[np.float64]
    """(4, 4), in the world: the third axis is the normal, the origin is on the plane."""
    size: tuple[float, float]
    """Its lengths along the first two axes, m; infinite where it does not end."""

    @property
    def normal(self) -> NDArray[np.float64]:
        """(3,)."""
        return self.placement[:3, 2]

    @property
    def height(self) -> float:
        """Above the world's origin along z, m."""
        return float(self.normal @ self.placement[:3, 3] / self.normal[2])


def ground_of(robot: Model, looks: Looks | None = None) -> Ground | None:
    """The plane that a robot's world rests on: of those that do not move and face up, the largest, then the first.

    Args:
        robot: the robot.
        looks: if given, only planes among its parts count.

    Returns:
        The plane; None if there is none.

    >>> import kinetree as kt
    >>> from kinetree.appearance import ground_of
    >>> ground_of(kt.zoo.load("quadruped").on_ground(-0.5)).height
    -0.5
    """
    if robot.floating_base:
        return None
    seen = None if looks is None else {part.name for part in looks.parts}
    best: Ground | None = None
    for (body, index), name in part_names(robot).items():
        found = robot.bodies[body]
        shape = found.geometry[index]
        if found.slot or shape.shape != "plane" or (seen is not None and name not in seen):
            continue
        placement = found.placement.matrix @ shape.placement.matrix
        size = shape.size[0], shape.size[1]
        if placement[2, 2] > _STEEPEST and (best is None or math.prod(size) > math.prod(best.size)):
            best = Ground(name, placement, size)
    return best
