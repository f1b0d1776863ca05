"""One shape of a robot as triangles, by its kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.choice import Seen
from kinetree.appearance.height_fields import height_field
from kinetree.appearance.materials import Materials
from kinetree.appearance.meshes import mesh_surface
from kinetree.appearance.palette import color_of
from kinetree.appearance.primitives import primitive
from kinetree.appearance.surface import Color, Surface
from kinetree.contact.assets import Assets
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Drawn", "Shapes"]


_TOGETHER = 200_000
"""Triangles that the meshes of a robot have together, about."""
_LEVELS = (20_000, 10_000, 6_000, 4_000, 2_500)
"""How many a mesh may have; few choices, so that meshes kept on disk serve several robots."""


@record(frozen=True, slots=True, eq=False)
class Drawn:
    """A shape that was drawn."""

    surface: Surface
    placement: NDArray[np.float64]
    """(4, 4) in its body's axes."""
    remarks: tuple[str, ...] = ()
    """What is not as the file says."""


class Shapes:
    """The shapes of a robot, with what its file says of meshes and height fields."""

    def __init__(self, robot: Model) -> None:
        self._assets = Assets(robot)
        self._materials = Materials(robot)
        self._most = _most(robot)
        self._known: dict[tuple[object, ...], tuple[Surface, tuple[str, ...]]] = {}

    def drawn(self, one: Seen, usual: Color, *, is_plain: bool = False) -> Drawn:
        """A shape as triangles, in a usual colour where its file says nothing, or if it is to be plain.

        Raises:
            ModelError: if it cannot be drawn.
            MissingPackageError: if that needs a package that is not installed.
        """
        shape = one.shape
        color = usual if is_plain or shape.color is None else color_of(shape.color)
        surface, remarks = self._surface(one, color, is_plain=is_plain)
        if not is_plain:
            surface, more = self._materials.put_on(surface, one.body.name, one.index, shape)
            remarks = (*remarks, *more)
        return Drawn(surface, shape.placement.matrix, remarks)

    def _surface(self, one: Seen, color: Color, *, is_plain: bool) -> tuple[Surface, tuple[str, ...]]:
        shape = one.shape
        if shape.shape in ("mesh", "heightfield"):
            asset = self._assets.of(one.body.name, one.index, shape)
            if shape.shape == "heightfield":
                return height_field(shape, asset, color), ()
            key = shape.mesh_path, shape.size, color, is_plain, *asset.items()
            if key not in self._known:
                self._known[key] = mesh_surface(shape, asset, color, self._most, is_plain=is_plain)
            return self._known[key]
        return primitive(shape.shape, shape.size, color), ()


def _most(robot: Model) -> int:
    """How many triangles a mesh of this robot may have."""
    meshes = sum(shape.shape == "mesh" for body in robot.bodies.values() for shape in body.geometry)
    return next((most for most in _LEVELS if most * meshes <= _TOGETHER), _LEVELS[-1])
