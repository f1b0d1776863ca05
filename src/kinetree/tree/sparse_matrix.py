"""The mass matrix as a sparse matrix, factored in place in the order of an elimination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

from kinetree.expr import Recorder, Scalar, is_zero
from kinetree.tree.elimination import Elimination
from kinetree.tree.stored_factors import StoredFactors
from kinetree.tree.topology import Topology

__all__ = ["SparseMatrix"]


class SparseMatrix:
    """A symmetric matrix in elimination order: `M[k, i]`, for i = k or above it.

    The factors replace it in place: L without the ones on its diagonal, and D on the diagonal.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[Scalar]],
        elimination: Elimination,
        tree: Topology,
        recorder: Recorder | None = None,
    ) -> None:
        order = elimination.order
        self._rows: list[list[Scalar]] = [[0.0] * len(order)]
        self._rows += [[0.0, *(rows[a][b] for b in order[1:])] for a in order[1:]]
        self._elimination = elimination
        self._tree = tree
        self._recorder = recorder

    def copy(self) -> SparseMatrix:
        """The same entries, to be factored apart from these."""
        other = copy(self)
        other._rows = [list(row) for row in self._rows]
        return other

    @property
    def outward(self) -> range:
        """Each degree of freedom, those above it first."""
        return range(1, len(self._rows))

    @property
    def inward(self) -> range:
        return range(len(self._rows) - 1, 0, -1)

    def above(self, k: int) -> Iterator[int]:
        """λ(k), λ(λ(k)), …"""
        while (k := self._elimination.parent[k]) != 0:
            yield k

    def __getitem__(self, ki: tuple[int, int]) -> Scalar:
        return self._rows[ki[0]][ki[1]]

    def __setitem__(self, ki: tuple[int, int], x: Scalar) -> None:
        self._rows[ki[0]][ki[1]] = x

    def times(self, x: Any) -> Any:
        """The product with one entry per degree of freedom; not for factors."""
        y = self.zeros()
        for k in self.outward:
            y[k] = y[k] + self[k, k] * x[k]
            for i in self.above(k):
                y[k] = y[k] + self[k, i] * x[i]
                y[i] = y[i] + self[k, i] * x[k]
        return y

    def add_square(self, row: Sequence[Scalar], factor: Scalar) -> None:
        """Add factor times m mᵀ, of a row m in the order of v, where the matrix has entries."""
        m = self.column(row)
        for k in self.outward:
            for i in (k, *self.above(k)):
                if not is_zero(m[k]) and not is_zero(m[i]):
                    self[k, i] = self[k, i] + factor * m[k] * m[i]

    def before(self, k: int) -> range:
        """1 … k."""
        return range(1, k + 1)

    def zeros(self) -> Any:
        """One zero per degree of freedom."""
        return [0.0] * len(self._rows)

    def result(self) -> _Dense:
        """A full matrix to return: entries (k, i) and (i, k) are set together."""
        return _Dense(self._elimination)

    def vector(self, pieces: Sequence[Sequence[Scalar]]) -> Any:
        """Joint forces, given in one piece per slot, as one entry per degree of freedom."""
        return self.column(self._tree.joined(pieces[1:], "forces"))

    def column(self, x: Sequence[Scalar], factor: Scalar = 1.0) -> Any:
        """A factor times a row of joint forces in the order of v, as one entry per degree of freedom."""
        eliminated = [x[place] for place in self._elimination.order[1:]]
        return self.vector_of(eliminated if factor == 1.0 else [x_k * factor for x_k in eliminated])

    def vector_of(self, x: Sequence[Scalar]) -> Any:
        """Numbers in elimination order, as one entry per degree of freedom."""
        return [0.0, *x]

    def numbers(self, x: Sequence[Scalar]) -> list[Scalar]:
        """The inverse of `vector_of`."""
        return [*x[1:]]

    def as_in_v(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Convert numbers from elimination order to the order of v."""
        return self._elimination.as_in_v(x)

    def diagonal(self) -> list[Scalar]:
        """The numbers on the diagonal, in elimination order."""
        return [self[k, k] for k in self.outward]

    def stored(self) -> StoredFactors | None:
        """The factors in memory of a trace, if one is active and linear algebra is done in its loops."""
        if self._recorder is None:
            return None
        L = [{i - 1: self[k, i] for i in self.above(k)} for k in self.outward]
        order = self._elimination.order[1:]
        return StoredFactors(self._recorder, order, L, [1.0 / self[k, k] for k in self.outward])

    def pieces(self, x: Sequence[Scalar]) -> Any:
        """Accelerations with one entry per degree of freedom, as pieces from slot 1 on."""
        return self._tree.split(self.as_in_v(self.numbers(x)), "nv")[1:]

    def factors(self) -> list[Scalar]:
        """L, row by row, with the ones, and D after it."""
        numbers: list[Scalar] = []
        for k in self.outward:
            row: list[Scalar] = [0.0] * self._elimination.n
            for i in self.above(k):
                row[i - 1] = self[k, i]
            row[k - 1] = 1.0
            numbers += row
        return numbers + [self[k, k] for k in self.outward]


class _Dense(dict[tuple[int, int], Scalar]):
    """A symmetric matrix, by its entries."""

    def __init__(self, elimination: Elimination) -> None:
        self._order = elimination.order

    def flat(self) -> list[Scalar]:
        """Row by row, in the order of v."""
        n = len(self._order) - 1
        numbers: list[Scalar] = [0.0] * (n * n)
        for (k, i), x in self.items():
            a, b = self._order[k], self._order[i]
            numbers[a * n + b] = numbers[b * n + a] = x
        return numbers
