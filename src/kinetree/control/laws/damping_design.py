"""Damping by ratio: the matrix D at which every mode of Λ ẍ + D ẋ + K x = 0 has the damping ratio ζ.

With Λ = Q Qᵀ and K = Q diag(ω²) Qᵀ, D = 2 ζ Q diag(ω) Qᵀ, which is 2 ζ times the geometric mean of Λ and K: so it needs
no eigenvectors. For a diagonal K it is 2 ζ K^½ (K^½ Λ⁻¹ K^½)^(−½) K^½, and the inverse root comes from the iteration of
Denman and Beavers, which converges quadratically.

Sources: Albu-Schäffer, Ott, Frese and Hirzinger, "Cartesian impedance control of redundant robots: recent results with
the DLR-light-weight-arms", IEEE Int. Conf. Robotics and Automation (2003), double diagonalisation; Bhatia, *Positive
Definite Matrices* (2007), chapter 4, the geometric mean; Higham, *Functions of Matrices* (2008), section 6.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.programs import fori

__all__ = ["damping_by_ratio"]

_ROUNDS = 9
"""Enough for natural frequencies that differ by a factor of 1,000, to rounding; at 3,000 the error is 1e-8."""
_LEAST = 1e-6
"""The least natural frequency squared, as a part of their mean; slower axes are damped as if they had this one."""


def damping_by_ratio(mobility: Any, stiffness: Any, ratio: Any) -> Any:
    """D (m, m), symmetric and not negative, for Λ⁻¹ = mobility (m, m) and K = diag(stiffness); zero where K is zero."""
    if not len(stiffness):  # a robot whose joints are all locked
        return mobility
    own = np.diagonal(mobility)
    mean = np.mean(stiffness * own)
    least = _LEAST * np.where(mean > 0.0, mean, 1.0) / own
    root = np.sqrt(np.maximum(stiffness, least))
    scale = np.where(stiffness > 0.0, root, 0.0)  # derivatives by other arguments are numbers there, too
    return 2.0 * ratio * scale[:, None] * _inverse_root(root[:, None] * mobility * root) * scale


def _inverse_root(B: Any) -> Any:
    """B^(−½) of a positive definite matrix: the product form of the iteration, of B over its middle eigenvalue."""
    unit = np.eye(len(B))
    middle = np.sqrt(np.trace(B) / np.trace(_inverse(B)))

    def step(_: Any, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        M, Z = pair
        inverse = _inverse(M)
        return 0.5 * (unit + 0.5 * (M + inverse)), 0.5 * (Z + Z @ inverse)

    _, Z = fori(_ROUNDS, step, (B / middle, unit))
    return Z / np.sqrt(middle)


def _inverse(B: Any) -> Any:
    """The inverse of a positive definite matrix, by Cholesky's factors, which need no exchange of rows."""
    L = np.linalg.cholesky(B)
    rows: list[Any] = []
    for k, unit in enumerate(np.eye(len(B))):
        rest = unit - sum((L[k, j] * row for j, row in enumerate(rows)), np.zeros(len(B)))
        rows.append(rest / L[k, k])
    half = np.stack(rows)  # L⁻¹
    return half.T @ half
