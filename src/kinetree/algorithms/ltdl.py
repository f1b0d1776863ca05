"""H = Lᵀ D L with the sparsity of the tree: factors of the mass matrix (H as in RBDA), and solutions with them.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Tables 6.3 and 6.5, with D separate from L.
Degrees of freedom stand for bodies (the expanded tree of section 6.5): λ(k), λ(λ(k)), … is `H.above(k)`, and
`H.above(i, of=k)` are those above i where row k has entries.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ldu", "ltdl", "ltdl_half", "ltdl_rest", "ltdl_solve"]


def ltdl(H: Any) -> None:
    """Factor in place: D on the diagonal, and the rows of L without their ones next to it."""
    for k in H.inward:
        inverse = 1.0 / H[k, k]
        for i in H.above(k):
            a = H[k, i] * inverse
            H[i, i] = H[i, i] - a * H[k, i]
            for j in H.above(i, of=k):
                H[i, j] = H[i, j] - a * H[k, j]
            H[k, i] = a


def ldu(H: Any, U: Any) -> None:
    """The same for a matrix that is not symmetric: `H[k, i]` holds its rows, and `U[k, i]` its columns, i above k.

    H⁻¹ x is then `ltdl_half` with the factors in U and `ltdl_rest` with those in H.
    """
    for k in H.inward:
        inverse = 1.0 / H[k, k]
        for i in H.above(k):
            a, b = H[k, i] * inverse, U[k, i] * inverse
            H[i, i] = H[i, i] - b * H[k, i]
            for j in H.above(i):
                H[i, j] = H[i, j] - b * H[k, j]
                U[i, j] = U[i, j] - a * U[k, j]
            H[k, i], U[k, i] = a, b


def ltdl_solve(L: Any, x: Any) -> None:
    """x = H⁻¹ x in place, with the factors of H."""
    ltdl_half(L, x)
    ltdl_rest(L, x)


def ltdl_half(L: Any, x: Any) -> None:
    """x = L⁻ᵀ x."""
    for k in L.inward:
        for i in L.above(k):
            x[i] = x[i] - L[k, i] * x[k]


def ltdl_rest(L: Any, x: Any) -> None:
    """x = L⁻¹ D⁻¹ x."""
    for k in L.outward:
        x[k] = x[k] * (1.0 / L[k, k])
        for i in L.above(k):
            x[k] = x[k] - L[k, i] * x[i]
