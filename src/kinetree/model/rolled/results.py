"""Results with a place a joint or a body, written by loops into the function's result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.expr import Index, Memory, Range, Recorder, Scalar
from kinetree.model.rolled.memory import Bodies, Slot
from kinetree.model.rolled.shared import SharedMemory
from kinetree.model.rolled.source import Source
from kinetree.model.rolled.tables import Columns, QuantityTable
from kinetree.spatial import Transform

__all__ = ["BodyRow", "JointBlocks", "JointColumns", "JointDiagonal", "JointSquare", "NamedBodies", "Rows"]


class _OfJoints:
    """The function's result as a matrix with some columns a joint, zero at first.

    It is made in memory of its own where it is not itself the result, or where joints share coordinates, and is
    projected at the end.
    """

    def __init__(
        self, recorder: Recorder, bodies: Bodies, source: Source, shared: SharedMemory | None, rows: int | None = None
    ) -> None:
        """`rows`: as many as there are columns, if None."""
        self._n = sum(kind.nv for kind in source.tree.joint)
        (output,) = recorder.outputs
        self._rows = self._n if rows is None else rows
        self._result = output
        is_result = shared is None and output.size == self._rows * self._n
        self._output = output if is_result else recorder.array("of_joints", self._rows * self._n, clear=True)
        self._recorder = recorder
        self._bodies = bodies
        self._starts = source.starts("nv")
        self._shared = shared

    def _start(self, j: Slot) -> Index:
        """The first column of a joint."""
        return self._bodies.look_up(self._recorder, self._starts, j)


class JointBlocks(_OfJoints):
    """A symmetric matrix of joints: blocks[i, j] is its part for joints i and j, and the transpose for j and i."""

    def __setitem__(self, ij: tuple[Slot, Slot], block: Sequence[Sequence[Scalar]]) -> None:
        start_i, start_j = map(self._start, ij)
        for a, row in enumerate(block):
            for b, x in enumerate(row):
                self._output[(start_i + a) * self._n + (start_j + b)] = x
                self._output[(start_j + b) * self._n + (start_i + a)] = x

    def flat(self) -> None:
        """It stands in the result, or is projected into it."""
        if self._shared is not None:
            self._shared.projected(self._output, self._n, self._result)

    def whole(self) -> Memory:
        """The matrix of the robot's degrees of freedom in memory, row by row."""
        if self._shared is None:
            return self._output
        H = self._recorder.array("projected", self._shared.nv**2)
        self._shared.projected(self._output, self._n, H)
        return H


class JointSquare(_OfJoints):
    """A matrix of joints with no symmetry, by its blocks (i, j)."""

    def __setitem__(self, ij: tuple[Slot, Slot], block: Sequence[Sequence[Scalar]]) -> None:
        start_i, start_j = map(self._start, ij)
        for a, row in enumerate(block):
            for b, x in enumerate(row):
                self._output[(start_i + a) * self._n + (start_j + b)] = x

    def flat(self) -> None:
        """It stands in the result, or is projected into it."""
        if self._shared is not None:
            self._shared.projected_square(self._output, self._n, self._result)

    def whole(self) -> Memory:
        """The matrix of the robot's degrees of freedom in memory, row by row."""
        if self._shared is None:
            return self._output
        C = self._recorder.array("projected", self._shared.nv**2)
        self._shared.projected_square(self._output, self._n, C)
        return C


class JointDiagonal(_OfJoints):
    """A matrix from v to v that mixes no two joints, by its blocks, one a joint."""

    def __setitem__(self, j: Slot, block: Sequence[Sequence[Scalar]]) -> None:
        start = self._start(j)
        for a, row in enumerate(block):
            for b, x in enumerate(row):
                self._output[(start + a) * self._n + (start + b)] = x

    def flat(self) -> None:
        """It stands in the result, or is mapped into it."""
        if self._shared is not None:
            self._shared.transformed(self._output, self._n, self._result)


class JointColumns(_OfJoints):
    """A matrix of some rows, column by column."""

    def __setitem__(self, j: Slot, columns: Sequence[Sequence[Scalar]]) -> None:
        start = self._start(j)
        for k, column in enumerate(columns):
            for row, x in enumerate(column):
                self._output[start + (row * self._n + k)] = x

    def flat(self) -> None:
        """It stands in the result, or is projected into it."""
        if self._shared is not None:
            self._shared.projected_columns(self._output, self._rows, self._n, self._result)


@dataclass(frozen=True, slots=True)
class BodyRow:
    """A named body, where a loop over all of them stands."""

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

    def __iter__(self) -> Iterator[tuple[Slot, BodyRow]]:
        with self._recorder.loop(Range(Index(0), Index(self._count))) as k:
            row = Slot(k, frozenset((0,)))
            slot = Slot(self._recorder.look_up(self._slots, k), self._kinds)
            yield row, BodyRow(slot, self._table[row])


class Rows:
    """A result of so many numbers a body."""

    def __init__(self, recorder: Recorder) -> None:
        (self._output,) = recorder.outputs

    def __setitem__(self, row: Slot, numbers: Any) -> None:
        start = row.index * len(numbers)
        for k, x in enumerate(numbers):
            self._output[start + k] = x

    def flat(self) -> None:
        """It stands in the result already."""
