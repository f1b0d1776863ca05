"""A body's ten inertial parameters as a matrix (4, 4), positive definite for all inertias that a body can have.

    P = | Σ   h |,   Σ = ½ tr(I) 1 − I,   the second moments of mass about the origin of the body's frame.
        | hᵀ  m |

Sources: Wensing, Kim and Slotine, "Linear matrix inequalities for physically-consistent inertial parameter
identification", IEEE Robotics and Automation Letters 3 (2018), for P; Lee, Kwon and Park, "A natural adaptive control
law for robot manipulators", IEEE/RSJ Int. Conf. Intelligent Robots and Systems (2018), for gradients in its metric.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["natural_step", "pseudo_inertia", "ten_of"]


def _parts() -> NDArray[np.float64]:
    """T (10, 4, 4), symmetric, with the sum of T_k ∘ P the k-th of m, h, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz."""
    T = np.zeros((10, 4, 4))
    T[0, 3, 3] = 1.0
    for k in range(3):
        T[1 + k, k, 3] = T[1 + k, 3, k] = 0.5
    for k, (a, b) in zip(range(4, 10), [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], strict=True):
        if a == b:
            T[k, :3, :3] = np.diag([float(a != i) for i in range(3)])
        else:
            T[k, a, b] = T[k, b, a] = -0.5
    return T


_T = _parts()
_P = np.linalg.pinv(_T.reshape(10, 16)).reshape(4, 4, 10).round(12)  # its entries are ±½ and 1


def pseudo_inertia(ten: Any) -> Any:
    """P (4, 4) of ten parameters."""
    return _P @ ten


def ten_of(P: Any) -> Any:
    """The ten parameters of P."""
    return np.sum(_T * P, axis=(1, 2))


def natural_step(ten: Any, gradient: Any, step: Any) -> Any:
    """The parameters after a step along a gradient (10,), in the metric of P: (1 + ½ step P L) P (1 + ½ step P L)ᵀ.

    L is the gradient by P. To first order that is P + step P L P, and it is positive definite however long the step.
    """
    P = pseudo_inertia(ten)
    G = np.eye(4) + 0.5 * step * (P @ np.sum(_T * gradient[:, None, None], axis=0))
    return ten_of(G @ P @ G.T)
