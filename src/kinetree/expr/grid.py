"""A matrix that is processed row by row: written out, or in loops of a program.

Without a recorder its numbers are in a list, and each iteration is written out, so that known zeros vanish. With one
they are in the memory of its trace, and `rounds` is a loop over rows: any number of rows takes the statements of one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from kinetree.expr.functions import select
from kinetree.expr.program import Append, Each, Entry, Index, Range, Walk
from kinetree.expr.recording import Memory, Recorder
from kinetree.expr.symbol import Scalar, Symbol

__all__ = ["Grid", "NewGrid", "Numbers", "Shared"]


class Grid:
    """Numbers `grid[i, j]`; both are ints or come from `rounds`."""

    __slots__ = ("_columns", "_memory", "_numbers", "_recorder")

    def __init__(
        self, rows: int, columns: int, recorder: Recorder | None = None, *, clear: bool = True,
        is_scratch: bool = False, most: int = 0,
    ) -> None:  # fmt: skip
        """`clear`: whether it is zero at first; otherwise each number is written before it is read. `is_scratch`: as
        for `kinetree.expr.Array`. `most`: the most rows, if they are by the place in a list."""
        size = rows * columns
        self._recorder = recorder
        self._columns = columns
        self._memory: Memory | None = None
        self._numbers: list[Scalar] = []
        if recorder is None:
            self._numbers = [0.0] * max(size, most * columns)
        else:
            self._memory = recorder.array("grid", size, clear=clear, is_scratch=is_scratch, most=most * columns)

    def __getitem__(self, at: tuple[Index | int, Index | int]) -> Scalar:
        place = at[0] * self._columns + at[1]
        if self._memory is not None:
            return self._memory[place]
        assert isinstance(place, int)
        return self._numbers[place]

    def __setitem__(self, at: tuple[Index | int, Index | int], x: Scalar) -> None:
        place = at[0] * self._columns + at[1]
        if self._memory is not None:
            self._memory[place] = x
        else:
            assert isinstance(place, int)
            self._numbers[place] = x

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return self._columns

    def rounds(self, start: Any, stop: Any) -> Iterator[Any]:
        """Rows from `start`, up or down to the last one before `stop`: ints, or the counter of a loop.

        Up, if one of the ends depends on the counter of another loop.
        """
        step = -1 if isinstance(start, int) and isinstance(stop, int) and start > stop else 1
        if self._memory is None:
            yield from range(start, stop, step)
        elif start != stop:
            yield from self._memory.rounds(start, stop, step)

    def fold(
        self,
        start: Any,
        stop: Any,
        state: Sequence[Scalar],
        step: Callable[[Any, Sequence[Scalar]], Sequence[Scalar]],
    ) -> Sequence[Scalar]:
        """Iterate over rows with values that are carried from row to row: `step(i, values)` gives the next ones."""
        if self._recorder is not None:
            if start == stop:
                return state
            begin, end = (Index(x) if isinstance(x, int) else x for x in (start, stop))
            over = Range(begin, end)
            return self._recorder.fold(over, state, step)
        for i in range(start, stop):
            state = step(i, state)
        return state

    def walk(self, following: Sequence[int], i: Any) -> Iterator[Any]:
        """following[i], following[following[i]], …, before a zero: ints, or the counter of a loop.

        In reverse where that is all from 1 on: such a loop has no counter to look up.
        """
        if all(k == number - 1 for number, k in enumerate(following[1:], 1)):
            yield from self.rounds(1, i)
            return
        if self._recorder is None:
            while (i := following[i]) != 0:
                yield i
            return
        over = Walk(self.looked_up(following, i, 1), self._recorder.table(following))
        with self._recorder.loop(over) as k:
            yield k

    def left_out(self, idle: Scalar) -> Iterator[None]:
        """Once, for what may be left out where `idle` is not zero; it stores into scratch grids alone."""
        if self._recorder is not None and isinstance(idle, Symbol):
            with self._recorder.left_out(idle):
                yield
        elif isinstance(idle, Symbol) or not np.all(idle):
            yield

    def cases(self, case_of: Sequence[int], i: Any, cases: Sequence[Any]) -> Iterator[Any]:
        """cases[case_of[i]], for an int or the counter of a loop: a switch of the program."""
        on = self.looked_up(case_of, i)
        if self._recorder is None:
            yield cases[on]
        elif not on.terms:
            yield cases[on.base]
        else:
            with self._recorder.switch(on) as case:
                for one in cases:
                    with case():
                        yield one

    def index_list(self, capacity: int, most: int) -> IndexList:
        """A new list in the same memory."""
        return IndexList(self._recorder, capacity, most)

    def looked_up(self, values: Sequence[int], i: Any, first: int = 0) -> Any:
        """values[i], for an int or the counter of a loop, which is never less than `first`."""
        return values[i] if isinstance(i, int) or self._recorder is None else self._recorder.look_up(values, i, first)

    def constant(self, values: Sequence[float], i: Any) -> Scalar:
        """values[i], the same for numbers."""
        return values[i] if self._recorder is None else self._recorder.constants(values)[i]

    def row(self, i: Index | int, columns: Iterable[int]) -> list[Scalar]:
        """Some numbers of one row."""
        return [self[i, j] for j in columns]

    def exchange(self, i: Index | int, k: Index | int, condition: Scalar) -> None:
        """Swap rows i and k where the condition is not zero."""
        for j in range(self._columns):
            a, b = self[i, j], self[k, j]
            self[i, j], self[k, j] = select(condition, b, a), select(condition, a, b)


class IndexList:
    """Whole numbers from 0 up to but not including `most`, in ascending order, that some sample asks for.

    Samples that are computed together have one list for all of them: numbers that others asked for must make no
    difference to a sample. Each may ask for `capacity` of them.
    """

    def __init__(self, recorder: Recorder | None, capacity: int, most: int) -> None:
        self.capacity: int = min(capacity, most)
        self.most: int = most
        self._recorder = recorder
        self._entries: list[int] = []
        self._memory: Memory | None = None
        self._array = -1
        if recorder is not None:
            self._memory = recorder.array("list", self.capacity + 2, is_scratch=True, most=most + 2)
            self._array = self._memory.number
        self.clear()

    def grid(self, rows: int, columns: int) -> Grid:
        """Scratch with so many rows for each place in the list, and for the one behind the last."""
        there, most = ((n + 1) * rows for n in (self.capacity, self.most))
        return Grid(there, columns, self._recorder, clear=False, is_scratch=True, most=most)

    def clear(self) -> None:
        """Begin again with none."""
        self._entries.clear()
        if self._memory is not None:
            self._memory[0] = 0.0

    def append(
        self,
        entry: Any,
        state: Sequence[Scalar],
        step: Callable[[Any, Sequence[Scalar]], tuple[Sequence[Scalar], Scalar]],
    ) -> Sequence[Scalar]:
        """Append a number: `step(place, values)` gives the next values, and 1.0 where the sample does not need it."""
        if self._recorder is not None:
            over = Append(self._array, Index(entry) if isinstance(entry, int) else entry, self.most)
            return self._recorder.append(over, state, step)
        state, is_idle = step(len(self._entries), state)
        if isinstance(is_idle, Symbol) or not np.all(is_idle):
            self._entries.append(entry)
        return state

    def fold(
        self, state: Sequence[Scalar], step: Callable[[Any, Any, Sequence[Scalar]], Sequence[Scalar]]
    ) -> Sequence[Scalar]:
        """Iterate over the list: `step(place, entry, values)` gives the next values."""
        recorder, array = self._recorder, self._array
        if recorder is not None:

            def at(place: Index, state: Sequence[Scalar]) -> Sequence[Scalar]:
                return recorder.fold(
                    Entry(array, place, self.most), state, lambda entry, state: step(place, entry, state)
                )

            return recorder.fold(Each(array, self.most), state, at)
        for place, entry in enumerate(self._entries):
            state = step(place, entry, state)
        return state


class NewGrid(Protocol):
    """A function that makes grids."""

    def __call__(self, rows: int, columns: int, /, *, clear: bool = True, is_scratch: bool = False) -> Grid: ...


class Numbers(Protocol):
    """A list of numbers, or the memory of a program's input, where the counters of loops are indices as well."""

    def __len__(self) -> int: ...

    def __getitem__(self, k: Any, /) -> Scalar: ...


class Shared(Hashable, Protocol):
    """A function of numbers; equal ones do the same."""

    @property
    def name(self) -> str:
        """The program's name."""

    def __call__(self, grid: NewGrid, numbers: Numbers, /) -> Sequence[Scalar]:
        """Its results. `grid` makes the matrices that it works on; numbers are read where they are asked for."""
