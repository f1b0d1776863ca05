"""The looks of a robot, as records: triangles that are seen, shapes, and those that are not drawn.

Shapes whose file says nothing of their colours have greys that alternate from body to body, and one accent.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelWarning, listed
from kinetree.model.building import users_level
from kinetree.records import record

__all__ = [
    "COLLISION",
    "GROUND",
    "WHITE",
    "Color",
    "Looks",
    "Part",
    "Surface",
    "Unseen",
    "body_color",
    "color_of",
    "colored",
    "warn_of_unseen",
]

Color = tuple[int, int, int, int]
"""Red, green, blue (sRGB) and opacity, up to 255."""
_LIGHT, _DARK, _ACCENT = (214, 217, 222, 255), (74, 80, 92, 255), (232, 119, 34, 255)
_TURN = (_LIGHT, _DARK, _LIGHT, _ACCENT)
GROUND: Color = (196, 200, 206, 255)
COLLISION: Color = (86, 156, 214, 255)
WHITE: Color = (255, 255, 255, 255)


@record(frozen=True, slots=True, eq=False)
class Surface:
    """Triangles with colours; counter-clockwise as they are seen from outside."""

    vertices: NDArray[np.float32]
    """(n, 3), m. A corner at which faces meet at an edge that is to look sharp is there once for each side."""
    faces: NDArray[np.int32]
    """(m, 3)."""
    normals: NDArray[np.float32]
    """(n, 3), of length 1, one per vertex."""
    colors: NDArray[np.uint8]
    """(n, 4), one per vertex: red, green, blue (sRGB) and opacity. With a texture, these are its colours there."""
    uv: NDArray[np.float32] | None = None
    """(n, 2): where each vertex is in the texture, from the lower left."""
    texture: NDArray[np.uint8] | None = None
    """(height, width, 4), the upper row first."""


def colored(vertices: NDArray[Any], faces: NDArray[Any], normals: NDArray[Any], color: Sequence[int]) -> Surface:
    """A surface in one colour."""
    return Surface(
        np.asarray(vertices, dtype=np.float32),
        np.asarray(faces, dtype=np.int32),
        np.asarray(normals, dtype=np.float32),
        np.tile(np.array(color, dtype=np.uint8), (len(vertices), 1)),
    )


def body_color(slot: int, *, is_fixed: bool) -> Color:
    """The colour of a body by the place of the joint that moves it; the fixed root is dark."""
    return _DARK if is_fixed or slot == 0 else _TURN[(slot - 1) % len(_TURN)]


def color_of(numbers: Sequence[float]) -> Color:
    """A colour of a file, whose numbers are from 0 to 1; NaN is drawn as 0."""
    red, green, blue, opacity = (round(255.0 * min(max(0.0, x), 1.0)) for x in numbers)
    return red, green, blue, opacity


@record(frozen=True, slots=True, eq=False)
class Part:
    """A shape of a robot that is seen."""

    name: str
    """Its own name, or its body's with its place in the body's `geometry`, such as "foot[0]"; unique in its robot."""
    body: str
    role: str
    """"visual", "collision", or "stand_in": drawn from the inertia of a body, as nothing says how it looks."""
    placement: NDArray[np.float64]
    """(4, 4), its axes in those of its body."""
    surface: Surface
    is_ground: bool = False
    """Whether it is a plane or a height field that does not move; the view of a robot is not chosen to show all of it.
    Of a plane without an end only a piece is here."""


@record(frozen=True, slots=True)
class Unseen:
    """A shape that is not drawn as its file says."""

    part: str
    reason: str
    """A sentence on the fault and the remedy."""


def warn_of_unseen(unseen: Sequence[Unseen], place: str) -> None:
    """Warn of shapes that are not drawn, at the user's line; `place` is the name of the whole list."""
    if unseen:
        lost = listed((f"{shape.part}: {shape.reason}" for shape in unseen), 3, "; ")
        message = f"not everything is drawn; {place} has the list: {lost}"
        warnings.warn(message, ModelWarning, stacklevel=users_level())


@record(frozen=True, slots=True, eq=False)
class Looks:
    """All shapes of a robot that are drawn, and those that are not."""

    parts: tuple[Part, ...]
    unseen: tuple[Unseen, ...] = ()

    def without(self, name: str) -> Looks:
        """All but the part of a name, such as a ground that is drawn in another way."""
        return Looks(tuple(part for part in self.parts if part.name != name), self.unseen)
