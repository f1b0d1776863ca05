"""One shape of a robot as triangles, by its kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.choice import Seen
from kinetree.appearance.height_fields import height_field
from kinetree.appearance.meshes import mesh_surface
from kinetree.appearance.palette import color_of
from kinetree.appearance.primitives import primitive
from kinetree.appearance.surface import Color, Surface
from kinetree.contact.assets import Assets
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Drawn", "Shapes"]


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

    def drawn(self, one: Seen, usual: Color, *, is_plain: bool = False) -> Drawn:
        """A shape as triangles, in a usual colour where its file says nothing, or if it is to be plain.

        Raises:
            ModelError: if it cannot be drawn.
            MissingPackageError: if that needs a package that is not installed.
        """
        shape = one.shape
        color = usual if is_plain or shape.color is None else color_of(shape.color)
        placement = shape.placement.matrix
        if shape.shape in ("mesh", "heightfield"):
            asset = self._assets.of(one.body.name, one.index, shape)
            if shape.shape == "heightfield":
                return Drawn(height_field(shape, asset, color), placement)
            return Drawn(mesh_surface(shape, asset, color), placement)
        return Drawn(primitive(shape.shape, shape.size, color), placement)
