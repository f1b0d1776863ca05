"""Solves many columns by factors whose zeros are known, in loops of the program.

M = Lᵀ D L. The rows of L have an order of their own, each parent before its children, with an entry for every joint
that carries a row's joint. A zero of a column is known if it is the constant; columns that are zero in the same rows
are solved in one loop, whose body is written out.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 6.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinetree.expr import Index, Memory, Range, Recorder, Scalar, is_zero
from kinetree.records import record

__all__ = ["StoredFactors"]

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
