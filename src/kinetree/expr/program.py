"""Programs: the result of a trace, changed by every pass and read by every backend.

Every value has a name, an integer that is its own in the whole program: the inputs are 0, 1, …, port after port, and
each statement names its results. So a pass inserts and removes statements without touching the others, which the old
and the new program share: statements never change. An argument is the name of a value (int) or a constant (float). A
straight-line program is a body of `Instruction`s alone.

Memory: a program has arrays of numbers. The first are its ports, inputs before outputs; then come scratch arrays and
tables of constants. `Load` and `Store` access them at an `Index` made of the counters of the enclosing loops and of
tables of integers. All samples of a group take the same path, so indices and the iterations of a loop do not depend on
data, with one exception: a list (`Append`, `Each`, `Entry`) has the entries that any sample of the group asks for. A
sample has others as well as its own there, which must make no difference to it.

A list is an array: its length, then its entries, then one place that is free. Entries are whole numbers from 0 up to
but not including `most`, in ascending order, and a sample may ask for two less than the array's size.

Scope: a body sees the outer values; its own are not seen outside. `verify` checks all of this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from kinetree.records import record

__all__ = [
    "Append",
    "Argument",
    "Array",
    "Block",
    "Call",
    "Each",
    "Entry",
    "Index",
    "Instruction",
    "Load",
    "Loop",
    "Over",
    "Port",
    "Program",
    "Range",
    "Statement",
    "Store",
    "Switch",
    "Term",
    "Walk",
    "blocks_of",
    "values_used",
]

Argument = int | float


@record(frozen=True, slots=True)
class Port:
    """A named argument or result: an array of one sample, flattened in C order."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size


@record(frozen=True, slots=True)
class Array:
    """Memory of one sample, `size` numbers; or constants that all samples share, if `values` are given.

    Arrays of one `record` have one number per entry of the same thing, such as a body: a backend may lay them out side
    by side, entry by entry.
    """

    name: str
    size: int
    values: tuple[float, ...] | None = None
    record: str = ""
    clear: bool = False
    """Whether it is initially zero; otherwise its content before a store is undefined."""
    is_scratch: bool = False
    """Whether loops that end early, and bodies that may be left out, may store into it: what they store there makes no
    difference after they ended, or where they are left out."""
    most: int = 0
    """The largest size for a group of samples, of a list or of numbers by the place in one: samples that are computed
    together share its places, so they need `size` for each of them, but never more than this. Zero: no list."""

    def size_for(self, samples: int) -> int:
        """The size for a group of samples."""
        return min(samples * self.size, self.most) if self.most else self.size


@record(frozen=True, slots=True)
class Term:
    """scale · counter, or scale · table[counter]. Loops are numbered from the outermost, 0."""

    loop: int
    scale: int = 1
    table: int | None = None


@record(frozen=True, slots=True)
class Index:
    """base + the sum of its terms: a place in an array, or a loop's bound. Sums and multiples are indices, too."""

    base: int = 0
    terms: tuple[Term, ...] = ()

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.base + other, self.terms)
        scales: dict[tuple[int, int | None], int] = {}
        for t in (*self.terms, *other.terms):
            scales[t.loop, t.table] = scales.get((t.loop, t.table), 0) + t.scale
        terms = tuple(Term(loop, scale, table) for (loop, table), scale in scales.items() if scale)
        return Index(self.base + other.base, terms)

    __radd__ = __add__

    def __sub__(self, other: Index | int) -> Index:
        return self + other * -1

    def __rsub__(self, other: int) -> Index:
        return self * -1 + other

    def __mul__(self, factor: int) -> Index:
        return Index(self.base * factor, tuple(Term(t.loop, t.scale * factor, t.table) for t in self.terms))

    __rmul__ = __mul__

    def at(self, counters: Sequence[int], tables: Sequence[Sequence[int]]) -> int:
        """The value of the index, given the counters of the enclosing loops."""
        total = self.base
        for t in self.terms:
            counter = counters[t.loop]
            total += t.scale * (counter if t.table is None else tables[t.table][counter])
        return total


Move = Callable[[Index], Index]
Renumber = Callable[[int], int]


@record(frozen=True, slots=True)
class Instruction:
    """One operation of the table on earlier values."""

    op: str
    args: tuple[Argument, ...]
    name: int

    @property
    def defines(self) -> tuple[int, ...]:
        return (self.name,)


@record(frozen=True, slots=True)
class Load:
    """Reads a number from an array."""

    array: int
    at: Index
    name: int

    @property
    def defines(self) -> tuple[int, ...]:
        return (self.name,)


