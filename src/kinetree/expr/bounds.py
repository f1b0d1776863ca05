"""Checks that every place a program reads or writes is within its array: when it is made, not when it runs.

Loop counters have known bounds, and so has every index made of them. Where that is not enough, counters are taken from
the beginnings of their loops on (y[i - first] in a loop from `first`); and if that is not enough either (y[i - j] in a
triangular loop), the iterations are enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from kinetree.expr.program import (
    Append,
    Block,
    Each,
    Entry,
    Index,
    Instruction,
    Load,
    Loop,
    Over,
    Program,
    Range,
    Store,
    Switch,
    Term,
    Walk,
)

__all__ = ["check_bounds"]

_MOST_ROUNDS = 1_000_000
_FAR = 2**62
_KNOWN = (Range, Walk)
"""Loops whose counters are known before the program runs; those of the others are all that their interval has."""
Interval = tuple[int, int]
"""The smallest and the largest number, both included."""


def check_bounds(program: Program) -> None:
    """Raise IndexError if a load or a store could go beyond its array, or a table lookup beyond its table."""
    loops: dict[tuple[Over, Interval], _Around] = {}
    _Check(program, 1, loops).block(program.body, ())
    if any(array.most for array in program.arrays):  # samples that are computed together share a list
        _Check(program, _FAR, loops).block(program.body, ())


class _Around:
    """An enclosing loop, and the values its counter can have: an interval or, in a case of a switch, some of it."""

    def __init__(self, over: Over, interval: Interval, among: Sequence[int] | None = None) -> None:
        self.over = over
        self.interval = interval
        self.among = among
        self._looked_up: dict[int, Interval] = {}
        self.sums: dict[tuple[Term, ...], Interval] = {}
        """The intervals of sums of several terms of this counter."""

    def where(self, on: Index, case: int, tables: Sequence[Sequence[int]]) -> _Around | None:
        """The loop restricted to counters at which an index of this counter alone is `case`; None without any."""
        (term,) = on.terms
        low, high = self.interval
        counters = self.among if self.among is not None else range(low, high + 1)
        if term.table is None:
            among = [c for c in counters if on.base + term.scale * c == case]
        else:
            table = tables[term.table]
            among = [c for c in counters if 0 <= c < len(table) and on.base + term.scale * table[c] == case]
        return _Around(self.over, (among[0], among[-1]), among) if among else None

    def entries(self, table: Sequence[int]) -> Sequence[int]:
        """The entries that are looked up in a table."""
        low, high = self.interval
        return table[max(low, 0) : high + 1] if self.among is None else [table[counter] for counter in self.among]

    def look_up(self, number: int, table: Sequence[int]) -> Interval:
        """The interval of the entries that are looked up in a table."""
        if number not in self._looked_up:
            low, high = self.interval
            entries = self.entries(table)
            if low < 0 or high >= len(table):
                entries = [*entries, -_FAR, _FAR]  # beyond the table: left to the enumeration
            self._looked_up[number] = min(entries), max(entries)
        return self._looked_up[number]


class _Check:
    def __init__(self, program: Program, samples: int, loops: dict[tuple[Over, Interval], _Around]) -> None:
        """`loops`: those that were met, one for all that are equal."""
        self._program = program
        self._loops = loops
        ports = (port.size for port in (*program.inputs, *program.outputs))
        self._sizes = [*ports, *(array.size_for(samples) for array in program.arrays)]

    def block(self, block: Block, around: tuple[_Around, ...]) -> None:
        for s in block.statements:
            if isinstance(s, Instruction):
                continue
            if isinstance(s, (Load, Store)):
                size = self._sizes[s.array]
                if s.at.terms or not 0 <= s.at.base < size:
                    self._within(s.at, size, around, f"the array {self._program.name_of(s.array)!r}")
            elif isinstance(s, Switch):
                self._within(s.on, len(s.cases), around, "a switch")
                for k, case in enumerate(s.cases):
                    inside = self._in_case(s.on, k, around)
                    if inside is not None:
                        self.block(case, inside)
            elif isinstance(s, Loop):
                if s.until is not None and self._program.stores_for_good(s.body):
                    raise ValueError(f"{self._program.name}: a loop that ends early stores something; carry it instead")
                interval = self._counter(s.over, around)
                if interval is not None:
                    inner = self._loops.setdefault((s.over, interval), _Around(s.over, interval))
                    self.block(s.body, (*around, inner))

    def _in_case(self, on: Index, case: int, around: tuple[_Around, ...]) -> tuple[_Around, ...] | None:
        """The enclosing loops, restricted to counters that lead to this case; None if none do."""
        if len(on.terms) != 1:
            return around if on.terms or on.base == case else None
        loop = on.terms[0].loop
        restricted = around[loop].where(on, case, self._program.tables)
        return None if restricted is None else (*around[:loop], restricted, *around[loop + 1 :])

    def _within(self, at: Index, size: int, around: tuple[_Around, ...], what: str) -> None:
        low, high = self._interval(at, around)
        if low < 0 or high >= size:
            low, high = self._from_beginnings(at, around)
        if low >= 0 and high < size:
            return
        tables = self._program.tables
        bounds = (x for one in around if isinstance(one.over, _KNOWN) for x in one.over.indices)
        matter = {t.loop for index in (at, *bounds) for t in index.terms}
        for number, counters in enumerate(_rounds(around, tables, matter)):
            if number > _MOST_ROUNDS:
                raise IndexError(
                    f"{self._program.name}: whether {at} stays within {what}, which has {size}, would take too long to "
                    "determine; write its loops with closer bounds"
                )
            place = at.at(counters, tables)
            if not 0 <= place < size:
                where = ", ".join(map(str, counters))
                raise IndexError(
                    f"{self._program.name}: place {place} of {what}, which has {size}, at the counters ({where})"
                )

    def _counter(self, over: Over, around: tuple[_Around, ...]) -> Interval | None:
        """The interval of a loop's counter; None without iterations."""
        if isinstance(over, Append):
            self._within(over.entry, over.most, around, "the entries of a list")
        if isinstance(over, (Append, Each)):
            room = self._sizes[over.array] - 2
            return (0, room) if isinstance(over, Append) else (0, room - 1) if room else None
        if isinstance(over, Entry):
            self._within(over.place, self._sizes[over.array] - 1, around, "a list")
            return 0, over.most - 1
        start = self._interval(over.start, around)
        if isinstance(over, Walk):
            entries = [entry for entry in self._program.tables[over.next] if entry != 0]  # zero ends the walk
            if start == (0, 0):
                return None
            return min([start[0] or 1, start[1], *entries]), max([start[1], *entries])
        stop = self._interval(over.stop, around)
        is_plain = all(t.table is None for t in (*over.start.terms, *over.stop.terms))
        may_be_empty = over.step == 1 and is_plain and over.start.terms
        if may_be_empty and self._from_beginnings(over.stop - over.start, around)[1] < 1:
            return None
        low, high = (start[0], stop[1] - 1) if over.step > 0 else (stop[0] + 1, start[1])
        return (low, high) if low <= high else None

    def _interval(self, index: Index, around: tuple[_Around, ...]) -> Interval:
        low = high = index.base
        for t in index.terms:
            ends = around[t.loop].interval
            if t.table is not None:
                ends = around[t.loop].look_up(t.table, self._program.tables[t.table])
            products = (t.scale * ends[0], t.scale * ends[1])
            low, high = low + min(products), high + max(products)
        return low, high

    def _from_beginnings(self, at: Index, around: tuple[_Around, ...]) -> Interval:
        """The interval of an index, with counters of ranges as their starts plus offsets."""
        low = high = 0
        for loop in reversed(range(len(around))):
            over = around[loop].over
            scale = sum(t.scale for t in at.terms if t.loop == loop and t.table is None)
            if scale and isinstance(over, Range) and over.step == 1 and (over.start.terms or over.stop.terms):
                _, length = self._from_beginnings(over.stop - over.start, around[:loop])
                at = at + (over.start - Index(0, (Term(loop),))) * scale
                low, high = low + min(0, scale * (length - 1)), high + max(0, scale * (length - 1))
        for loop in {t.loop for t in at.terms}:
            own, terms = around[loop], tuple([t for t in at.terms if t.loop == loop])
            if terms not in own.sums:
                own.sums[terms] = self._together(terms, own)
            ends = own.sums[terms]
            low, high = low + ends[0], high + ends[1]
        return at.base + low, at.base + high

    def _together(self, terms: Sequence[Term], around: _Around) -> Interval:
        """The interval of a sum of terms of one counter."""
        tables = [None if t.table is None else self._program.tables[t.table] for t in terms]
        first, last = around.interval
        ends = min((len(table) for table in tables if table is not None), default=last + 1)
        if len(terms) == 1 or first < 0 or last >= ends:
            return self._interval(Index(0, tuple(terms)), (around,) * (terms[0].loop + 1))
        counters = around.among or range(first, last + 1)
        entries = (counters if table is None else around.entries(table) for table in tables)
        sums = [*map(sum, zip(*([t.scale * x for x in of] for t, of in zip(terms, entries, strict=True)), strict=True))]
        return min(sums), max(sums)


def _rounds(
    around: Sequence[_Around], tables: Sequence[Sequence[int]], matter: Set[int], counters: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """The counters of nested loops in each iteration; of loops whose counters do not matter only one, if any."""
    if not around:
        yield counters
        return
    among, over, (low, high) = around[0].among, around[0].over, around[0].interval
    for counter in over.rounds(counters, tables) if isinstance(over, _KNOWN) else range(low, high + 1):
        if among is None or counter in among:
            yield from _rounds(around[1:], tables, matter, (*counters, counter))
            if len(counters) not in matter:
                break
