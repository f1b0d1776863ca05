"""Arrays whose elements are in memory: where they are, rows of them at a loop's counter, and copies made by loops.

An element that was loaded, an input, a constant: each has a place, and mostly the places along an axis are evenly
spaced. Then a loop can go through them, and ten thousand elements take as many statements as a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import Index, Memory, Range, Recorder, Scalar, Symbol

__all__ = ["Copies", "Copy", "Rows", "copy", "rows_of"]

_CONSTANT: tuple[Any, ...] = ()
"""The key of all constants; others are (array, terms of the index) and (symbol,)."""
Elements = NDArray[np.object_]
_Whole = NDArray[np.int64]
_FEW = 32
"""Numbers that are copied one by one; more are copied by a loop."""
_WIDEST = 64
"""Numbers per row that a loop over rows copies one by one."""
_FEWEST_ROWS = 4


class _Column(NamedTuple):
    """Element of row k: number `at + stride k` of an array, or, without an array, always the same value."""

    array: int
    at: Index
    stride: int
    value: Scalar


class Rows:
    """Rows of numbers that can be taken at a counter."""

    def __init__(self, recorder: Recorder, columns: Sequence[_Column]) -> None:
        self._recorder = recorder
        self.columns = columns

    def at(self, k: Index) -> list[Scalar]:
        """The numbers of row k."""
        return [self.of(c, k) for c in self.columns]

    def of(self, c: _Column, k: Index) -> Scalar:
        """The number of a column in row k."""
        return c.value if c.array < 0 else self._recorder.memory(c.array)[c.at + k * c.stride]


class _Places:
    """The place of each element: equal keys are in one array, or are one value."""

    def __init__(self, recorder: Recorder, elements: Elements) -> None:
        self.recorder = recorder
        self.elements = elements
        numbers: dict[object, int] = {_CONSTANT: 0}
        graphs, settled = set(), recorder.settled
        keys, places = [], []
        key, place, number = _CONSTANT, 0, 0
        for x in elements.ravel().tolist():
            before = key
            if type(x) is not Symbol:
                key, place = _CONSTANT, 0
            else:
                if x.graph not in graphs:
                    graphs.add(recorder.checked(x).graph)  # type: ignore[union-attr]
                if x.op == "load" and x.args[0] in settled:
                    array, at = x.args
                    key, place = (array, at.terms), at.base
                elif x.op == "input":
                    array, place = recorder.input_place(x)
                    key = array, ()
                else:
                    key, place = (x,), 0
            if key != before:
                number = numbers.setdefault(key, len(numbers))
            keys.append(number)
            places.append(place)
        self._arrays: list[Any] = list(numbers)
        self.key: _Whole = np.array(keys, np.int64).reshape(elements.shape)
        self.place: _Whole = np.array(places, np.int64).reshape(elements.shape)

    def part(self, at: Any) -> _Places:
        """The places of a part of the array."""
        part = object.__new__(_Places)
        part.recorder, part._arrays = self.recorder, self._arrays
        part.elements, part.key, part.place = self.elements[at], self.key[at], self.place[at]
        return part

    def reshaped(self, *shape: int) -> _Places:
        """The same in another shape."""
        part = self.part(...)
        part.elements = part.elements.reshape(shape)
        part.key, part.place = part.key.reshape(shape), part.place.reshape(shape)
        return part

    def runs(self) -> list[slice]:
        """Rows (of two axes) one after another whose places are evenly spaced in each column, as long as possible."""
        rows = len(self.key)
        same_key = np.all(self.key[1:] == self.key[:-1], axis=1).tolist()
        steps = np.diff(self.place, axis=0)
        same_step = np.all(steps[1:] == steps[:-1], axis=1).tolist()
        result, first = [], 0
        for k in range(1, rows + 1):
            if k == rows or not same_key[k - 1] or (k - first > 1 and not same_step[k - 2]):
                result.append(slice(first, k))
                first = k
        return result

    def columns(self) -> Rows:
        """The columns of a run."""
        recorder, constant = self.recorder, []
        columns: list[_Column | None] = []
        for j, key in enumerate(self.key[0].tolist()):
            first = self.elements[0, j]
            stride = int(self.place[1, j] - self.place[0, j]) if len(self.place) > 1 else 0
            if key == 0 and any(x != first for x in self.elements[:, j]):
                columns.append(None)
                constant.append(j)
            elif key == 0 or stride == 0:
                columns.append(_Column(-1, Index(), 0, first))
            else:
                array, terms = self._arrays[key]
                columns.append(_Column(array, Index(int(self.place[0, j]), terms), stride, 0.0))
        if constant:
            table = recorder.constants(self.elements[:, constant].ravel().tolist())
            rest = iter([_Column(table.number, Index(j), len(constant), 0.0) for j in range(len(constant))])
            return Rows(recorder, [next(rest) if c is None else c for c in columns])
        return Rows(recorder, [c for c in columns if c is not None])


def rows_of(recorder: Recorder, elements: Elements) -> Rows:
    """The rows of an array along its first axis: directly from memory if they are there, otherwise stored once."""
    known = recorder.rows.get(id(elements))
    if known is None:
        known = recorder.rows[id(elements)] = elements, _new_rows(recorder, elements)
    rows: Rows = known[1]
    return rows


def _new_rows(recorder: Recorder, elements: Elements) -> Rows:
    count, width = len(elements), elements.size // len(elements)
    places = _Places(recorder, elements.reshape(count, width))
    if len(places.runs()) == 1:
        return places.columns()
    block = recorder.root
    for x in elements.ravel().tolist():
        if isinstance(x, Symbol) and x.graph.depth > block.depth:
            block = x.graph
    with recorder.outside(block):
        memory = recorder.array("rows", count * width)
        copy(recorder, Copy(elements, memory))
    recorder.settled.add(memory.number)
    return Rows(recorder, [_Column(memory.number, Index(j), width, 0.0) for j in range(width)])


class _Piece(NamedTuple):
    """Numbers that are copied together: in a loop over rows, or one by one."""

    offset: int
    rounds: int
    rows: Rows


def _pieces(places: _Places, offset: int) -> Iterator[_Piece]:
    """The parts of an array that are copied, with their places in the copy."""
    size, shape = places.elements.size, places.elements.shape
    if size == 0:
        return
    flat = places.reshaped(size, 1)
    if size < _FEW:
        yield _Piece(offset, 1, places.reshaped(1, size).columns())
        return
    runs = flat.runs()
    long = _long_runs(runs, 1)
    if len(shape) > 1:
        rows = places.reshaped(shape[0], size // shape[0])
        runs_of_rows = rows.runs()
        if _long_runs(runs_of_rows, rows.key.shape[1]) > long:
            yield from _in_rows(places, rows, runs_of_rows, offset)
            return
        if not long:
            yield from _row_by_row(places, slice(0, shape[0]), offset)
            return
    short: list[int] = []
    for run in runs:
        if _is_long(run, 1):
            yield from _one_by_one(flat, short, offset)
            yield _Piece(offset + run.start, run.stop - run.start, flat.part(run).columns())
            short = []
        else:
            short += range(run.start, run.stop)
    yield from _one_by_one(flat, short, offset)


def _one_by_one(flat: _Places, which: Sequence[int], offset: int) -> Iterator[_Piece]:
    if which:
        yield _Piece(offset + which[0], 1, flat.part(slice(which[0], which[-1] + 1)).reshaped(1, len(which)).columns())


def _in_rows(places: _Places, rows: _Places, runs: Sequence[slice], offset: int) -> Iterator[_Piece]:
    width = rows.key.shape[1]
    for run in runs:
        if _is_long(run, width):
            yield _Piece(offset + run.start * width, run.stop - run.start, rows.part(run).columns())
        else:
            yield from _row_by_row(places, run, offset + run.start * width)


def _row_by_row(places: _Places, run: slice, offset: int) -> Iterator[_Piece]:
    for k in range(run.start, run.stop):
        row = places.part(k)
        yield from _pieces(row, offset)
        offset += row.elements.size


def _is_long(run: slice, width: int) -> bool:
    """Whether rows are copied by a loop."""
    rows = run.stop - run.start
    return rows >= _FEWEST_ROWS and rows * width >= _FEW and (width <= _WIDEST or width <= rows)


def _long_runs(runs: Sequence[slice], width: int) -> int:
    """How many numbers loops copy."""
    return sum((run.stop - run.start) * width for run in runs if _is_long(run, width))


class Copy(NamedTuple):
    """An array's elements, and the place of an array in memory from which on they are stored, in order."""

    elements: Elements
    target: Memory
    offset: Index | int = 0


