"""The mass matrix as a sparse matrix, factored in place in the order of an elimination.

Solves many columns by factors whose zeros are known, in loops of the program.

M = Lᵀ D L. The rows of L have an order of their own, each parent before its children, with an entry for every joint
that carries a row's joint. A zero of a column is known if it is the constant; columns that are zero in the same rows
are solved in one loop, whose body is written out.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 6.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from kinetree.expr import Index, Memory, Range, Recorder, Scalar, is_zero
from kinetree.records import record
from kinetree.tree.elimination import Elimination
from kinetree.tree.topology import Topology

__all__ = ["SparseMatrix", "StoredFactors"]


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


_ALIKE = 2
"""Columns whose zeros differ in at most this many rows are solved in one loop."""


@record(frozen=True, slots=True)
class _Group:
    """Neighbouring columns that are solved in one loop: from `first` up to, but not including, `end`."""

    first: int
    end: int
    rows: frozenset[int]
    """The rows, as the factors number them, in which they may be nonzero."""


class StoredFactors:
    """Factors in memory, with which loops of the program solve one column after the other."""

    def __init__(
        self,
        recorder: Recorder,
        order: Sequence[int],
        L: Sequence[dict[int, Scalar]],
        inverse_D: Sequence[Scalar],
    ) -> None:
        self._recorder = recorder
        self._order = order
        self._n = len(order)
        self._number: dict[tuple[int, int], int] = {}
        for k, row in enumerate(L):
            for s in row:
                self._number[k, s] = len(self._number)
        self._below = [list(row) for row in L]
        self._L = recorder.array("L", max(len(self._number), 1))
        self._inverse_D = recorder.array("inverse_D", self._n)
        for (k, s), place in self._number.items():
            self._L[place] = L[k][s]
        for k, x in enumerate(inverse_D):
            self._inverse_D[k] = x

    def write(
        self, matrices: Sequence[Sequence[Sequence[Scalar]]], less: Sequence[Mapping[tuple[int, int], Scalar]]
    ) -> None:
        """Write M⁻¹ B - A into the result for each matrix B and its A, given by place, and then M⁻¹, row by row."""
        (output,) = self._recorder.outputs
        self.solve(matrices, output)
        for m, places in enumerate(less):
            for (i, j), x in places.items():
                at = (m * self._n + i) * self._n + j
                output[at] = output[at] - x
        self.invert(output, len(matrices) * self._n**2)

    def solve(self, matrices: Sequence[Sequence[Sequence[Scalar]]], target: Memory) -> None:
        """Store M⁻¹ B for each matrix B, given by its rows, in the target, one after the other, row by row."""
        n = self._n
        for m, rows in enumerate(matrices):
            for i, row in enumerate(rows):
                for j, x in enumerate(row):
                    if not is_zero(x):
                        target[(m * n + i) * n + j] = x
        for m, rows in enumerate(matrices):
            columns = zip(*rows, strict=True)
            for group in self._groups({r for r, i in enumerate(self._order) if not is_zero(c[i])} for c in columns):
                with self._recorder.loop(Range(Index(group.first), Index(group.end))) as column:
                    at = [column + (m * n + i) * n for i in self._order]
                    given = [target[place] if r in group.rows else 0.0 for r, place in enumerate(at)]
                    for place, value in zip(at, self._solved(given), strict=True):
                        target[place] = value

    def invert(self, target: Memory, first: int) -> None:
        """Store M⁻¹ in the target, row by row."""
        n, order = self._n, self._order
        unit = self._recorder.array("unit", 2 * n - 1, [float(k == n - 1) for k in range(2 * n - 1)])
        place = {i: r for r, i in enumerate(order)}
        # A unit force acts on everything that carries its joint, all of which is in its row of L.
        for group in self._groups({place[j], *self._below[place[j]]} for j in range(n)):
            last = max(place[j] for j in range(group.first, group.end))
            with self._recorder.loop(Range(Index(group.first), Index(group.end))) as j:
                x = [unit[j + (n - 1 - i)] if r in group.rows else 0.0 for r, i in enumerate(order)]
                for i, value in zip(order, self._solved(x, last + 1), strict=False):
                    target[j + (first + i * n)] = value
                    target[j * n + (first + i)] = value

    def _groups(self, supports: Iterable[set[int]]) -> list[_Group]:
        groups: list[_Group] = []
        for j, rows in enumerate(supports):
            last = groups[-1] if groups else None
            if not rows:
                continue
            if last is not None and last.end == j and len(last.rows ^ rows) <= _ALIKE:
                groups[-1] = _Group(last.first, j + 1, last.rows | rows)
            else:
                groups.append(_Group(j, j + 1, frozenset(rows)))
        return groups

    def _solved(self, x: list[Scalar], rows: int | None = None) -> list[Scalar]:
        """Solve in place, in the factors' own order; return the first `rows` of it."""
        for k in reversed(range(self._n)):
            if not is_zero(x[k]):
                for s in self._below[k]:
                    x[s] = x[s] - self._L[self._number[k, s]] * x[k]
        del x[self._n if rows is None else rows :]
        for k in range(len(x)):
            x[k] = x[k] if is_zero(x[k]) else x[k] * self._inverse_D[k]
            for s in self._below[k]:
                x[k] = x[k] - self._L[self._number[k, s]] * x[s]
        return x
