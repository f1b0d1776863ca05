"""One shape of a robot as triangles, by its kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.choice import Seen
from kinetree.appearance.looks import WHITE, Color, Surface, color_of
from kinetree.appearance.materials import Materials
from kinetree.appearance.primitives import primitive
from kinetree.errors import MissingPackageError, ModelError
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Drawn", "Shapes"]

_TOGETHER = 200_000
"""Triangles that the meshes of a robot have together, about."""
_LEVELS = (20_000, 10_000, 6_000, 4_000, 2_500)
"""How many a mesh may have; few choices, so that meshes kept on disk serve several robots."""
_LARGE = 300_000
"""Bytes of a file that may well have more triangles than the lowest of these."""


@record(frozen=True, slots=True, eq=False)
class Drawn:
    """A shape that was drawn."""

    surface: Surface
    placement: NDArray[np.float64]
    """(4, 4) in its body's axes."""
    remarks: tuple[str, ...] = ()
    """Sentences about everything that differs from the file."""


class Shapes:
    """The shapes of a robot, with its file's data about meshes and height fields."""

    def __init__(self, robot: Model, wanted: Sequence[Seen]) -> None:
        """`wanted`: all that will be asked for."""
        from kinetree.contact_model import shapes as contact
        from kinetree.contact_model.assets import Assets

        self._source = robot.source
        self._assets = Assets(robot)
        self._materials = Materials(robot)
        self._most = _most(wanted)
        self._hulls = contact.Shapes(robot)
        self._known: dict[tuple[object, ...], tuple[Surface, tuple[str, ...]]] = {}

    def touching(self, one: Seen, color: Color) -> Drawn:
        """A shape as collisions see it; of a mesh, its hull, or the mesh with a remark where it has none.

        Raises:
            ModelError, MissingPackageError: as `drawn`.
        """
        from kinetree.appearance.meshes import hull_surface

        remarks: tuple[str, ...] = ()
        if one.shape.shape == "mesh":
            try:
                return Drawn(*hull_surface(self._hulls, one, color))
            except (ModelError, MissingPackageError) as error:
                remarks = (f"collisions do not see it, so the mesh itself is shown: {error}",)
        surface, more = self._surface(one, color, is_plain=True)
        return Drawn(surface, one.shape.placement.matrix, (*remarks, *more))

    def drawn(self, one: Seen, usual: Color) -> Drawn:
        """A shape as triangles, in a usual colour where its file says nothing.

        Raises:
            ModelError: if it cannot be drawn.
            MissingPackageError: if that needs a package that is not installed.
        """
        shape = one.shape
        if shape.color is not None:
            color = color_of(shape.color)
        else:
            color = WHITE if self._materials.has_texture(one.body.name, one.index) else usual
        surface, remarks = self._surface(one, color)
        surface, more = self._materials.put_on(surface, one.body.name, one.index, shape)
        return Drawn(surface, shape.placement.matrix, (*remarks, *more))

    def _surface(self, one: Seen, color: Color, *, is_plain: bool = False) -> tuple[Surface, tuple[str, ...]]:
        shape = one.shape
        if shape.shape in ("mesh", "heightfield"):
            from kinetree.appearance.meshes import height_field, mesh_surface

            asset = self._assets.of(one.body.name, one.index, shape)
            if shape.shape == "heightfield":
                return height_field(shape, asset, color), ()
            key = shape.mesh_path, shape.size, color, is_plain, *asset.items()
            if key not in self._known:
                self._known[key] = mesh_surface(shape, asset, color, self._most, self._source, is_plain=is_plain)
            return self._known[key]
        return primitive(shape.shape, shape.size, color), ()


def _most(wanted: Sequence[Seen]) -> int:
    """How many triangles each mesh may have; small files have few and do not count."""
    large = sum(one.shape.shape == "mesh" and _bytes(one.shape.mesh_path) > _LARGE for one in wanted)
    return next((most for most in _LEVELS if most * large <= _TOGETHER), _LEVELS[-1])


def _bytes(path: Path | None) -> int:
    try:
        return 0 if path is None else os.stat(path).st_size
    except OSError:
        return 0
