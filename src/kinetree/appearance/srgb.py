"""Colours as files and screens have them, and the amounts of light that they mean.

Source: IEC 61966-2-1 (sRGB).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["linear_of", "srgb_of"]


def linear_of(srgb: ArrayLike) -> NDArray[np.float64]:
    """The amounts of light that sRGB numbers from 0 to 1 mean."""
    x = np.asarray(srgb, dtype=np.float64)
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def srgb_of(linear: ArrayLike) -> NDArray[np.float64]:
    """The sRGB numbers of amounts of light from 0 to 1.

    >>> srgb_of([0.0, 0.214041, 1.0]).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    x = np.clip(np.asarray(linear, dtype=np.float64), 0.0, 1.0)
    return np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1.0 / 2.4) - 0.055)
