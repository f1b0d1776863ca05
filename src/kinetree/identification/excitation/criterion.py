"""How well a motion excites parameters, as a smooth function of the stacked regressor W.

"condition" is a bound from above on the condition number, log of the p-norms of the eigenvalues of A = Wᵀ W and of
their inverses, (1/2p) (log tr Aᵖ + log tr A⁻ᵖ): the condition number itself has no derivative where two singular values
meet, and that is where its minima are. "determinant" is -½ log det A, the logarithm of the volume of the ellipsoid in
which the estimate is.

Source: Swevers et al., "Optimal robot excitation and identification" (1997), for both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["CRITERIA", "condition_number", "criterion"]

Array = NDArray[np.float64]

CRITERIA = ("condition", "determinant")
_POWER = 4.0


def criterion(kind: str, W: Array) -> tuple[float, Array]:
    """The value, and its derivative by the entries of W (T, nv, n), in the same shape; infinite if W is singular."""
    flat = W.reshape(-1, W.shape[-1])
    sizes, axes = np.linalg.eigh(flat.T @ flat)
    if not sizes[0] > 1e-14 * sizes[-1]:
        return np.inf, np.zeros_like(W)
    if kind == "determinant":
        value, slopes = -0.5 * np.log(sizes).sum(), -0.5 / sizes
    else:
        up, down = sizes / sizes[-1], sizes[0] / sizes
        high, low = (up**_POWER).sum(), (down**_POWER).sum()
        value = 0.5 * (np.log(sizes[-1]) - np.log(sizes[0])) + 0.5 / _POWER * (np.log(high) + np.log(low))
        slopes = 0.5 * (up**_POWER / high - down**_POWER / low) / sizes
    H = (axes * slopes) @ axes.T
    return float(value), 2.0 * W @ H


def condition_number(W: Array) -> float:
    """The largest singular value of W (T, nv, n) relative to the smallest."""
    sizes = np.linalg.svd(W.reshape(-1, W.shape[-1]), compute_uv=False)
    return float(sizes[0] / sizes[-1]) if sizes[-1] > 0.0 else float("inf")
