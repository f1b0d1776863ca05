"""What `kinetree simulate` puts a robot on, and how high it begins there."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from kinetree.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kinetree.contact import TouchingShape
    from kinetree.model import Joint, Model

    Array = NDArray[np.float64]

__all__ = ["ANGLE", "CLEARANCE", "NATURAL", "Ground", "Place", "above_ground", "free_bases", "on"]

ANGLE = 0.35
"""rad, 20 degrees."""
CLEARANCE = 0.1
"""m between a robot and its ground where it begins."""
_REACH = 1.5
"""m around a base in which a terrain is to be below it."""
_SIZE, _SPACING, _STEEPNESS = 8.0, 0.5, 0.2


class Ground(StrEnum):
    """Values of `--on`."""

    nothing = "nothing"
    ground = "ground"
    slope = "slope"
    terrain = "terrain"


NATURAL = {"ragdoll": Ground.slope}
"""What robots of the zoo are put on if nothing is said."""


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


def free_bases(scene: Model) -> list[Joint]:
    """The free joints on what does not move."""
    return [
        joint
        for joint in scene.joints.values()
        if scene.bodies[joint.parent].slot == 0 and joint.kind.nv == 6 and joint.kind.quaternions
    ]


def above_ground(scene: Model, q: Array, place: Place) -> Array:
    """The configurations q (…, nq) with free bases raised until all of their shapes have `CLEARANCE`."""
    q = q.copy()
    if place.ground is Ground.nothing:
        return q
    from kinetree.functions.kinematics import forward_kinematics

    slope = place.angle if place.ground is Ground.slope else 0.0
    shapes = {joint.name: _shapes(scene, joint) for joint in free_bases(scene)}
    for sample in np.ndindex(q.shape[:-1]):
        places = dict(zip(scene.bodies, forward_kinematics(scene, q[sample]), strict=True))
        for joint in free_bases(scene):
            x = q[sample][joint.q_slice]
            height = _highest_below(x[:2], place.seed) if place.ground is Ground.terrain else 0.0
            x[2] += max(0.0, (CLEARANCE - _lowest(shapes[joint.name], places, height, slope)) / math.cos(slope))
    return q


def _shapes(scene: Model, base: Joint) -> list[TouchingShape]:
    """What touches of the bodies that a joint carries."""
    from kinetree.functions.contact_options import soft_of

    carried = _carried(scene, base)
    sides = [side for touch in soft_of(scene).touches for side in (touch.first, touch.second)]
    return list({(side.body, side.name): side for side in sides if side.body in carried}.values())


def _lowest(shapes: list[TouchingShape], places: Mapping[str, Array], height: float, slope: float) -> float:
    """The smallest distance of shapes from a plane, m; that of nothing is what needs no raising."""
    from kinetree.collision import Plane, contacts
    from kinetree.spatial import Transform
    from kinetree.spatial.placement import placement

    plane, found = placement((0.0, 0.0, height), rpy=(0.0, slope, 0.0)), math.inf
    for one in shapes:
        X = one.placement @ Transform.of_matrix(places[str(one.body)])
        found = min(found, *(float(point.distance) for point in contacts(Plane(), plane, one.shape, X, math.inf)))
    return found


def _carried(scene: Model, base: Joint) -> set[str]:
    """The bodies that a joint moves."""
    below = {
        body.slot: any(slot == base.slot for slot, _ in scene.tree.toward_root(body.slot))
        for body in scene.bodies.values()
        if body.slot
    }
    return {body.name for body in scene.bodies.values() if below.get(body.slot)}


def _highest_below(place: Array, seed: int) -> float:
    """The greatest height of the terrain near a place (x, y)."""
    from kinetree.model.changes.terrain import hills

    heights = hills(_SIZE, _SIZE, _SPACING, _STEEPNESS, seed)
    axis = np.linspace(-0.5 * _SIZE, 0.5 * _SIZE, len(heights))
    near = [np.abs(axis - x) < _REACH for x in place]
    patch = heights[np.ix_(near[1], near[0])]
    return float(patch.max()) if patch.size else 0.0
