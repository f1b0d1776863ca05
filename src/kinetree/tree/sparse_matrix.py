"""The mass matrix as a sparse matrix, factored in place in the order of an elimination.

Solves many columns by factors whose zeros are known, in loops of the program.

M = Lᵀ D L. The rows of L have an order of their own, each parent before its children, with an entry for every joint
that carries a row's joint. A zero of a column is known if it is the constant; columns that are zero in the same rows
are solved in one loop, whose body is written out.

Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), Table 6.5.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

from kinetree.expr import (
    Grid,
    Index,
    Memory,
    Range,
    Recorder,
    Scalar,
    dot,
    is_zero,
    maximum,
    select,
    slopes_of,
    unless,
)
from kinetree.records import record
from kinetree.tree.elimination import WIDTH, Chains, Elimination, chains
from kinetree.tree.topology import Topology

__all__ = ["BlockLayout", "BlockMatrix", "SparseMatrix", "StoredFactors"]

_BLOCKS_FROM = 40
"""Degrees of freedom from which on a matrix that changes in every iteration is factored in loops over blocks."""


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

    @cached_property
    def _layout(self) -> BlockLayout:
        """The layout of the same elimination, by rows of `chains`."""
        rows, order = chains(self._tree), self._elimination
        parent = [0] * (rows.count + 1)
        for k, above in enumerate(order.parent[1:], 1):
            row, r = divmod(rows.place[order.order[k]], WIDTH)
            if r == 0 and above:
                parent[row] = rows.place[order.order[above]] // WIDTH
        return BlockLayout(rows, parent)

    is_in_blocks = False

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

    def constant(self) -> SparseMatrix:
        """The same entries without their derivatives."""
        other = self.copy()
        other._rows = [[slopes_of(x, 0.0) for x in row] for row in self._rows]
        return other

    def pivot(self, k: int) -> Scalar:
        """The number of D, of factors."""
        return self[k, k]

    def times(self, x: Any) -> Any:
        """The product with one entry per degree of freedom; not for factors."""
        y = self.zeros()
        for k in self.outward:
            y[k] = y[k] + self[k, k] * x[k]
            for i in self.above(k):
                y[k] = y[k] + self[k, i] * x[i]
                y[i] = y[i] + self[k, i] * x[k]
        return y

    def entries(self, row: Sequence[Scalar]) -> list[tuple[int, Scalar]]:
        """The entries of a row in the order of v that are not always zero, with their places in elimination order."""
        return _entries(self._elimination, row)

    def total(self, term: Callable[[Any], Scalar], start: Scalar = 0.0) -> Scalar:
        """A sum with the terms of all degrees of freedom, by their places in elimination order."""
        for k in self.outward:
            start = start + term(k)
        return start

    def in_blocks(self, coupled: Iterable[Sequence[int]]) -> SparseMatrix | BlockMatrix:
        """The same in blocks of six, if it is large; entries between `coupled` degrees of freedom can be set."""
        if self._elimination.n < _BLOCKS_FROM:
            return self
        return BlockMatrix.of(self, self._layout, self._recorder, coupled)

    def place(self, k: int) -> int:
        """The place of a degree of freedom in the rows of `chains`."""
        return self._layout.rows.place[self._elimination.order[k]]

    def block_zeros(self) -> BlockMatrix:
        """Zeros in blocks of six, to be added."""
        return BlockMatrix(self._layout, self._recorder)

    def add_blocks(self, other: BlockMatrix) -> None:
        """Add a matrix in blocks."""
        for k in self.outward:
            for i in (k, *self.above(k)):
                self[k, i] = self[k, i] + other.entry(self.place(k), self.place(i))

    def add_entries(self, pairs: Sequence[tuple[int, int]], numbers: Grid) -> None:
        """Add a number to the entry of each pair of degrees of freedom, by their places in v."""
        for n, (k, i) in enumerate(_in_order(self._elimination, pairs)):
            self[k, i] = self[k, i] + numbers[n, 0]

    def add_diagonal(self, x: Sequence[Scalar]) -> None:
        """Add one number per degree of freedom to the diagonal."""
        for k in self.outward:
            self[k, k] = self[k, k] + x[k]

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

    def in_v(self, x: Sequence[Scalar]) -> list[Scalar]:
        """One entry per degree of freedom, in the order of v."""
        return self._elimination.as_in_v(self.numbers(x))

    def left(self, x: Sequence[Scalar], _before: Any, _where: Scalar | None = None) -> list[Scalar]:
        """Numbers that an iteration leaves to the next: one entry per degree of freedom."""
        return self.numbers(x)

    def taken(self, numbers: Iterator[Scalar], _before: Any) -> Any:
        """The inverse of `left`."""
        return self.vector_of([next(numbers) for _ in self.outward])

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
        return self._tree.split(self.in_v(x), "nv")[1:]

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


class BlockMatrix:
    """The same in blocks, in loops over blocks: any number of bodies takes the statements of one.

    Blocks are those of the rows of `Chains`, and degrees of freedom are numbered by their places in these; empty places
    have ones on the diagonal. A block off the diagonal that is zero in all samples that are computed together is not
    kept, and takes no work; if some of them have it, the others have zeros in it.
    """

    def __init__(self, layout: BlockLayout, recorder: Recorder | None, *, is_rolled: bool = False) -> None:
        """`is_rolled`: whether rows in the order of v are in memory, too."""
        self._layout = layout
        self._recorder = recorder
        self._is_rolled = is_rolled
        self._numbers = self._grid(layout.size * WIDTH, WIDTH)
        self._kept = self._grid(layout.size, 1)
        """1.0 where a block is kept."""
        self._pivots = self._row()
        """D, of factors."""
        self._is_left_out: Callable[[Any], Scalar] | None = None

    @staticmethod
    def of(
        M: SparseMatrix, layout: BlockLayout, recorder: Recorder | None, coupled: Iterable[Sequence[int]]
    ) -> BlockMatrix:
        """The same matrix; `coupled` as for `SparseMatrix.in_blocks`."""
        made = BlockMatrix(layout, recorder)
        entries = {(k, i): M[k, i] for k in M.outward for i in (k, *M.above(k)) if i == k or not is_zero(M[k, i])}
        for row in coupled:
            entries = {**{(k, i): 0.0 for n, k in enumerate(row) for i in row[: n + 1]}, **entries}
        blocks: dict[tuple[int, int], list[list[Scalar]]] = {
            (k, k): [[float(r == s) for s in range(WIDTH)] for r in range(WIDTH)] for k in range(1, layout.blocks + 1)
        }
        for (k, i), x in entries.items():
            (a, r), (b, s) = (divmod(M.place(n), WIDTH) for n in (k, i))
            block = blocks.setdefault((a, b), [[0.0] * WIDTH for _ in range(WIDTH)])
            block[r][s] = x
            if a == b:
                block[s][r] = x
        for k in made.blocks_outward:
            for i in made._every_above(k):
                made._kept[layout.at(made._kept, k, i), 0] = 0.0
        for (k, i), block in blocks.items():
            made.put(k, i, block)
            if k != i:
                made._kept[layout.at(made._kept, k, i), 0] = 1.0
        return made

    is_in_blocks = True

    def in_blocks(self, _coupled: Iterable[Sequence[int]]) -> BlockMatrix:
        """It is already in blocks."""
        return self

    def without_rows(self, are_left_out: Callable[[Any], Scalar]) -> BlockMatrix:
        """The same matrix, where no work is done for block row k if are_left_out(k) is 1.0.

        Nothing else has entries there then, and the vectors multiplied or solved are zero there.
        """
        other = copy(self)
        other._is_left_out = are_left_out
        return other

    def begin(self) -> None:
        """Set all entries between degrees of freedom to zero, and keep the blocks of those that carry each other."""
        carried = self._layout.carried()
        for k in self.blocks_outward:
            self.put(k, k, [[float(r == s) for s in range(WIDTH)] for r in range(WIDTH)])
            for i in self._every_above(k):
                at = self._layout.at(self._kept, k, i)
                self._kept[at, 0] = kept = self._kept.constant(carried, at)
                for _ in self._kept.left_out(1.0 - kept):
                    self.put(k, i, [[0.0] * WIDTH] * WIDTH)

    def put_part(self, row: Any, column: Any, part: Sequence[Sequence[Scalar]]) -> None:
        """Replace entries from a row of the memory (`BlockLayout.row`) and a column of it on."""
        for r, numbers in enumerate(part):
            for s, x in enumerate(numbers):
                self._numbers[row + r, column + s] = x

    def mirror(self) -> None:
        """Copy the lower triangles of blocks on the diagonal to the upper ones."""
        for k in self.blocks_outward:
            block = self.block(k, k)
            self.put(k, k, [[block[max(r, s)][min(r, s)] for s in range(WIDTH)] for r in range(WIDTH)])

    def copy(self) -> BlockMatrix:
        """The same entries, to be changed apart from these."""
        return self._mapped(lambda x: x)

    def constant(self) -> BlockMatrix:
        """The same entries without their derivatives."""
        return self._mapped(lambda x: slopes_of(x, 0.0))

    def _mapped(self, of: Callable[[Scalar], Scalar]) -> BlockMatrix:
        made = BlockMatrix(self._layout, self._recorder, is_rolled=self._is_rolled)
        made._is_left_out = self._is_left_out
        for k in self.blocks_outward:
            made.put(k, k, [[of(x) for x in row] for row in self.block(k, k)])
            for i in self._every_above(k):
                at = self._layout.at(self._kept, k, i)
                kept = self._kept[at, 0]
                made._kept[at, 0] = kept
                for _ in self._kept.left_out(1.0 - kept):
                    made.put(k, i, [[of(x) for x in row] for row in self.block(k, i)])
        return made

    def clear(self) -> None:
        """Set all entries to zero."""
        for k in self.blocks_outward:
            self.put(k, k, [[0.0] * WIDTH] * WIDTH)
            for i in self._every_above(k):
                self._kept[self._layout.at(self._kept, k, i), 0] = 0.0

    @property
    def blocks_outward(self) -> Iterator[Any]:
        """Each block of rows, those above it first."""
        return self._each(1, self._layout.blocks + 1)

    @property
    def blocks_inward(self) -> Iterator[Any]:
        return self._each(self._layout.blocks, 0)

    def _each(self, start: int, stop: int) -> Iterator[Any]:
        if self._is_left_out is None:
            yield from self._numbers.rounds(start, stop)
            return
        for k in self._numbers.rounds(start, stop):
            for _ in self._numbers.left_out(self._is_left_out(k)):
                yield k

    def blocks_above(self, k: Any, of: Any = None) -> Iterator[Any]:
        """λ(k), λ(λ(k)), … of blocks, where block row k, or block row `of`, is not zero."""
        for i in self._every_above(k):
            kept = self._kept[self._layout.at(self._kept, k if of is None else of, i), 0]
            for _ in self._kept.left_out(1.0 - kept):
                yield i

    def _every_above(self, k: Any) -> Iterator[Any]:
        return self._numbers.walk(self._layout.parent, k)

    def block(self, k: Any, i: Any) -> list[list[Scalar]]:
        """The numbers of a block that is kept in some sample."""
        first = self._layout.at(self._numbers, k, i, WIDTH)
        return [self._numbers.row(first + r, range(WIDTH)) for r in range(WIDTH)]

    def put(self, k: Any, i: Any, block: Sequence[Sequence[Scalar]]) -> None:
        """Replace the numbers of a block."""
        first = self._layout.at(self._numbers, k, i, WIDTH)
        for r, row in enumerate(block):
            for s, x in enumerate(row):
                self._numbers[first + r, s] = x

    def add(self, k: Any, i: Any, block: Sequence[Sequence[Scalar]], where: Scalar | None = None) -> None:
        """Add a block: one on the diagonal, or one that is zero, and need not be kept, where `where` is zero."""
        before = self.block(k, i)
        if where is not None:
            at = self._layout.at(self._kept, k, i)
            kept = self._kept[at, 0]
            self._kept[at, 0] = maximum(kept, where)
            before = [[select(kept, x, 0.0) for x in row] for row in before]
        self.put(k, i, [list(map(operator.add, *rows)) for rows in zip(before, block, strict=True)])

    def add_diagonal(self, x: Any) -> None:
        """Add one number per place to the diagonal."""
        for k in self.blocks_outward:
            own = self.segment(x, k)
            self.add(k, k, [[y if r == s else 0.0 for s in range(WIDTH)] for r, y in enumerate(own)])

    def add_entries(self, pairs: Sequence[tuple[int, int]], numbers: Grid) -> None:
        """Add a number to the entry of each pair of degrees of freedom, by their places in v.

        Their blocks are kept in every sample.
        """
        layout, grid = self._layout, self._numbers
        of: list[int] = []
        at: list[int] = []
        for n, pair in enumerate(pairs):
            (k, r), (i, s) = (divmod(x, WIDTH) for x in sorted((layout.rows.place[a] for a in pair), reverse=True))
            mirrored = [(s, r)] if k == i and r != s else []
            for a, b in ((r, s), *mirrored):
                of.append(n)
                at.append((layout.at(grid, k, i, WIDTH) + a) * WIDTH + b)
        for e in grid.rounds(0, len(at)):
            place = grid.looked_up(at, e)
            grid[0, place] = grid[0, place] + numbers[numbers.looked_up(of, e), 0]

    def kept(self, k: Any, i: Any) -> Scalar:
        """1.0 where a block is kept."""
        return self._kept[self._layout.at(self._kept, k, i), 0]

    def segment(self, x: Any, k: Any) -> list[Scalar]:
        """The numbers of a block of a row."""
        return [x[k * WIDTH + r] for r in range(WIDTH)]

    def put_segment(self, x: Any, k: Any, numbers: Sequence[Scalar]) -> None:
        """Replace them."""
        for r, number in enumerate(numbers):
            x[k * WIDTH + r] = number

    def pivot(self, k: Any) -> Scalar:
        """The number of D at a place."""
        number: Scalar = self._pivots[k]
        return number

    def pivots(self, k: Any) -> list[Scalar]:
        """The numbers of D in a block row."""
        return self.segment(self._pivots, k)

    def put_pivots(self, k: Any, D: Sequence[Scalar]) -> None:
        """Replace them."""
        self.put_segment(self._pivots, k, D)

    def __getitem__(self, ki: tuple[int, int]) -> Scalar:
        (k, r), (i, s) = (divmod(n, WIDTH) for n in ki)
        return self._numbers[self._layout.at(self._numbers, k, i, WIDTH) + r, s]

    def entry(self, k: int, i: int) -> Scalar:
        """An entry of any block."""
        x: Scalar = self[k, i]
        return x if k // WIDTH == i // WIDTH else select(self.kept(k // WIDTH, i // WIDTH), x, 0.0)

    def __setitem__(self, ki: tuple[int, int], x: Scalar) -> None:
        """An entry of a block that is kept in every sample."""
        (k, r), (i, s) = (divmod(n, WIDTH) for n in ki)
        self._numbers[self._layout.at(self._numbers, k, i, WIDTH) + r, s] = x
        if k == i:
            self._numbers[self._layout.at(self._numbers, k, i, WIDTH) + s, r] = x

    def times(self, x: Any) -> Any:
        """The product with one entry per degree of freedom; not for factors."""
        y = self.zeros()
        for k in self.blocks_outward:
            own = self.segment(x, k)
            self.put_segment(y, k, [dot(row, own) for row in self.block(k, k)])
            for i in self.blocks_above(k):
                block = self.block(k, i)
                above = [dot(row, self.segment(x, i)) for row in block]
                self.put_segment(y, k, list(map(operator.add, self.segment(y, k), above)))
                below = [dot(column, own) for column in zip(*block, strict=True)]
                self.put_segment(y, i, list(map(operator.add, self.segment(y, i), below)))
        return y

    @property
    def outward(self) -> Iterator[Any]:
        """Each degree of freedom and each place of padding."""
        return self._numbers.rounds(WIDTH, (self._layout.blocks + 1) * WIDTH)

    def total(self, term: Callable[[Any], Scalar], start: Scalar = 0.0) -> Scalar:
        """A sum with the terms of all degrees of freedom, by their places."""

        end, is_left_out = self._layout.blocks + 1, self._is_left_out
        if is_left_out is None:
            (found,) = self._numbers.fold(WIDTH, end * WIDTH, [start], lambda k, sums: [sums[0] + term(k)])
            return found

        def of_row(k: Any, sums: Sequence[Scalar]) -> Sequence[Scalar]:
            for r in range(WIDTH):
                sums = [sums[0] + term(k * WIDTH + r)]
            return sums

        (found,) = self._numbers.fold(1, end, [start], lambda k, sums: unless(is_left_out(k), sums, partial(of_row, k)))
        return found

    def zeros(self) -> Any:
        """One zero per place."""
        row = self._row()
        for k in self.outward:
            row[k] = 0.0
        return row

    def column(self, x: Any) -> Any:
        """A row in the order of v, of numbers or in memory, as one entry per place."""
        place = self._layout.rows.place
        row = self.zeros() if len(place) < self._layout.blocks * WIDTH else self._row()
        for k in x.rounds(0, len(place)) if isinstance(x, Memory) else range(len(place)):
            row[self._numbers.looked_up(place, k)] = x[k]
        return row

    def in_v(self, x: Any) -> Any:
        """One entry per place, in the order of v."""
        place = self._layout.rows.place
        if not self._is_rolled or self._recorder is None:
            return [x[k] for k in place]
        flat = self._recorder.array("flat", len(place))
        for k in flat.rounds(0, len(place)):
            flat[k] = x[self._numbers.looked_up(place, k)]
        return flat

    def left(self, x: Any, before: Any, where: Scalar | None = None) -> list[Scalar]:
        """Leave one entry per place to the next iteration, where something is not zero; no numbers are carried.

        Without their derivatives, which would be those of the iterations.
        """
        for k in self.outward:
            before[k] = slopes_of(x[k] if where is None else select(where, x[k], before[k]), 0.0)
        return []

    def taken(self, _numbers: Iterator[Scalar], before: Any) -> Any:
        """The row that `left` has left."""
        return before

    def place(self, k: Any) -> Any:
        """The place of a degree of freedom."""
        return k

    def entries(self, row: Sequence[Scalar]) -> list[tuple[int, Scalar]]:
        """The entries of a row in the order of v that are not always zero, with their places here."""
        return sorted((place, x) for place, x in zip(self._layout.rows.place, row, strict=True) if not is_zero(x))

    def _row(self) -> Any:
        size = (self._layout.blocks + 1) * WIDTH
        return [0.0] * size if self._recorder is None else self._recorder.array("row", size, is_scratch=True)

    def _grid(self, rows: int, columns: int) -> Grid:
        return Grid(rows, columns, self._recorder, clear=False, is_scratch=True)


class BlockLayout:
    """Where the degrees of freedom are in blocks, and where the blocks are in memory."""

    def __init__(self, rows: Chains, parent: Sequence[int]) -> None:
        """`parent`: λ of each block in the elimination."""
        self.rows = rows
        self.blocks: int = rows.count
        self.parent = parent
        self._depth = [-1]
        for k in parent[1:]:
            self._depth.append(self._depth[k] + 1)
        self._first = [0, *accumulate((depth + 1 for depth in self._depth[1:-1]), initial=0)]
        self.size: int = max(self._first) + max(self._depth) + 1
        self._scaled = {n: [[n * x for x in some] for some in (self._first, self._depth)] for n in (1, WIDTH)}

    def carried(self) -> list[float]:
        """By the numbers of blocks, 1.0 where row i carries row k."""
        flags = [0.0] * self.size
        for k in range(1, self.blocks + 1):
            i = k
            while i := self.rows.parent[i] // WIDTH:
                flags[self._first[k] + self._depth[i]] = 1.0
        return flags

    def part(self, place: int) -> tuple[int, int, int]:
        """For the part of the memory in which two joints meet, by the place of a joint's first degree of freedom: its
        row is the sum of the first number for one joint and the second for the one that carries it, which also has the
        column as its third number."""
        row, r = divmod(place, WIDTH)
        return WIDTH * self._first[row] + r, WIDTH * self._depth[row], r

    def at(self, grid: Grid, k: Any, i: Any, scale: int = 1) -> Any:
        """The number of block (k, i), times a scale."""
        first, depth = self._scaled[scale]
        return grid.looked_up(first, k, 1) + grid.looked_up(depth, i, 1)


def _in_order(elimination: Elimination, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of degrees of freedom, by their places in v, as their numbers in the elimination, the later one first."""
    number = {place: k for k, place in enumerate(elimination.order) if k}
    return [(max(k, i), min(k, i)) for k, i in ((number[a], number[b]) for a, b in pairs)]


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
