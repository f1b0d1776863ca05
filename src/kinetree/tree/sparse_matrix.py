"""The mass matrix as a sparse matrix, factored in place in the order of an elimination.

Solves many columns by factors whose zeros are known, in loops of the program.

M = Lᵀ D L. The rows of L have an order of their own, each parent before its children, with an entry for every joint
that carries a row's joint. A zero of a column is known if it is the constant; columns that are zero in the same rows
are solved in one loop, whose body is written out.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 6.5.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from kinetree.expr import Index, Memory, Range, Recorder, Scalar, Walk, absolute, equal, is_zero
from kinetree.records import record
from kinetree.tree.elimination import Elimination
from kinetree.tree.topology import Topology

__all__ = ["SparseMatrix", "StoredFactors", "StoredMatrix"]

_STORED_FROM = 40
"""Degrees of freedom from which on a matrix that changes in every iteration is in memory."""


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

    def zeros_like(self) -> SparseMatrix:
        """A matrix of zeros in the same order."""
        other = copy(self)
        other._rows = [[0.0] * len(row) for row in self._rows]
        return other

    def every_above(self, k: int) -> Iterator[int]:
        """λ(k), λ(λ(k)), …"""
        return self.above(k)

    @property
    def outward(self) -> range:
        """Each degree of freedom, those above it first."""
        return range(1, len(self._rows))

    @property
    def inward(self) -> range:
        return range(len(self._rows) - 1, 0, -1)

    def above(self, k: int, of: int | None = None) -> Iterator[int]:  # noqa: ARG002
        """λ(k), λ(λ(k)), …; `of`: the row whose entries are asked for, where that is not k."""
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

    @property
    def places(self) -> Sequence[int]:
        """The places in v of the degrees of freedom, in elimination order."""
        return self._elimination.order[1:]

    def entries(self, row: Sequence[Scalar]) -> list[tuple[int, Scalar]]:
        """The entries of a row in the order of v that are not always zero, with their places in elimination order."""
        return _entries(self._elimination, row)

    def total(self, term: Callable[[Any], Scalar], start: Scalar = 0.0) -> Scalar:
        """A sum with the terms of all degrees of freedom, by their places in elimination order."""
        for k in self.outward:
            start = start + term(k)
        return start

    @property
    def has_counters(self) -> bool:
        """Whether the counters of a trace's loops are indices: not that there are none."""
        return self._recorder is None

    def in_memory(self) -> Any:
        """The same in the memory of a trace, if there is one and the matrix is large."""
        if self._recorder is None or self._elimination.n < _STORED_FROM:
            return self
        return StoredMatrix.of(self, self._recorder, self._elimination, self._tree)

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


