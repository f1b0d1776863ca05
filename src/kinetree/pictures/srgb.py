"""Amounts of light, and the bytes that mean them.

Source: IEC 61966-2-1 (sRGB).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ENCODED", "LINEAR", "linear_of"]


def linear_of(srgb: ArrayLike) -> NDArray[np.float64]:
    """The amounts of light that sRGB numbers from 0 to 1 mean."""
    x = np.asarray(srgb, dtype=np.float64)
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


LINEAR = linear_of(np.arange(256) / 255.0)
"""The amount of light of each byte."""
ENCODED = np.searchsorted(linear_of((np.arange(255) + 0.5) / 255.0), np.linspace(0.0, 1.0, 8192)).astype(np.uint8)
"""The byte of each amount of light, in equal steps from 0 to 1."""
