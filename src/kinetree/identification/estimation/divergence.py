"""How far a body's inertia is from another one's, in numbers of its own.

For pseudo-inertias J and J₀ (see `kinetree.identification.log_cholesky`),

    d(J, J₀) = tr(J J₀⁻¹) - log det(J J₀⁻¹) - 4

is the entropic divergence of Lee, Wensing and Park: zero if both are equal, infinite where J is no longer positive
definite, the same in all frames and units, and convex in J. With J₀ = L Lᵀ and J = L S Lᵀ it is tr S - log det S - 4,
and the ten entries of the symmetric S are the numbers in which the search works: S is the identity at J₀, where the
Hessian is that of |S - 1|². For a single positive number it is x - log x - 1 with x relative to the prior one.

Source: Lee, Wensing, Park, "Geometric robot dynamic identification: a convex programming approach" (2020), section III.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.spatial.pseudo_inertia import pseudo_inertia, ten_parameters

__all__ = ["Bodies", "Numbers", "divergence"]

Array = NDArray[np.float64]

_PLACES = [(row, column) for row in range(4) for column in range(row, 4)]
_BASIS = np.zeros((10, 4, 4))
for _k, (_row, _column) in enumerate(_PLACES):
    _BASIS[_k, _row, _column] = _BASIS[_k, _column, _row] = 1.0
_TRACES = np.trace(_BASIS, axis1=1, axis2=2)
_IDENTITY = np.array([1.0 if row == column else 0.0 for row, column in _PLACES])


def divergence(parameters: Array, prior: Array) -> Array:
    """d (…,) of the ten parameters of bodies (…, 10) from prior ones (…, 10); infinite for impossible bodies.

    >>> ball = np.array([2.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.1, 0.0, 0.0, 0.1])
    >>> float(divergence(ball, ball).round(12)), float(divergence(2.0 * ball, ball).round(3))
    (0.0, 1.227)
    """
    L = np.linalg.cholesky(pseudo_inertia(prior))
    half = np.linalg.solve(L, pseudo_inertia(parameters))
    S = np.linalg.solve(L, half.swapaxes(-1, -2))
    sizes = np.linalg.eigvalsh(0.5 * (S + S.swapaxes(-1, -2)))
    with np.errstate(divide="ignore", invalid="ignore"):
        distances: Array = np.where((sizes > 0.0).all(axis=-1), (sizes - np.log(sizes) - 1.0).sum(axis=-1), np.inf)
    return distances


class Bodies:
    """The entries of S of n bodies, (10 n,), and their divergence from the prior ones."""

    def __init__(self, prior: Array) -> None:
        """Prior parameters (n, 10), with positive definite pseudo-inertias."""
        L = np.linalg.cholesky(pseudo_inertia(prior))
        J = np.einsum("nij,kjl,nml->nkim", L, _BASIS, L)
        self.maps: Array = (
            np.stack([ten_parameters(x) for x in J.swapaxes(0, 1)], axis=-1) if len(prior) else np.zeros((0, 10, 10))
        )
        """(n, 10, 10): from the entries of S to the parameters."""
        self.start: Array = np.tile(_IDENTITY, len(prior))
        self.count: int = len(prior)

    def terms(self, s: Array) -> tuple[float, Array, Array]:
        """The divergence, and F and r of its gradient Fᵀ r (10 n,) and its Hessian Fᵀ F; infinite outside."""
        S = np.einsum("nk,kij->nij", s.reshape(-1, 10), _BASIS)
        size = 10 * self.count
        try:
            L = np.linalg.cholesky(S)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros((size, size)), np.zeros(size)
        logs = 2.0 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum()
        value = float(np.trace(S, axis1=1, axis2=2).sum() - logs - 4.0 * self.count)
        inverse = np.linalg.inv(S)
        turned = np.einsum("nij,kjl->nkil", inverse, _BASIS)
        gradient = (_TRACES - np.trace(turned, axis1=2, axis2=3)).ravel()
        blocks = np.einsum("nkij,nlji->nkl", turned, turned)
        F = np.zeros((size, size))
        try:
            roots = np.linalg.cholesky(blocks)
        except np.linalg.LinAlgError:  # so close to the edge that rounding takes the Hessian away
            return np.inf, F, np.zeros(size)
        for n, block in enumerate(roots):
            F[10 * n : 10 * n + 10, 10 * n : 10 * n + 10] = block.T
        return value, F, np.linalg.solve(F.T, gradient)


class Numbers:
    """Positive numbers relative to prior ones, (n,), and their divergence."""

    def __init__(self, prior: Array) -> None:
        self.prior = prior
        self.start: Array = np.ones(len(prior))

    def terms(self, x: Array) -> tuple[float, Array, Array]:
        """The divergence at x, and F and r of its derivatives."""
        if (x <= 0.0).any():
            return np.inf, np.zeros((len(x), len(x))), np.zeros(len(x))
        return float((x - np.log(x) - 1.0).sum()), np.diag(1.0 / x), x - 1.0
