"""The pictures that a notebook shows of robots and motions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import KinetreeError
from kinetree.pictures.png import png_bytes

__all__ = ["png_or_none"]


def png_or_none(draw: Callable[[], NDArray[np.uint8]]) -> bytes | None:
    """The PNG file of what is drawn; None if it cannot be drawn, since a notebook then shows the text."""
    try:
        return png_bytes(draw())
    except KinetreeError:
        return None