@record(frozen=True, slots=True)
class Store:
    """Writes a number into an array."""

    array: int
    at: Index
    value: Argument
    defines: ClassVar[tuple[int, ...]] = ()


@record(frozen=True, slots=True)
class Range:
    """start, start + step, … up to but not including stop."""

    start: Index
    stop: Index
    step: int = 1

    @property
    def indices(self) -> tuple[Index, ...]:
        return self.start, self.stop

    def rounds(self, counters: Sequence[int], tables: Sequence[Sequence[int]]) -> Iterator[int]:
        return iter(range(self.start.at(counters, tables), self.stop.at(counters, tables), self.step))

    def moved(self, index: Move, _array: Renumber, _table: Renumber) -> Range:
        return Range(index(self.start), index(self.stop), self.step)


@record(frozen=True, slots=True)
class Walk:
    """start, next[start], … until that is zero: from a body to the root."""

    start: Index
    next: int
    """The number of a table."""

    @property
    def indices(self) -> tuple[Index, ...]:
        return (self.start,)

    def rounds(self, counters: Sequence[int], tables: Sequence[Sequence[int]]) -> Iterator[int]:
        at = self.start.at(counters, tables)
        while at != 0:
            yield at
            at = tables[self.next][at]

    def moved(self, index: Move, _array: Renumber, table: Renumber) -> Walk:
        return Walk(index(self.start), table(self.next))


@record(frozen=True, slots=True)
class Append:
    """Once: the counter is the length of a list, where the body may store numbers of an entry. Then the entry becomes
    the last one, unless the loop's `until` is not zero.

    Backward, with step -1, the iterations undo this in the opposite order: the last entry goes before the body if it
    is this one.
    """

    array: int
    """The list."""
    entry: Index
    most: int
    step: int = 1

    @property
    def indices(self) -> tuple[Index, ...]:
        return (self.entry,)

    def rounds(self, counters: Sequence[int], tables: Sequence[Sequence[int]]) -> Iterator[int]:
        """The counter if all entries are in the list."""
        return iter((self.entry.at(counters, tables),))

    def moved(self, index: Move, array: Renumber, _table: Renumber) -> Append:
        return Append(array(self.array), index(self.entry), self.most, self.step)


@record(frozen=True, slots=True)
class Each:
    """The places of a list: 0, 1, … up to but not including its length; with step -1 in the opposite order."""

    array: int
    most: int
    step: int = 1

    @property
    def indices(self) -> tuple[Index, ...]:
        return ()

    def rounds(self, _counters: Sequence[int], _tables: Sequence[Sequence[int]]) -> Iterator[int]:
        """The places if all entries are in the list."""
        return iter(range(self.most)[:: self.step])

    def moved(self, _index: Move, array: Renumber, _table: Renumber) -> Each:
        return Each(array(self.array), self.most, self.step)


@record(frozen=True, slots=True)
class Entry:
    """Once: the counter is the entry at a place of a list."""

    array: int
    place: Index
    most: int

    @property
    def indices(self) -> tuple[Index, ...]:
        return (self.place,)

    def rounds(self, counters: Sequence[int], tables: Sequence[Sequence[int]]) -> Iterator[int]:
        """The entry if all entries are in the list."""
        return iter((self.place.at(counters, tables),))

    def moved(self, index: Move, array: Renumber, _table: Renumber) -> Entry:
        return Entry(array(self.array), index(self.place), self.most)


Over = Range | Walk | Append | Each | Entry
"""A loop's counters."""


@record(frozen=True, slots=True)
class Loop:
    """Repeats a body, once per counter; values are carried between iterations, and their last ones are the results."""

    over: Over
    body: Block
    entry: tuple[int, ...] = ()
    """The names of the carried values in the body."""
    carried: tuple[Argument, ...] = ()
    """The carried values before the first iteration."""
    next: tuple[Argument, ...] = ()
    """The carried values after an iteration, which the body sees."""
    defines: tuple[int, ...] = ()
    """The names of the carried values after the loop."""
    until: Argument | None = None
    """A value inside the body: the iteration in which it is not zero is the last one of this sample. Such a body stores
    into scratch arrays alone: a backend may continue with samples that have ended, and drop their carried values. Over
    `Append` it says that the entry is not needed; all samples keep what they carry."""
    unless: Argument | None = None
    """A value from outside the body: where it is not zero, the body changes no carried value, so a backend may leave it
    out. Such a body stores into scratch arrays alone, and has one iteration."""

    @property
    def given(self) -> tuple[Argument, ...]:
        """The loop's inputs from outside."""
        return self.carried if self.unless is None else (*self.carried, self.unless)

    @property
    def ends(self) -> tuple[Argument, ...]:
        """The body's results for the loop."""
        return self.next if self.until is None else (*self.next, self.until)


