"""Loops run backward: the bounds of their counters, and the same iterations in the opposite order.

Iterations and indices are constants of a program. So a walk, or a range whose last iteration depends on its start, is
written out into a table when the program is made; the backward loop counts through this table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinetree.expr.moved import same
from kinetree.expr.program import Append, Each, Entry, Index, Over, Range, Term, Walk

__all__ = ["Backward", "bounds", "slots"]

Bounds = tuple[int, int]
"""The smallest and the largest possible value; empty if the second is less."""


class Once(tuple[int, int]):
    """The same of a counter that has one value for those of the loops around it."""

    __slots__ = ()


def _of_index(index: Index, counters: Sequence[Bounds], tables: Sequence[Sequence[int]]) -> Bounds:
    low = high = index.base
    for t in index.terms:
        first, last = counters[t.loop]
        if t.table is not None:
            entries = tables[t.table][max(first, 0) : last + 1]
            if not entries:
                return 0, -1
            first, last = min(entries), max(entries)
        ends = (t.scale * first, t.scale * last)
        low, high = low + min(ends), high + max(ends)
    return low, high


def bounds(over: Over, counters: Sequence[Bounds], tables: Sequence[Sequence[int]]) -> Bounds:
    """Bounds of a loop's counter, given those of the enclosing loops. They need not be reached."""
    if isinstance(over, Each):
        return 0, over.most - 1
    if isinstance(over, (Append, Entry)):
        return Once((0, over.most if isinstance(over, Append) else over.most - 1))
    start, last = _of_index(over.start, counters, tables)
    if last < start:
        return 0, -1
    if isinstance(over, Walk):
        following = tables[over.next]
        reached: set[int] = set()
        todo = list(range(max(start, 1), min(last, len(following) - 1) + 1))
        while todo:
            at = todo.pop()
            if at != 0 and at not in reached:
                reached.add(at)
                todo.append(following[at])
        return (min(reached), max(reached)) if reached else (0, -1)
    stop = _of_index(over.stop, counters, tables)
    if stop[1] < stop[0]:
        return 0, -1
    return (start, stop[1] - 1) if over.step > 0 else (stop[0] + 1, last)


def slots(counters: Sequence[Bounds]) -> tuple[int, Index]:
    """The size of an array with one number per iteration of the enclosing loops, and the place of the current one."""
    size, at = 1, Index()
    for loop, (first, last) in reversed(list(enumerate(counters))):
        if isinstance(counters[loop], Once):
            continue
        at = at + Index(-first * size, (Term(loop, size),))
        size *= max(last - first + 1, 0)
    return size, at


class Backward:
    """Indices inside loops that run backward, with the tables that they need.

    `order` maps a loop that counts through a table to that table, whose entries are the original counters.
    """

    def __init__(self, tables: Sequence[tuple[int, ...]]) -> None:
        self.tables: list[tuple[int, ...]] = [*tables]
        """The program's tables, and those that are made here."""
        self._numbers: dict[tuple[int, ...], int] = {}
        self._composed: dict[tuple[int, int], int] = {}
        self.order: dict[int, int] = {}

    def index(self, at: Index) -> Index:
        """The same place in terms of the counters of the backward loops."""
        total = Index(at.base)
        for t in at.terms:
            if t.loop in self.order:
                order = self.order[t.loop]
                table = order if t.table is None else self._compose(t.table, order)
                t = Term(t.loop, t.scale, table)
            total = total + Index(0, (t,))
        return total

    def reverse(self, over: Over, counters: Sequence[Bounds]) -> tuple[Over, int | None]:
        """The loop in the opposite order, and the table that it counts through, if it does not count as before."""
        if isinstance(over, (Append, Each)):
            if over.step < 0:
                raise NotImplementedError("a list is gone through backward once: differentiate in reverse once")
            return replace(over.moved(self.index, same, same), step=-1), None
        if isinstance(over, Entry):
            return over.moved(self.index, same, same), None
        if isinstance(over, Range):
            if abs(over.step) == 1:
                start, stop = self.index(over.start), self.index(over.stop)
                return Range(stop - over.step, start - over.step, -over.step), None
            if not (over.stop - over.start).terms:
                rounds = len(range(0, (over.stop - over.start).base, over.step))
                start = self.index(over.start)
                return Range(start + over.step * (rounds - 1), start - over.step, -over.step), None
        loops = sorted({t.loop for t in (*over.start.terms, *(over.stop.terms if isinstance(over, Range) else ()))})
        if len(loops) > 1:
            raise NotImplementedError(
                f"a loop over {over} cannot run backward: its rounds depend on {len(loops)} counters; one is possible"
            )
        order: list[int] = []
        if not loops:
            order = list(over.rounds((), self.tables))[::-1]
            return Range(Index(0), Index(len(order))), self._table(order)
        (loop,) = loops
        first, stop_at = [0], []
        for counter in range(counters[loop][1] + 1):
            order += self._rounds(over, loop, counter)[::-1]
            first.append(len(order))
        stop_at = first[1:]
        begin = self.index(Index(0, (Term(loop, 1, self._table(first[:-1])),)))
        end = self.index(Index(0, (Term(loop, 1, self._table(stop_at)),)))
        return Range(begin, end), self._table(order)

    def _rounds(self, over: Range | Walk, loop: int, counter: int) -> list[int]:
        """The iterations for one value of the enclosing counter; none where a table ends, as that is never reached."""
        try:
            return list(over.rounds({loop: counter}, self.tables))  # type: ignore[arg-type]
        except IndexError:
            return []

    def _table(self, values: Sequence[int]) -> int:
        key = tuple(values)
        if key not in self._numbers:
            self._numbers[key] = len(self.tables)
            self.tables.append(key)
        return self._numbers[key]

    def _compose(self, outer: int, inner: int) -> int:
        """The table of outer[inner[k]]."""
        key = (outer, inner)
        if key not in self._composed:
            table = self.tables[outer]
            self._composed[key] = self._table([table[k] if 0 <= k < len(table) else 0 for k in self.tables[inner]])
        return self._composed[key]
