"""In which order the degrees of freedom are eliminated from the mass matrix, and which entries that can fill.

The elimination tree of a symmetric matrix (Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix
Anal. 11, 1990). Where joints share no coordinates and parents come before their children it is the expanded tree of
the robot (RBDA section 6.5), and nothing is filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinetree.expr import Recorder, Scalar, StoredFactors

if TYPE_CHECKING:
    from kinetree.model.tree import Tree

__all__ = ["Elimination", "SparseMatrix", "elimination"]


@dataclass(frozen=True, slots=True)
class Elimination:
    """Degrees of freedom are numbered 1 … n here, and eliminated from the last to the first."""

    order: tuple[int, ...]
    """order[k] is the place of number k in v; order[0] is never read."""
    parent: tuple[int, ...]
    """λ(k) < k, or 0. Where row k of the factor is not zero to its left is among λ(k), λ(λ(k)), …"""

    @property
    def n(self) -> int:
        return len(self.order) - 1

    def as_in_v(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Numbers in the order of the elimination, put in the order of v."""
        result: list[Scalar] = [0.0] * self.n
        for place, x_k in zip(self.order[1:], x, strict=True):
            result[place] = x_k
        return result


def elimination(tree: Tree, *, as_numbered: bool = False) -> Elimination:
    """Tips first, which fills nothing where joints share no coordinates; or in the reverse order of v."""
    below, order = _pattern(tree)
    if as_numbered:
        order = sorted(order)
    number = {place: k for k, place in enumerate(order, 1)}
    row: list[set[int]] = [set() for _ in range(len(order) + 1)]
    for a, others in enumerate(below):
        for b in others:
            k, i = number[a], number[b]
            row[max(k, i)].add(min(k, i))
    parent = [0] * len(row)
    for k in reversed(range(1, len(row))):
        row[k].discard(k)
        if row[k]:
            parent[k] = max(row[k])
            row[parent[k]] |= row[k]
    return Elimination((0, *order), tuple(parent))


def _pattern(tree: Tree) -> tuple[list[set[int]], list[int]]:
    """Which degrees of freedom each shares an entry of H with, met on the way to the root; and all, root first."""
    starts, shared = tree.v_starts, tree.coordinates
    n = starts[-1] if shared is None else shared.nv

    def places(i: int) -> list[int]:
        own = range(starts[i], starts[i + 1])
        return [*own] if shared is None else sorted({place for k in own for place, _ in shared.v_rows[k]})

    below: list[set[int]] = [set() for _ in range(n)]
    order: dict[int, None] = {}
    for i, _ in tree.outward:
        own = places(i)
        order.update(dict.fromkeys(own))
        above = [b for j, _ in tree.toward_root(i) for b in places(j)]
        for a in own:
            below[a].update(above)
    return below, list(order)


class SparseMatrix:
    """A symmetric matrix in the order of an elimination: `H[k, i]`, for i = k or above it.

    The factors take its place: L, without the ones on its diagonal, and D there.
    """

    def __init__(self, rows: Sequence[Sequence[Scalar]], elimination: Elimination, tree: Tree) -> None:
        order = elimination.order
        self._rows: list[list[Scalar]] = [[0.0] * len(order)]
        self._rows += [[0.0, *(rows[a][b] for b in order[1:])] for a in order[1:]]
        self._elimination = elimination
        self._tree = tree

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

    def before(self, k: int) -> range:
        """1 … k."""
        return range(1, k + 1)

    def zeros(self) -> Any:
        """A place a degree of freedom."""
        return [0.0] * len(self._rows)

    def result(self) -> _Dense:
        """A full matrix, to be returned: entries (k, i) and (i, k) are set alike."""
        return _Dense(self._elimination)

    def vector(self, pieces: Sequence[Sequence[Scalar]]) -> Any:
        """Joint forces, which come a piece a slot, with a place a degree of freedom."""
        return self.column(self._tree.joined(pieces[1:], "forces"))

    def column(self, x: Sequence[Scalar], factor: Scalar = 1.0) -> Any:
        """A factor times a row of joint forces in the order of v, with a place a degree of freedom."""
        eliminated = [x[place] for place in self._elimination.order[1:]]
        return self.vector_of(eliminated if factor == 1.0 else [x_k * factor for x_k in eliminated])

    def vector_of(self, x: Sequence[Scalar]) -> Any:
        """Numbers in the order of the elimination, with a place a degree of freedom."""
        return [0.0, *x]

    def numbers(self, x: Sequence[Scalar]) -> list[Scalar]:
        """The opposite of `vector_of`."""
        return [*x[1:]]

    def as_in_v(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Numbers in the order of the elimination, put in the order of v."""
        return self._elimination.as_in_v(x)

    def diagonal(self) -> list[Scalar]:
        """The numbers on the diagonal, in the order of the elimination."""
        return [self[k, k] for k in self.outward]

    def stored(self, recorder: Recorder) -> StoredFactors:
        """The factors in memory of a trace."""
        L = [{i - 1: self[k, i] for i in self.above(k)} for k in self.outward]
        order = self._elimination.order[1:]
        return StoredFactors(recorder, order, L, [1.0 / self[k, k] for k in self.outward])

    def pieces(self, x: Sequence[Scalar]) -> Any:
        """Accelerations with a place a degree of freedom, as pieces from slot 1 on."""
        return self._tree.split(self.as_in_v(self.numbers(x)), "nv")[1:]

    def factors(self) -> list[Scalar]:
        """L, row by row, with the ones, and D below it."""
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
