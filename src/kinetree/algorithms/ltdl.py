"""H = Lᵀ D L with the sparsity of the tree: factors of the mass matrix (H as in RBDA), and solutions with them.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Tables 6.3 and 6.5, with D separate from L.
Degrees of freedom stand for bodies (the expanded tree of section 6.5): λ(k), λ(λ(k)), … is `H.above(k)`.

For a matrix in blocks (`BlockMatrix`) the same is done block by block: with D_k the block of row k on the diagonal,
factored as a matrix of its own, D_k = L_kᵀ D L_k, the factors have L_k there and L_k⁻ᵀ H_ki in the rest of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.expr import Scalar, dot, slopes_of

__all__ = [
    "block_half",
    "block_ltdl",
    "block_rest",
    "ldu",
    "ltdl",
    "ltdl_half",
    "ltdl_rest",
    "ltdl_solve",
    "solution",
    "symmetric_product",
]


def ltdl(H: Any) -> None:
    """Factor in place: D on the diagonal, and the rows of L without their ones next to it."""
    for k in H.inward:
        inverse = 1.0 / H[k, k]
        for i in H.above(k):
            a = H[k, i] * inverse
            H[i, i] = H[i, i] - a * H[k, i]
            for j in H.above(i):
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


def solution(H: Any, x: Any) -> Any:
    """H⁻¹ x.

    Of a matrix in blocks the derivatives are those of two steps of Newton's method from a constant solution with
    constant factors: each makes one more order exact, and the loops of the factors are not differentiated.
    """
    if not H.is_in_blocks:
        L = H.copy()
        ltdl(L)
        ltdl_solve(L, x)
        return x
    L, y = H.constant(), H.zeros()
    block_ltdl(L)
    for k in H.outward:
        y[k] = slopes_of(x[k], 0.0)
    block_half(L, y)
    block_rest(L, y)
    for _ in range(2):
        before, away, y = y, H.times(y), H.zeros()
        for k in H.outward:
            away[k] = x[k] - away[k]
        block_half(L, away)
        block_rest(L, away)
        for k in H.outward:
            y[k] = slopes_of(before[k], before[k] + away[k])
    return y


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


def block_ltdl(H: Any) -> None:
    """Factor a matrix in blocks in place."""
    for k in H.blocks_inward:
        L = _Square(H.block(k, k))
        ltdl(L)
        H.put(k, k, L.rows)
        H.put_pivots(k, [L[r, r] for r in range(len(L.rows))])
        for i in H.blocks_above(k):
            columns = [list(column) for column in zip(*H.block(k, i), strict=True)]
            for column in columns:
                ltdl_half(L, column)
            H.put(k, i, [*zip(*columns, strict=True)])
        for i in H.blocks_above(k):
            rows = [[x * (1.0 / d) for x in row] for row, d in zip(H.block(k, i), H.pivots(k), strict=True)]
            down = [[-x for x in column] for column in zip(*rows, strict=True)]
            H.add(i, i, symmetric_product(down, H.block(k, i)))
            for j in H.blocks_above(i, of=k):
                H.add(i, j, _products(down, H.block(k, j)), H.kept(k, i) * H.kept(k, j))


def block_half(L: Any, x: Any) -> None:
    """x = L⁻ᵀ x, with the factors of `block_ltdl`."""
    for k in L.blocks_inward:
        own = L.segment(x, k)
        ltdl_half(_Square(L.block(k, k)), own)
        L.put_segment(x, k, own)
        scaled = [a * (1.0 / d) for a, d in zip(own, L.pivots(k), strict=True)]
        for i in L.blocks_above(k):
            columns = zip(*L.block(k, i), strict=True)
            L.put_segment(x, i, [a - dot(column, scaled) for a, column in zip(L.segment(x, i), columns, strict=True)])


def block_rest(L: Any, x: Any) -> None:
    """x = L⁻¹ D⁻¹ x, with the factors of `block_ltdl`."""
    for k in L.blocks_outward:
        for i in L.blocks_above(k):
            above = L.segment(x, i)
            rows = zip(L.segment(x, k), L.block(k, i), strict=True)
            L.put_segment(x, k, [a - dot(row, above) for a, row in rows])
        own = L.segment(x, k)
        ltdl_rest(_Square(L.block(k, k)), own)
        L.put_segment(x, k, own)


class _Square:
    """A matrix whose degrees of freedom carry each other in turn."""

    def __init__(self, rows: Sequence[Sequence[Scalar]]) -> None:
        self.rows = [list(row) for row in rows]
        self.outward = range(len(self.rows))
        self.inward = self.outward[::-1]

    def above(self, k: int) -> range:
        return range(k - 1, -1, -1)

    def __getitem__(self, ki: tuple[int, int]) -> Scalar:
        return self.rows[ki[0]][ki[1]]

    def __setitem__(self, ki: tuple[int, int], x: Scalar) -> None:
        self.rows[ki[0]][ki[1]] = x


def symmetric_product(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """A B, which is known to be symmetric."""
    columns = [*zip(*B, strict=True)]
    lower = [[dot(row, column) for column in columns[: r + 1]] for r, row in enumerate(A)]
    return [[lower[max(r, s)][min(r, s)] for s in range(len(lower))] for r in range(len(lower))]


def _products(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    columns = [*zip(*B, strict=True)]
    return [[dot(row, column) for column in columns] for row in A]
