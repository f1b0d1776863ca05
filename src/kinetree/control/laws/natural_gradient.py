"""Steps of inertial parameters along gradients in the metric of the pseudo-inertia, which keep bodies possible.

In the metric tr(P⁻¹ dP P⁻¹ dP) of positive definite matrices P the steepest way along the gradient L by P is P L P, the
same in all frames and units.

Source: Lee, Kwon and Park, "A natural adaptive control law for robot manipulators", IEEE/RSJ Int. Conf. Intelligent
Robots and Systems (2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.spatial.pseudo_inertia import pseudo_inertia, ten_parameters

__all__ = ["natural_step"]

_ENTRIES = ten_parameters(np.eye(16).reshape(16, 4, 4)).T.reshape(10, 4, 4)
"""The derivatives of the ten parameters by the entries of P."""
_GRADIENTS = 0.5 * (_ENTRIES + _ENTRIES.swapaxes(1, 2))


def natural_step(ten: Any, gradient: Any, step: Any) -> Any:
    """The parameters after a step along a gradient (10,), in the metric of P: (1 + ½ step P L) P (1 + ½ step P L)ᵀ.

    To first order that is P + step P L P, and it is positive definite however long the step.
    """
    P, L = pseudo_inertia(ten), np.sum(_GRADIENTS * gradient[:, None, None], axis=0)
    G = np.eye(4) + 0.5 * step * (P @ L)
    return ten_parameters(G @ P @ G.T)