class Copies:
    """Arrays to be stored in memory: planned first, and then recorded.

    Elements may have been loaded from one of the targets: those that are in place are left alone, and the others are
    taken before they are overwritten.
    """

    def __init__(self, recorder: Recorder, copies: Sequence[Copy]) -> None:
        self._recorder = recorder
        self._busy = frozenset(c.target.number for c in copies)
        self._todo = [(piece, c) for c in copies for piece in _pieces(_Places(recorder, c.elements), 0)]

    @property
    def has_loops(self) -> bool:
        """Whether loops make the copies, at least of a part."""
        return any(piece.rounds > 1 for piece, _ in self._todo)

    def record(self) -> None:
        """Store them at this place of the trace."""
        recorder, todo = self._recorder, list(self._todo)
        for n, (piece, c) in enumerate(todo):
            if piece.rounds > 1 and any(x.array in self._busy for _, x in _moving(piece, c)):
                width = len(piece.rows.columns)
                between = recorder.array("between", piece.rounds * width)
                _store(recorder, piece._replace(offset=0), Copy(c.elements, between))
                columns = [_Column(between.number, Index(j), width, 0.0) for j in range(width)]
                todo[n] = piece._replace(rows=Rows(recorder, columns)), c
        for piece, c in todo:
            _store(recorder, piece, c)


def copy(recorder: Recorder, *copies: Copy) -> None:
    """Store arrays in memory."""
    Copies(recorder, copies).record()


def _moving(piece: _Piece, c: Copy) -> list[tuple[int, _Column]]:
    """The columns of a piece, with their numbers, that are not in place."""
    width = len(piece.rows.columns) if piece.rounds > 1 else 0
    moving = []
    for j, x in enumerate(piece.rows.columns):
        at = Index() + c.offset + (piece.offset + j)
        place: tuple[object, ...] = (x.array, x.at, x.stride)
        if x.array < 0 and isinstance(x.value, Symbol) and x.value.op == "load":
            place = (*x.value.args, 0)
        if place != (c.target.number, at, width):
            moving.append((j, x))
    return moving


def _store(recorder: Recorder, piece: _Piece, c: Copy) -> None:
    moving, target = _moving(piece, c), c.target
    first = c.offset + piece.offset
    if piece.rounds == 1:
        for j, x in moving:
            target[first + j] = x.value
    elif moving:
        width = len(piece.rows.columns)
        with recorder.loop(Range(Index(), Index(piece.rounds))) as k:
            for j, x in moving:
                target[k * width + first + j] = piece.rows.of(x, k)