@record(frozen=True, slots=True)
class Switch:
    """Runs one of several bodies, chosen by an index."""

    on: Index
    cases: tuple[Block, ...]
    defines: ClassVar[tuple[int, ...]] = ()


@record(frozen=True, slots=True)
class Call:
    """Runs another program on values: its inputs, flat, port after port; it defines its outputs, flat."""

    program: Program
    args: tuple[Argument, ...]
    defines: tuple[int, ...]


Statement = Instruction | Load | Store | Loop | Switch | Call


@record(frozen=True, slots=True)
class Block:
    """Statements in order."""

    statements: Sequence[Statement]
    """A tuple, once the program is complete."""

    def all_statements(self) -> Iterator[Statement]:
        """The block's own statements, and those of the blocks inside."""
        inside = [iter(self.statements)]
        while inside:
            for s in inside[-1]:
                yield s
                if isinstance(s, (Loop, Switch)):
                    inside += [iter(block.statements) for block in reversed(blocks_of(s))]
                    break
            else:
                inside.pop()


def blocks_of(s: Statement) -> tuple[Block, ...]:
    """The bodies of a statement."""
    return (s.body,) if isinstance(s, Loop) else s.cases if isinstance(s, Switch) else ()


def values_used(s: Statement) -> tuple[Argument, ...]:
    """The values that a statement uses itself; without those of its bodies' statements."""
    if isinstance(s, Instruction):
        return s.args
    if isinstance(s, Load | Switch):
        return ()
    return (s.value,) if isinstance(s, Store) else s.args if isinstance(s, Call) else (*s.given, *s.ends)


