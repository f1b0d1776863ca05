"""The mass matrix in elimination order, in memory: the counterpart of `kinetree.tree.sparse_matrix` for lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kinetree.expr import Index, Memory, Recorder, Scalar, Walk
from kinetree.tree.elimination import Elimination
from kinetree.tree.rolled.memory import Bodies, Slot
from kinetree.tree.rolled.results import Row
from kinetree.tree.sparse_matrix import BlockLayout, BlockMatrix

__all__ = ["BlocksInChains", "SparseMatrix"]


class SparseMatrix:
    """`M[k, i]`, for i = k or above it; k and i are loop counters."""

    def __init__(
        self,
        write: Callable[..., None],
        pieces_in: Callable[..., Any],
        recorder: Recorder,
        M: Memory,
        elimination: Elimination,
    ) -> None:
        """`write` and `pieces_in` are those of the tree."""
        self._write = write
        self._pieces_in = pieces_in
        self._recorder = recorder
        self._elimination = elimination
        self._n = n = elimination.n
        self._memory = recorder.array("sparse", n * n)
        for k in self.outward:
            for i in self.before(k):
                self[k, i] = M[self._place(k) * n + self._place(i)]

    @property
    def outward(self) -> Iterator[Index]:
        return self._memory.rounds(1, self._n + 1)

    @property
    def inward(self) -> Iterator[Index]:
        return self._memory.rounds(self._n, 0, -1)

    def before(self, k: Index) -> Iterator[Index]:
        return self._memory.rounds(1, k + 1)

    def above(self, k: Index) -> Iterator[Index]:
        parent = self._elimination.parent
        first = self._recorder.look_up(parent, k, 1)
        with self._recorder.loop(Walk(first, self._recorder.table(parent))) as i:
            yield i

    def __getitem__(self, ki: tuple[Index, Index]) -> Scalar:
        return self._memory[self._at(*ki)]

    def __setitem__(self, ki: tuple[Index, Index], x: Scalar) -> None:
        self._memory[self._at(*ki)] = x

    def zeros(self) -> Memory:
        memory = self._recorder.array("row", self._n + 1)
        for k in self.outward:
            memory[k] = 0.0
        return memory

    def result(self) -> _Dense:
        return _Dense(self._recorder, self._elimination)

    def vector(self, pieces: Any) -> Memory:
        flat, x = self._recorder.array("forces", self._n), self._recorder.array("x", self._n + 1)
        self._write(pieces, "forces", (flat, 0))
        for k in self.outward:
            x[k] = flat[self._place(k)]
        return x

    def column(self, x: Row, factor: Scalar = 1.0) -> Memory:
        memory = self._recorder.array("x", self._n + 1)
        for k in self.outward:
            memory[k] = x[self._place(k)] * factor
        return memory

    def vector_of(self, x: Sequence[Scalar]) -> Memory:
        memory = self._recorder.array("x", self._n + 1)
        for k, x_k in enumerate(x, 1):
            memory[k] = x_k
        return memory

    def numbers(self, x: Memory) -> list[Scalar]:
        return [x[k] for k in range(1, self._n + 1)]

    def in_v(self, x: Memory) -> list[Scalar]:
        return self._elimination.as_in_v(self.numbers(x))

    def diagonal(self) -> list[Scalar]:
        return [self._memory[k * self._n + k] for k in range(self._n)]

    def pieces(self, x: Memory) -> Any:
        flat = self._recorder.array("accelerations", self._n)
        for k in self.outward:
            flat[self._place(k)] = x[k]
        return self._pieces_in(flat, "nv")

    def factors(self) -> None:
        """Write the factors into the result, which is zero elsewhere."""
        (output,) = self._recorder.outputs
        n = self._n
        for k in self.outward:
            row = k * n - (n + 1)
            output[row + k] = 1.0
            output[k + (n * n - 1)] = self[k, k]
            for i in self.above(k):
                output[row + i] = self[k, i]

    def _at(self, k: Index, i: Index) -> Index:
        return k * self._n + i - (self._n + 1)

    def _place(self, k: Index) -> Index:
        return self._recorder.look_up(self._elimination.order, k, 1)


class BlocksInChains:
    """The blocks of joints in a `BlockMatrix`; block (i, j) of two joints is set for each j that carries i."""

    def __init__(
        self, recorder: Recorder, bodies: Bodies, layout: BlockLayout, parts: Sequence[tuple[int, int, int]]
    ) -> None:
        """`parts`: `BlockLayout.part` of each body's joint."""
        self._recorder, self._bodies = recorder, bodies
        self._below, self._across, self._columns = ([*numbers] for numbers in zip(*parts, strict=True))
        self._matrix = BlockMatrix(layout, recorder, is_rolled=True)
        self._matrix.begin()

    def __setitem__(self, ij: tuple[Slot, Slot], block: Sequence[Sequence[Scalar]]) -> None:
        def look(numbers: Sequence[int], slot: Slot) -> Index:
            return self._bodies.look_up(self._recorder, numbers, slot)

        i, j = ij
        if any(block):
            self._matrix.put_part(look(self._below, i) + look(self._across, j), look(self._columns, j), block)

    def sparse(self, **_layout: object) -> BlockMatrix:
        """The matrix, in the layout it has."""
        self._matrix.mirror()
        return self._matrix


class _Dense:
    """A symmetric matrix that is the function's result."""

    def __init__(self, recorder: Recorder, elimination: Elimination) -> None:
        self._recorder = recorder
        self._order = elimination.order
        self._n = elimination.n

    def __getitem__(self, ki: tuple[Index, Index]) -> Scalar:
        (output,) = self._recorder.outputs
        k, i = (self._recorder.look_up(self._order, x, 1) for x in ki)
        return output[k * self._n + i]

    def __setitem__(self, ki: tuple[Index, Index], x: Scalar) -> None:
        (output,) = self._recorder.outputs
        k, i = (self._recorder.look_up(self._order, x, 1) for x in ki)
        output[k * self._n + i] = x
        output[i * self._n + k] = x

    def flat(self) -> None:
        """Nothing to do: it is already in the result."""