class StoredMatrix:
    """The same in memory: k and i are numbers or the counters of loops.

    The degrees of freedom of a joint are a run of neighbours. What is zero in a row for a whole run takes no work.
    """

    def __init__(self, recorder: Recorder, elimination: Elimination, first: Sequence[int]) -> None:
        """`first`: for each degree of freedom the first one of its run."""
        n = elimination.n
        self._recorder = recorder
        self._elimination = elimination
        self._n = n
        self._first = first
        self._memory = recorder.array("sparse", n**2, is_scratch=True)
        self._sizes = recorder.array("sizes", n**2, is_scratch=True)
        """Sums of magnitudes, by row and run."""
        self._is_sized = False

    @staticmethod
    def of(M: SparseMatrix, recorder: Recorder, elimination: Elimination, tree: Topology) -> StoredMatrix:
        """The same matrix."""
        order, parent = elimination.order, elimination.parent
        slot = [bisect_right(tree.v_starts, place) for place in order]
        first = [*range(elimination.n + 1)]
        for k in range(2, len(first)):
            if parent[k] == k - 1 and slot[k] == slot[k - 1]:
                first[k] = first[k - 1]
        stored = StoredMatrix(recorder, elimination, first)
        for row in stored.outward:
            for column in stored.every_above(row):
                stored[row, column] = 0.0
        for k in M.outward:
            for i in (k, *M.above(k)):
                if not is_zero(M[k, i]):
                    stored[k, i] = M[k, i]
        for row in stored.outward:
            stored._size(row)
        stored._is_sized = True
        return stored

    def copy(self) -> StoredMatrix:
        """The same entries, to be factored apart from these."""
        other = StoredMatrix(self._recorder, self._elimination, self._first)
        for k in self.outward:
            other[k, k] = self[k, k]
            for i in self.every_above(k):
                other[k, i] = self[k, i]
        return other

    def zeros_like(self) -> StoredMatrix:
        """A matrix in the same order, each of whose entries is to be set."""
        return StoredMatrix(self._recorder, self._elimination, self._first)

    @property
    def outward(self) -> Iterator[Index]:
        """Each degree of freedom, those above it first."""
        return self._memory.rounds(1, self._n + 1)

    @property
    def inward(self) -> Iterator[Index]:
        """The same in reverse. The first time, when it is factored, it is noted where rows are zero."""
        for k in self._memory.rounds(self._n, 0, -1):
            if not self._is_sized:
                self._size(k)
            yield k
        self._is_sized = True

    def above(self, k: Index, of: Index | None = None) -> Iterator[Index]:
        """λ(k), λ(λ(k)), …, without runs where row k is zero, or the row `of`."""
        for run in self._runs(k):
            with self._recorder.left_out(equal(self._sizes[self._at(k if of is None else of, self._start(run))], 0.0)):
                yield from self._memory.rounds(run, self._start(run) - 1, -1)

    def _size(self, k: Index) -> None:
        """Note in which runs row k is zero."""
        for run in self._runs(k):
            (size,) = self._recorder.fold(
                Range(run, self._start(run) - 1, -1), [0.0], lambda i, sums: [sums[0] + absolute(self[k, i])]
            )
            self._sizes[self._at(k, self._start(run))] = size

    def _runs(self, k: Index) -> Iterator[Index]:
        """The last degree of freedom of each run above k."""
        parent = self._elimination.parent
        following = self._recorder.table([parent[i] for i in self._first])
        with self._recorder.loop(Walk(self._recorder.look_up(parent, k, 1), following)) as run:
            yield run

    def _start(self, run: Index) -> Index:
        return self._recorder.look_up(self._first, run, 1)

    def every_above(self, k: Index) -> Iterator[Index]:
        """λ(k), λ(λ(k)), …"""
        parent = self._elimination.parent
        with self._recorder.loop(Walk(self._recorder.look_up(parent, k, 1), self._recorder.table(parent))) as i:
            yield i

    def __getitem__(self, ki: tuple[Any, Any]) -> Scalar:
        return self._memory[self._at(*ki)]

    def __setitem__(self, ki: tuple[Any, Any], x: Scalar) -> None:
        self._memory[self._at(*ki)] = x

    def _at(self, k: Any, i: Any) -> Any:
        return k * self._n + i - (self._n + 1)

    def times(self, x: Any) -> Any:
        """The product with one entry per degree of freedom; not for factors."""
        y = self.zeros()
        for k in self.outward:
            y[k] = y[k] + self[k, k] * x[k]
            for i in self.above(k):
                y[k] = y[k] + self[k, i] * x[i]
                y[i] = y[i] + self[k, i] * x[k]
        return y

    @property
    def has_counters(self) -> bool:
        """Whether the counters of loops are indices."""
        return True

    def total(self, term: Callable[[Any], Scalar], start: Scalar = 0.0) -> Scalar:
        """A sum with the terms of all degrees of freedom, by their places in elimination order."""
        over = Range(Index(1), Index(self._n + 1))
        (found,) = self._recorder.fold(over, [start], lambda k, sums: [sums[0] + term(k)])
        return found

    def zeros(self) -> Memory:
        """One zero per degree of freedom."""
        memory = self._recorder.array("row", self._n + 1, is_scratch=True)
        for k in self.outward:
            memory[k] = 0.0
        return memory

    def column(self, x: Sequence[Scalar]) -> Memory:
        """A row in the order of v, as one entry per degree of freedom."""
        return self.vector_of([x[place] for place in self._elimination.order[1:]])

    def vector_of(self, x: Sequence[Scalar]) -> Memory:
        """Numbers in elimination order, as one entry per degree of freedom."""
        memory = self._recorder.array("row", self._n + 1, is_scratch=True)
        for k, x_k in enumerate(x, 1):
            memory[k] = x_k
        return memory

    def numbers(self, x: Memory) -> list[Scalar]:
        """The inverse of `vector_of`."""
        return [x[k] for k in range(1, self._n + 1)]

    def as_in_v(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Convert numbers from elimination order to the order of v."""
        return self._elimination.as_in_v(x)

    @property
    def places(self) -> Sequence[int]:
        """The places in v of the degrees of freedom, in elimination order."""
        return self._elimination.order[1:]

    def entries(self, row: Sequence[Scalar]) -> list[tuple[int, Scalar]]:
        """The entries of a row in the order of v that are not always zero, with their places in elimination order."""
        return _entries(self._elimination, row)


def _entries(elimination: Elimination, row: Sequence[Scalar]) -> list[tuple[int, Scalar]]:
    return [(k, row[place]) for k, place in enumerate(elimination.order) if k and not is_zero(row[place])]


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
