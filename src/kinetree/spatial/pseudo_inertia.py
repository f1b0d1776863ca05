"""The ten inertial parameters of a body as its pseudo-inertia, a matrix, and back; for plain and symbolic arrays.

Of π = [m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz], with the inertia I about the origin, it is the second
moments of mass in homogeneous coordinates,

    J = [[Σ, h], [hᵀ, m]],    Σ = ∫ x xᵀ dm = tr(I) / 2 - I,

positive definite exactly for a distribution of positive mass that fills space.

Source: Wensing, Kim, Slotine, "Linear matrix inequalities for physically consistent inertial parameter identification"
(2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["pseudo_inertia", "ten_parameters"]


def pseudo_inertia(ten: Any) -> Any:
    """J (…, 4, 4) of parameters (…, 10)."""
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = np.moveaxis(ten, -1, 0)
    half = 0.5 * (xx + yy + zz)
    xy, xz, yz = 0.0 - xy, 0.0 - xz, 0.0 - yz  # avoids negative zeros
    rows = [[half - xx, xy, xz, hx], [xy, half - yy, yz, hy], [xz, yz, half - zz, hz], [hx, hy, hz, m]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def ten_parameters(J: Any) -> Any:
    """The parameters (…, 10) of J (…, 4, 4), from its upper triangle: I = tr(Σ) - Σ."""
    xx, yy, zz = J[..., 0, 0], J[..., 1, 1], J[..., 2, 2]
    entries = (
        J[..., 3, 3], J[..., 0, 3], J[..., 1, 3], J[..., 2, 3],
        yy + zz, 0.0 - J[..., 0, 1], xx + zz, 0.0 - J[..., 0, 2], 0.0 - J[..., 1, 2], xx + yy,
    )  # fmt: skip
    return np.stack(entries, axis=-1)
