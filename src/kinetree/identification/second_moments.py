"""From second moments of mass to the ten inertial parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ten_of"]

Array = NDArray[np.float64]


def ten_of(J: Array) -> Array:
    """The parameters (…, 10) of pseudo-inertias [[Σ, h], [hᵀ, m]] (…, 4, 4): I = tr(Σ) - Σ."""
    xx, yy, zz = J[..., 0, 0], J[..., 1, 1], J[..., 2, 2]
    return np.stack(
        [
            J[..., 3, 3], J[..., 0, 3], J[..., 1, 3], J[..., 2, 3],
            yy + zz, 0.0 - J[..., 0, 1], xx + zz, 0.0 - J[..., 0, 2], 0.0 - J[..., 1, 2], xx + yy,
        ],
        axis=-1,
    )  # fmt: skip
