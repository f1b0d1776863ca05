"""Results with one entry per joint or body, written by loops into the function's result."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from kinetree.expr import Index, Memory, Range, Recorder, Scalar, is_zero
from kinetree.records import record
from kinetree.spatial import Transform
from kinetree.tree.rolled.memory import Bodies, Slot
from kinetree.tree.rolled.shared import SharedMemory
from kinetree.tree.rolled.source import Source
from kinetree.tree.rolled.tables import Columns, QuantityTable

__all__ = [
    "BodyColumns",
    "BodyRow",
    "CarriedBodies",
    "JointBlocks",
    "JointColumns",
    "JointDiagonal",
    "JointRows",
    "JointSquare",
    "JointSquares",
    "NamedBodies",
    "Row",
    "Rows",
]


class _OfJoints:
    """The function's result as a matrix with some columns per joint, initially zero.

    It is built in memory of its own if it is not itself the result, or if joints share coordinates, and is projected
    at the end.
    """

    def __init__(
        self,
        recorder: Recorder,
        bodies: Bodies,
        source: Source,
        shared: SharedMemory | None,
        rows: int | None = None,
        *,
        apart: bool = False,
    ) -> None:
        """`rows`: number of rows, that of columns if None; or the columns, of a matrix with some rows per joint.
        `apart`: whether it has memory of its own although it would fit into the result."""
        self._n = sum(kind.nv for kind in source.tree.joint)
        (output,) = recorder.outputs
        self._rows = self._n if rows is None else rows
        self._result = output
        is_result = not apart and shared is None and output.size == self._rows * self._n
        self._output = output if is_result else recorder.array("of_joints", self._rows * self._n, clear=True)
        self._recorder = recorder
        self._bodies = bodies
        self._starts = source.starts("nv")
        self._shared = shared

    def _start(self, j: Slot) -> Index:
        """The first column of a joint."""
        return self._bodies.look_up(self._recorder, self._starts, j)


class JointBlocks(_OfJoints):
    """A symmetric matrix of joints: blocks[i, j] is its part for joints i and j, and its transpose for j and i."""

    def __setitem__(self, ij: tuple[Slot, Slot], block: Sequence[Sequence[Scalar]]) -> None:
        start_i, start_j = map(self._start, ij)
        for a, row in enumerate(block):
            for b, x in enumerate(row):
                self._output[(start_i + a) * self._n + (start_j + b)] = x
                self._output[(start_j + b) * self._n + (start_i + a)] = x

    def flat(self) -> None:
        """Finish the result: it is already in place, or is projected there."""
        if self._shared is not None:
            self._shared.projected(self._output, self._n, self._result)

    def whole(self) -> Memory:
        """The matrix of the robot's degrees of freedom in memory, row by row."""
        if self._shared is None:
            return self._output
        M = self._recorder.array("projected", self._shared.nv**2)
        self._shared.projected(self._output, self._n, M)
        return M


class JointSquare(_OfJoints):
    """An unsymmetric matrix of joints, by its blocks (i, j)."""

    def __setitem__(self, ij: tuple[Slot, Slot], block: Sequence[Sequence[Scalar]]) -> None:
        start_i, start_j = map(self._start, ij)
        for a, row in enumerate(block):
            for b, x in enumerate(row):
                self._output[(start_i + a) * self._n + (start_j + b)] = x

    def flat(self) -> None:
        """Finish the result: it is already in place, or is projected there."""
        if self._shared is not None:
            self._shared.projected_square(self._output, self._n, self._result)

    def whole(self) -> Memory:
        """The matrix of the robot's degrees of freedom in memory, row by row."""
        if self._shared is None:
            return self._output
        C = self._recorder.array("projected", self._shared.nv**2)
        self._shared.projected_square(self._output, self._n, C)
        return C


class JointSquares(_OfJoints):
    """Several matrices of joints by their blocks: each entry of `squares[i, j]` has one number per matrix."""

    def __init__(
        self, recorder: Recorder, bodies: Bodies, source: Source, shared: SharedMemory | None, count: int
    ) -> None:
        super().__init__(recorder, bodies, source, shared, count * source.total("nv"))
        self._count = count

    def __setitem__(self, ij: tuple[Slot, Slot], block: Sequence[Sequence[Sequence[Scalar]]]) -> None:
        start_i, start_j = map(self._start, ij)
        for a, row in enumerate(block):
            for b, numbers in enumerate(row):
                place = (start_i + a) * self._n + (start_j + b)
                for n, x in enumerate(numbers):
                    if not is_zero(x):
                        self._output[place + n * self._n**2] = x

    def flat(self) -> None:
        """Finish the result: it is already in place, or is projected there."""
        if self._shared is not None:
            self._shared.projected_squares(self._output, self._count, self._n, self._result)


class JointDiagonal(_OfJoints):
    """A block-diagonal matrix from v to v, by its blocks, one per joint."""

    def __setitem__(self, j: Slot, block: Sequence[Sequence[Scalar]]) -> None:
        start = self._start(j)
        for a, row in enumerate(block):
            for b, x in enumerate(row):
                self._output[(start + a) * self._n + (start + b)] = x

    def flat(self) -> None:
        """Finish the result: it is already in place, or is mapped there."""
        if self._shared is not None:
            self._shared.transformed(self._output, self._n, self._result)


