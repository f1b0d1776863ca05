"""The pictures that a notebook shows of robots and motions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.model.reference import reference_configuration
from kinetree.pictures.png import png_bytes

__all__ = ["png_or_none", "robot_png"]

_SIZE = (640, 360)


def png_or_none(draw: Callable[[], NDArray[np.uint8]]) -> bytes | None:
    """The PNG file of what is drawn; None if it cannot be drawn, since a notebook then shows the text."""
    try:
        return png_bytes(draw())
    except KinetreeError:
        return None


def robot_png(robot: Model) -> bytes | None:
    """A picture of a robot where its file places it."""
    from kinetree.pictures.render import picture_of  # when the first one is drawn

    return png_or_none(lambda: picture_of(robot, reference_configuration(robot)[None], _SIZE))
