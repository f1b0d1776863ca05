"""How high the floor is under a robot whose world has none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.looks import Looks
from kinetree.model import Model

__all__ = ["floor_height"]

_DEEPER = 0.1
"""How far a robot may reach below its base, in parts of the height of all that is seen, for the floor to stay there."""


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
