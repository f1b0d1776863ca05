"""Amounts of light, and the bytes that mean them, as tables."""

from __future__ import annotations

import numpy as np

from kinetree.appearance.srgb import linear_of

__all__ = ["ENCODED", "LINEAR"]

LINEAR = linear_of(np.arange(256) / 255.0)
"""The amount of light of each byte."""
ENCODED = np.searchsorted(linear_of((np.arange(255) + 0.5) / 255.0), np.linspace(0.0, 1.0, 8192)).astype(np.uint8)
"""The byte of each amount of light, in equal steps from 0 to 1."""
