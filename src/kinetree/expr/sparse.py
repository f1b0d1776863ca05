"""Many columns solved by factors whose zeros are known, in loops of the program.

H = Lᵀ D L; L has rows of its own order, each parent before its children, and an entry for all that carries a row's
joint. A zero of a column is known if it is the
constant; columns that are zero in the same rows are solved in one loop, whose body is written out.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 6.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kinetree.expr.program import Index, Range
from kinetree.expr.recording import Memory, Recorder
from kinetree.expr.symbol import Scalar

__all__ = ["StoredFactors", "is_zero"]

_ALIKE = 2
"""Columns whose zeros differ in no more rows than this are solved in one loop."""


def is_zero(x: Scalar) -> bool:
    """Whether this is the constant zero."""
    return isinstance(x, float) and x == 0.0


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring columns that are solved in one loop: from `first` to before `end`."""

    first: int
    end: int
    rows: frozenset[int]
    """Where they may be other than zero, as the factors number rows."""


class StoredFactors:
    """Factors in memory, by which loops of the program solve one column after the other."""

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

    def solve(self, matrices: Sequence[Sequence[Sequence[Scalar]]], target: Memory) -> None:
        """H⁻¹ M for each matrix M, given by its rows, into the target one after the other, row by row."""
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
        """H⁻¹ into the target, row by row."""
        n, order = self._n, self._order
        unit = self._recorder.array("unit", 2 * n - 1, [float(k == n - 1) for k in range(2 * n - 1)])
        place = {i: r for r, i in enumerate(order)}
        # A unit force is felt by what carries its joint, all of which is in its row of L.
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
        """In the factors' own order, in place; the first rows of it."""
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
