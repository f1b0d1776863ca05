"""The pictures that a notebook shows of robots and motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kinetree.display import draw_with
from kinetree.errors import KinetreeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["png_of_robot", "png_or_none"]

_SIZE = (640, 360)


def png_or_none(draw: Callable[[], NDArray[np.uint8]]) -> bytes | None:
    """The PNG file of what is drawn; None if it cannot be drawn, since a notebook then shows the text."""
    from kinetree.pictures.png import png_bytes

    try:
        return png_bytes(draw())
    except KinetreeError:
        return None


def png_of_robot(robot: Any) -> bytes | None:
    """The PNG file of a robot where its file places it."""
    from kinetree.pictures.render import render  # with all that draws, for which `import kinetree` does not wait

    return png_or_none(lambda: render(robot, size=_SIZE))


draw_with(png_of_robot)
