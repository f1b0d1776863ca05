"""The ground of a robot's world, if it has one, and how high the floor is under a robot whose world has none."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.choice import part_names
from kinetree.appearance.looks import Looks
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Ground", "floor_height", "ground_of"]

_STEEPEST = math.cos(math.radians(80.0))
"""The least vertical part of the normal of a plane on which something can rest."""
_DEEPER = 0.1
"""How far a robot may reach below its base, relative to the height of all that is seen, for the floor to stay there."""


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
        The plane; None without one.

    >>> import kinetree as kt
    >>> from kinetree.appearance import ground_of
    >>> ground_of(kt.zoo.load("quadruped").on_ground(-0.5)).height
    -0.5
    """
    if robot.floating_base:
        return None
    drawn = None if looks is None else {part.name for part in looks.parts}
    best: Ground | None = None
    for (body, index), name in part_names(robot).items():
        owner = robot.bodies[body]
        shape = owner.geometry[index]
        if owner.slot or shape.shape != "plane" or (drawn is not None and name not in drawn):
            continue
        placement = owner.placement.matrix @ shape.placement.matrix
        size = shape.size[0], shape.size[1]
        if placement[2, 2] > _STEEPEST and (best is None or math.prod(size) > math.prod(best.size)):
            best = Ground(name, placement, size)
    return best


def floor_height(robot: Model, looks: Looks, placements: NDArray[np.float64], low: float, high: float) -> float:
    """The height of a level floor, m: under the base of a robot that stands still, or under the lowest point.

    The floor touches the lowest point of a base that cannot move. If nothing is drawn of the base, the floor is at the
    height 0 of the world. It is under the lowest point of everything instead if the robot reaches deeper than that by
    more than a tenth of the height of all that is seen; if all of it is higher by as much; or if its base can move.

    Args:
        robot: the robot.
        looks: its k parts.
        placements: where they are, (…, k, 4, 4), at any configurations.
        low, high: the heights between which everything is that is seen, over all of a motion.

    >>> import kinetree as kt
    >>> from kinetree.appearance import looks_of, placements_of
    >>> robot = kt.zoo.load("arm6")
    >>> looks = looks_of(robot)
    >>> placements = placements_of(robot, looks, robot.neutral())
    >>> round(floor_height(robot, looks, placements, -0.05, 1.0), 6)
    0.0
    >>> floor_height(robot, looks, placements, -0.5, 1.0)
    -0.5
    """
    if robot.floating_base:
        return low
    first = placements.reshape(-1, *placements.shape[-3:])[0]
    still = [
        float((M[2, :3] @ part.surface.vertices.T).min() + M[2, 3])
        for part, M in zip(looks.parts, first, strict=True)
        if not robot.bodies[part.body].slot and not part.is_ground and len(part.surface.vertices)
    ]
    stands = min(still, default=0.0)
    return stands if abs(low - stands) <= _DEEPER * (high - low) else low
