"""The ground on which `kinetree simulate` puts a robot."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = ["ANGLE", "CLEARANCE", "NATURAL", "Ground", "Place", "on"]

ANGLE = 0.35
"""rad, 20 degrees."""
CLEARANCE = 0.1
"""m between a robot and its ground where it begins."""
_SIZE, _SPACING, _STEEPNESS = 8.0, 0.5, 0.2


class Ground(StrEnum):
    """Values of `--on`."""

    nothing = "nothing"
    ground = "ground"
    slope = "slope"
    terrain = "terrain"


NATURAL = {"ragdoll": Ground.slope}
"""The default ground of robots of the zoo."""


@record(frozen=True, slots=True)
class Place:
    """A ground, and its numbers."""

    ground: Ground
    angle: float
    """How steep a slope is, rad."""
    seed: int
    """Which hills."""


def on(robot: Model, place: Place) -> Model:
    """The robot on its ground."""
    match place.ground:
        case Ground.ground:
            return robot.on_ground()
        case Ground.slope:
            return robot.on_slope(place.angle)
        case Ground.terrain:
            return robot.on_terrain(size=(_SIZE, _SIZE), spacing=_SPACING, steepness=_STEEPNESS, seed=place.seed)
    return robot
