"""A robot, or several copies of it, ready to be drawn at configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance import Ground, Looks, Part, Role, Unseen, floor_height, ground_of, looks_of, placements_of
from kinetree.appearance.looks import warn_of_unseen
from kinetree.appearance.robots import ROLES
from kinetree.display import Shapes
from kinetree.errors import OptionError
from kinetree.model import Model
from kinetree.pictures.draw import Drawing
from kinetree.pictures.given import Values, with_objects
from kinetree.pictures.setting import Floor
from kinetree.pictures.shots import outline

__all__ = ["Scene", "floor_of"]

Floats = NDArray[np.float64]

_SEEN_THROUGH = 0.4
"""The opacity of collision shapes that are drawn over visual ones."""


class Scene:
    """Copies of a robot: their surfaces, and where these are at configurations."""

    def __init__(
        self,
        robot: Model,
        shapes: Shapes = "visual",
        opacity: Sequence[float] = (1.0,),
        *,
        together: bool = False,
        parameters: Values | None = None,
    ) -> None:
        """Copies that are `together` are all at their own place in one world.

        Args:
            robot: the robot.
            shapes: as for `kt.render`.
            opacity: of each copy, from 0 to 1.
            together: as said.
            parameters: in the place of the robot's own, (n, …) for n copies.
        """
        if shapes not in get_args(Shapes):
            raise OptionError(f"shapes must be 'visual', 'collision' or 'both', not {shapes!r:.60}")
        self.robot = robot
        self.copies: int = len(opacity)
        looks, there, self._parameters = _looks(robot, ROLES[shapes], parameters or {}, self.copies)
        self.unseen: tuple[Unseen, ...] = looks.unseen
        """The shapes that are not drawn as the robot's file says, with reasons."""
        warn_of_unseen(self.unseen, "kinetree.appearance.looks_of(robot).unseen")
        self.ground: Ground | None = ground_of(robot, looks)
        self.looks: Looks = looks if self.ground is None else looks.without(self.ground.part)
        if not self.looks.parts:
            raise OptionError(_nothing(robot, shapes, len(looks.unseen)))
        self._outlines = np.array([_outline(part.surface.vertices) for part in self.looks.parts])
        moving = [not part.is_ground for part in self.looks.parts]
        self._bounded = moving if any(moving) else [True] * len(moving)
        is_over = np.array([shapes == "both" and part.role == "collision" for part in self.looks.parts])
        self._has_shadow = ~is_over  # the shapes below have it
        opacities = np.outer(opacity, np.where(is_over, _SEEN_THROUGH, 1.0))
        opacities *= np.array([there[part.name] for part in self.looks.parts]).T
        is_one_world = not any((x != x[:1]).any() for x in self._parameters.values())
        if is_one_world and (together or self.has_terrain):  # what does not move is there once, with the solid copy
            still = [self._is_still(part.body) and bool(there[part.name].all()) for part in self.looks.parts]
            opacities[np.ix_(np.arange(self.copies) != int(np.argmax(opacity)), still)] = 0.0
        self._opacity = opacities

    @cached_property
    def drawing(self) -> Drawing:
        """The surfaces of all copies, one copy after the other."""
        surfaces = [part.surface for part in self.looks.parts] * self.copies
        layers = np.repeat(np.arange(self.copies), self._opacity.shape[1])
        return Drawing(surfaces, self._opacity.ravel(), layers, np.tile(self._has_shadow, self.copies))

    @property
    def has_terrain(self) -> bool:
        """Whether part of the world is uneven, so that copies cannot be moved aside."""
        return any(part.is_ground for part in self.looks.parts)

    @property
    def stays(self) -> bool:
        """Whether something is drawn that cannot move."""
        return any(self._is_still(part.body) for part in self.looks.parts)

    def _is_still(self, body: str) -> bool:
        return not self.robot.bodies[body].slot and not self.robot.floating_base

    @property
    def normal(self) -> Floats:
        """(3,), of the ground."""
        return np.array([0.0, 0.0, 1.0]) if self.ground is None else self.ground.normal

    def placements(self, q: Floats) -> Floats:
        """Where the parts are at q (…, nq): (…, k, 4, 4), whose last leading axis is that of the copies, if any."""
        with np.errstate(all="ignore"):  # a motion that diverged has numbers of any size
            return placements_of(self.robot, self.looks, q, self._parameters or None)

    def corners(self, placements: Floats) -> Floats:
        """The outermost points of the parts at such placements: (…, 26 k', 3), m; without those of the ground."""
        bounded = np.flatnonzero(self._bounded)
        with np.errstate(all="ignore"):
            M = placements[..., bounded, :, :]
            points: Floats = np.einsum("...kij,kcj->...kci", M[..., :3, :3], self._outlines[bounded])
            points += M[..., None, :3, 3]
        return points.reshape(*points.shape[:-3], -1, 3)


def _looks(
    robot: Model, roles: Sequence[Role], parameters: Values, copies: int
) -> tuple[Looks, dict[str, NDArray[np.bool_]], Values]:
    """The shapes of all objects that copies of a robot have, which copies have each part, and the other parameters."""
    _, others = with_objects(robot, {name: x[0] for name, x in parameters.items()})
    objects = {name: np.resize(x, copies) for name, x in parameters.items() if name not in others}
    bodies = {name.split(".", 1)[1].rpartition(".")[0] for name in objects}
    numbers = np.array([*objects.values()]).reshape(len(objects), copies).T
    parts: dict[str, Part] = {}
    there: dict[str, NDArray[np.bool_]] = {}
    unseen: dict[Unseen, None] = {}
    for row in np.unique(numbers, axis=0) if objects else numbers[:1]:
        looks = looks_of(with_objects(robot, dict(zip(objects, row, strict=True)))[0], roles)
        unseen |= dict.fromkeys(looks.unseen)
        for part in looks.parts:
            name = f"{part.name} {row.tolist()}" if part.body in bodies else part.name
            parts[name] = replace(part, name=name)
            there[name] = (numbers == row).all(axis=1) | (part.body not in bodies)
    return Looks(tuple(parts.values()), tuple(unseen)), there, {name: parameters[name] for name in others}


def floor_of(scene: Scene, placements: Floats, corners: Floats) -> Floor | None:
    """The floor of a picture: the robot's ground, or else a level one; none on uneven terrain.

    `placements` are some that it has, and `corners` (…, 3) the outermost points of all there is.
    """
    if scene.ground is not None:
        x, y, z = (float(n) for n in scene.ground.normal)
        return Floor(float(scene.ground.normal @ scene.ground.placement[:3, 3]), (x, y, z))
    if scene.has_terrain:
        return None
    heights = corners[..., 2][np.isfinite(corners[..., 2])]
    if not heights.size:
        raise OptionError("there is nothing to be seen: the robot has no shape at a finite place")
    return Floor(floor_height(scene.robot, scene.looks, placements, float(heights.min()), float(heights.max())))


def _outline(vertices: NDArray[np.float32]) -> Floats:
    """(26, 3): the outermost vertices of a part, in its axes; the origin if it has none."""
    return outline(vertices.astype(np.float64) if len(vertices) else np.zeros((1, 3)))


def _nothing(robot: Model, shapes: Shapes, unseen: int) -> str:
    """The reason for a missing picture."""
    if shapes == "collision":
        return f"{robot.name!r} has no shapes for collisions that can be drawn; shapes='visual' draws what there is"
    lost = f", and {unseen} shapes cannot be drawn (kinetree.appearance.looks_of gives the reasons)" if unseen else ""
    return f"{robot.name!r} has nothing to be drawn: no shapes, and no moving body with a mass{lost}"