@record(frozen=True, slots=True, weakref_slot=True)
class Program:
    """A function of arrays, for one sample."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    body: Block
    results: tuple[Argument, ...] | None
    """The outputs, flat; or None if the body stores them, in which case those not stored are zero."""
    arrays: tuple[Array, ...] = ()
    """The arrays after the ports."""
    tables: tuple[tuple[int, ...], ...] = ()
    is_shared: bool = False
    """Whether several programs call it: a backend may keep its code apart from theirs, once for all of them."""

    def size(self) -> int:
        """How many statements there are to compile: in all blocks, and once in each program that is called."""
        return sum(sum(1 for _ in one.body.all_statements()) for one in self._called({}).values())

    def _called(self, known: dict[int, Program]) -> dict[int, Program]:
        """This program and all that it calls, each once."""
        if id(self) not in known:
            known[id(self)] = self
            for s in self.body.all_statements():
                if isinstance(s, Call):
                    s.program._called(known)
        return known

    @property
    def input_size(self) -> int:
        return sum(port.size for port in self.inputs)

    @property
    def output_size(self) -> int:
        return sum(port.size for port in self.outputs)

    @property
    def first_array(self) -> int:
        """The number of the first array that is not a port."""
        return len(self.inputs) + len(self.outputs)

    @property
    def is_straight(self) -> bool:
        """Whether the body is only instructions that compute the results, without memory."""
        return self.results is not None and all(isinstance(s, Instruction) for s in self.body.statements)

    def stores_for_good(self, block: Block) -> bool:
        """Whether something in a block stores into an array other than scratch."""
        own = self.first_array
        stores = (s.array for s in block.all_statements() if isinstance(s, Store))
        return any(array < own or not self.arrays[array - own].is_scratch for array in stores)

    def size_of(self, array: int) -> int:
        """The size of an array, ports included."""
        return self._array(array).size

    def name_of(self, array: int) -> str:
        """The name of an array, ports included."""
        return self._array(array).name

    def _array(self, number: int) -> Port | Array:
        ports = (*self.inputs, *self.outputs)
        return ports[number] if number < len(ports) else self.arrays[number - len(ports)]

    def operation_counts(self) -> Counter[str]:
        """How many of each operation are executed per sample, at most; the golden tests pin the total."""
        return _Counting(self.tables).of(self.body, ())

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self.inputs)
        results = ", ".join(f"{p.name}{list(p.shape)}" for p in self.outputs)
        lines = [f"{self.name}({ports}) -> {results}"]
        _write(self.body, {k: k for k in range(self.input_size)}, self.input_size, "  ", self, lines)
        return "\n".join(lines)


class _Counting:
    """The operations of blocks, each counted once for all counters of loops around it on which they do not depend."""

    def __init__(self, tables: Sequence[Sequence[int]]) -> None:
        self._tables = tables
        self._asked: dict[int, list[int]] = {}
        self._known: dict[tuple[int, tuple[int, ...]], Counter[str]] = {}

    def of(self, block: Block, counters: tuple[int, ...]) -> Counter[str]:
        key = id(block), tuple([counters[k] for k in self._asks_for(block) if k < len(counters)])
        if key not in self._known:
            self._known[key] = self._counted(block, counters)
        return self._known[key]

    def _counted(self, block: Block, counters: tuple[int, ...]) -> Counter[str]:
        total = Counter([s.op for s in block.statements if isinstance(s, Instruction)])
        for s in block.statements:
            if isinstance(s, Call):
                total += s.program.operation_counts()
            elif isinstance(s, Switch):
                total += self.of(s.cases[s.on.at(counters, self._tables)], counters)
            elif isinstance(s, Loop):
                rounds = list(s.over.rounds(counters, self._tables))
                alike = len(counters) not in self._asks_for(s.body)
                for counter in rounds[:1] if alike else rounds:
                    for op, count in self.of(s.body, (*counters, counter)).items():
                        total[op] += count * (len(rounds) if alike else 1)
        return total

    def _asks_for(self, block: Block) -> list[int]:
        """The loops, from the outermost one on, on whose counters it depends which statements inside are executed."""
        if id(block) not in self._asked:
            bounds: list[Index] = []
            for s in block.all_statements():
                if isinstance(s, Switch):
                    bounds.append(s.on)
                elif isinstance(s, Loop):
                    bounds += s.over.indices
            self._asked[id(block)] = sorted({term.loop for bound in bounds for term in bound.terms})
        return self._asked[id(block)]


def _write(block: Block, numbers: dict[int, int], number: int, indent: str, program: Program, lines: list[str]) -> None:
    """The statements of a block as text, one line each; values are numbered in order, from `number` on."""

    def place(array: int, at: Index) -> str:
        return f"{program.name_of(array)}[{_text(at)}]"

    def value(a: Argument) -> str:
        return repr(a) if isinstance(a, float) else f"%{numbers[a]}"

    def values(arguments: Sequence[Argument]) -> str:
        return ", ".join(map(value, arguments))

    for s in block.statements:
        first = number + len(s.defines)
        numbers.update(zip(s.defines, range(number, first), strict=True))
        if isinstance(s, Instruction):
            lines.append(f"{indent}%{number} = {s.op}({values(s.args)})")
        elif isinstance(s, Load):
            lines.append(f"{indent}%{number} = {place(s.array, s.at)}")
        elif isinstance(s, Store):
            lines.append(f"{indent}{place(s.array, s.at)} = {value(s.value)}")
        elif isinstance(s, Call):
            lines.append(f"{indent}{values(s.defines)} = {s.program.name}({values(s.args)})")
        elif isinstance(s, Switch):
            for k, case in enumerate(s.cases):
                lines.append(f"{indent}if {_text(s.on)} is {k}:")
                _write(case, numbers, number, indent + "  ", program, lines)
        else:
            numbers.update(zip(s.entry, range(number, first), strict=True))
            carried = "".join(f", %{numbers[k]} = {value(a)}" for k, a in zip(s.entry, s.carried, strict=True))
            unless = "" if s.unless is None else f" unless {value(s.unless)}"
            lines.append(f"{indent}for {_rounds(s.over, program)}{unless}{carried}:")
            _write(s.body, numbers, first, indent + "  ", program, lines)
            if s.next:
                lines.append(f"{indent}  next {values(s.next)}")
            if s.until is not None:
                lines.append(f"{indent}  until {value(s.until)}")
        number = first


def _text(index: Index) -> str:
    parts = []
    for t in index.terms:
        counter = f"k{t.loop}" if t.table is None else f"table{t.table}[k{t.loop}]"
        parts.append(counter if t.scale == 1 else f"{t.scale} {counter}")
    if index.base or not parts:
        parts.append(str(index.base))
    return " + ".join(parts)


def _rounds(over: Over, program: Program) -> str:
    if isinstance(over, Walk):
        return f"{_text(over.start)} and on by table{over.next}"
    if isinstance(over, (Append, Each, Entry)):
        name = program.name_of(over.array)
        if isinstance(over, Entry):
            return f"the entry at {_text(over.place)} of {name}"
        back = " backward" if over.step < 0 else ""
        return f"each place of {name}{back}" if isinstance(over, Each) else f"{_text(over.entry)} in {name}{back}"
    step = f" by {over.step}" if over.step != 1 else ""
    return f"{_text(over.start)} to {_text(over.stop)}{step}"