class JointRows(_OfJoints):
    """A matrix whose rows are joint forces, some rows per joint: `rows[j, k]` is joint j's block from column k on."""

    def __setitem__(self, jk: tuple[Slot, Index], block: Sequence[Sequence[Scalar]]) -> None:
        start, column = self._start(jk[0]), jk[1]
        for a, row in enumerate(block):
            for b, x in enumerate(row):
                if not is_zero(x):
                    self._output[(start + a) * self._rows + (column + b)] = x

    def flat(self) -> None:
        """Finish the result: it is already in place, or is projected there."""
        if self._shared is not None:
            self._shared.projected_rows(self._output, self._rows, self._result)


class JointColumns(_OfJoints):
    """A matrix of some rows: `columns[j]` are the columns of joint j, `columns[j, k]` their rows from k on."""

    def __setitem__(self, place: Slot | tuple[Slot, Index | int], columns: Sequence[Sequence[Scalar]]) -> None:
        j, first = place if isinstance(place, tuple) else (place, 0)
        start = self._start(j)
        for k, column in enumerate(columns):
            for row, x in enumerate(column):
                self._output[start + ((first + row) * self._n + k)] = x

    def flat(self) -> None:
        """Finish the result: it is already in place, or is projected there."""
        if self._shared is not None:
            self._shared.projected_columns(self._output, self._rows, self._n, self._result)

    def in_rows(self) -> list[Row]:
        """The rows of the matrix of the robot's degrees of freedom, in memory."""
        J = self._output
        if self._shared is not None:
            J = self._recorder.array("projected", self._rows * self._shared.nv)
            self._shared.projected_columns(self._output, self._rows, self._n, J)
        return [Row(J, r * (J.size // self._rows)) for r in range(self._rows)]


@record(frozen=True, slots=True)
class Row:
    """Part of a memory, from an index on."""

    memory: Memory
    first: int

    def __getitem__(self, k: Index) -> Scalar:
        return self.memory[k + self.first]


@record(frozen=True, slots=True)
class BodyRow:
    """The current named body of a loop over all of them."""

    slot: Slot
    placement: Transform


class NamedBodies:
    """The robot's named bodies, as the rows of a result."""

    def __init__(self, recorder: Recorder, slots: Sequence[int], placements: Columns, kind_of: Sequence[int]) -> None:
        self._recorder = recorder
        self._slots = slots
        self._kinds = frozenset(kind_of[slot] for slot in slots)
        self._count = len(slots)
        self._table = QuantityTable(recorder, Bodies([0] * len(slots)), placements, record="rows")

    def __iter__(self) -> Iterator[tuple[Index, BodyRow]]:
        with self._recorder.loop(Range(Index(0), Index(self._count))) as k:
            slot = Slot(self._recorder.look_up(self._slots, k), self._kinds)
            yield k, BodyRow(slot, self._table[Slot(k, frozenset((0,)))])


class CarriedBodies:
    """Some of the robot's named bodies, ordered so that those behind a joint, which carries them, are adjacent."""

    def __init__(self, recorder: Recorder, source: Source, slots: Sequence[int], placements: Sequence[Any]) -> None:
        place, end = source.places
        order = sorted(range(len(slots)), key=lambda k: place[slots[k]])
        places = [place[slots[k]] for k in order]
        self._recorder = recorder
        self._source = source
        self._numbers = order
        self._slots = [slots[k] for k in order]
        self._first = [bisect_left(places, at) for at in place]
        self._end = [bisect_left(places, at) for at in end]
        table = Columns([placements[k] for k in order])
        self._table = QuantityTable(recorder, Bodies([0] * len(order)), table, record="carried")

    def by(self, j: Slot) -> Iterator[tuple[Index, BodyRow]]:
        """(k, body k) for those that joint j carries, with k their number in the order given."""
        carried = j.kinds | self._source.kinds_behind(j.kinds)
        kinds = carried & {self._source.kind_of[slot] for slot in self._slots}
        if not kinds:
            return
        look_up = self._recorder.look_up
        with self._recorder.loop(Range(look_up(self._first, j.index, 1), look_up(self._end, j.index, 1))) as n:
            placement = self._table[Slot(n, frozenset((0,)))]
            yield look_up(self._numbers, n), BodyRow(Slot(look_up(self._slots, n), kinds), placement)


class BodyColumns:
    """A result of some rows, with some columns per body."""

    def __init__(self, recorder: Recorder, bodies: int) -> None:
        (self._output,) = recorder.outputs
        self._bodies = bodies

    def __setitem__(self, body: Index, rows: Sequence[Sequence[Scalar]]) -> None:
        for n, row in enumerate(rows):
            start = (body + n * self._bodies) * len(row)
            for k, x in enumerate(row):
                self._output[start + k] = x

    def flat(self) -> None:
        """Nothing to do: it is already in the result."""


class Rows:
    """A result with a fixed number of entries per body."""

    def __init__(self, recorder: Recorder) -> None:
        (self._output,) = recorder.outputs

    def __setitem__(self, row: Index, numbers: Any) -> None:
        start = row * len(numbers)
        for k, x in enumerate(numbers):
            self._output[start + k] = x

    def flat(self) -> None:
        """Nothing to do: it is already in the result."""
