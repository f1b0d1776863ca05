"""Programs with one name per value, for passes that insert and remove statements.

In a `Program`, the number of a value depends on all statements before it. Here each value has a name of its own, an
integer that never changes and is never reused, and bodies are lists. `named` and `numbered` convert there and back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from kinetree.expr.program import (
    Argument,
    Array,
    Block,
    Call,
    Index,
    Instruction,
    Load,
    Loop,
    Port,
    Program,
    Range,
    Statement,
    Store,
    Switch,
    Term,
    Walk,
)
from kinetree.records import record

__all__ = [
    "Line",
    "Lines",
    "LoopLine",
    "NamedProgram",
    "SwitchLine",
    "moved",
    "named",
    "numbered",
    "renamed",
    "values_used",
]


@record(slots=True, eq=False)
class Line:
    """A statement without a body; its arguments are names."""

    statement: Instruction | Load | Store | Call
    defines: tuple[int, ...]


@record(slots=True, eq=False)
class LoopLine:
    """A loop; `entry` names the carried values as its body sees them."""

    over: Range | Walk
    entry: tuple[int, ...]
    carried: tuple[Argument, ...]
    body: Lines
    next: tuple[Argument, ...]
    defines: tuple[int, ...]
    until: Argument | None = None
    unless: Argument | None = None

    @property
    def given(self) -> tuple[Argument, ...]:
        """What the loop takes from outside."""
        return self.carried if self.unless is None else (*self.carried, self.unless)

    @property
    def ends(self) -> tuple[Argument, ...]:
        """What the body computes for the loop."""
        return self.next if self.until is None else (*self.next, self.until)


@record(slots=True, eq=False)
class SwitchLine:
    on: Index
    cases: tuple[Lines, ...]
    defines: tuple[int, ...] = ()


Lines = list[Line | LoopLine | SwitchLine]


@record(slots=True, eq=False)
class NamedProgram:
    """A program whose inputs are named 0, 1, …, as they are numbered."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    lines: Lines
    results: tuple[Argument, ...] | None
    arrays: list[Array]
    tables: list[tuple[int, ...]]

    @property
    def input_size(self) -> int:
        return sum(port.size for port in self.inputs)

    @property
    def first_array(self) -> int:
        """The number of the first array that is not a port."""
        return len(self.inputs) + len(self.outputs)


def values_used(line: Line | LoopLine | SwitchLine) -> Iterator[Argument]:
    """The values that a line uses, those of its bodies included."""
    if isinstance(line, LoopLine):
        yield from line.given
        yield from line.ends
        for inner in line.body:
            yield from values_used(inner)
    elif isinstance(line, SwitchLine):
        for case in line.cases:
            for inner in case:
                yield from values_used(inner)
    elif isinstance(line.statement, Store):
        yield line.statement.value
    elif not isinstance(line.statement, Load):
        yield from line.statement.args


def renamed(
    s: Instruction | Load | Store | Call, new: Callable[[Argument], Argument]
) -> Instruction | Load | Store | Call:
    """The same statement with other arguments."""
    if isinstance(s, Store):
        return Store(s.array, s.at, new(s.value))
    if isinstance(s, Load):
        return s
    return replace(s, args=tuple(map(new, s.args)))


def moved(
    lines: Lines,
    place: Callable[[int, Index], tuple[int, Index]],
    table: Callable[[int], int],
    name: Callable[[int], int] = lambda n: n,
    depth: int = 0,
) -> Lines:
    """The same lines in other memory and `depth` more loops: `place` moves arrays and indices, `table` and `name`
    renumber tables and values.
    """

    def index(at: Index) -> Index:
        if not depth and all(t.table is None for t in at.terms):
            return at
        terms = (Term(t.loop + depth, t.scale, None if t.table is None else table(t.table)) for t in at.terms)
        return Index(at.base, tuple(terms))

    def rounds(over: Range | Walk) -> Range | Walk:
        if isinstance(over, Walk):
            return Walk(index(over.start), table(over.next))
        return Range(index(over.start), index(over.stop), over.step)

    def argument(a: Argument) -> Argument:
        return a if isinstance(a, float) else name(a)

    def names(values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(map(name, values))

    def move(line: Line | LoopLine | SwitchLine) -> Line | LoopLine | SwitchLine:
        if isinstance(line, SwitchLine):
            return SwitchLine(index(line.on), tuple([move(inner) for inner in case] for case in line.cases))
        if isinstance(line, LoopLine):
            over, carried = rounds(line.over), tuple(map(argument, line.carried))
            body = [move(inner) for inner in line.body]
            following, until = tuple(map(argument, line.next)), None if line.until is None else argument(line.until)
            unless = None if line.unless is None else argument(line.unless)
            return LoopLine(over, names(line.entry), carried, body, following, names(line.defines), until, unless)
        s = line.statement
        if isinstance(s, Load):
            return Line(Load(*place(s.array, index(s.at))), names(line.defines))
        if isinstance(s, Store):
            return Line(Store(*place(s.array, index(s.at)), argument(s.value)), ())
        return Line(renamed(s, argument), names(line.defines))

    return [move(line) for line in lines]


def named(program: Program) -> NamedProgram:
    """A program whose values have names."""
    fresh = count(program.input_size)

    def names(n: int) -> tuple[int, ...]:
        return tuple(next(fresh) for _ in range(n))

    def lines_of(block: Block, around: Sequence[int]) -> tuple[Lines, list[int]]:
        seen = list(around)  # names by number

        def name(a: Argument) -> Argument:
            return a if isinstance(a, float) else seen[a]

        lines: Lines = []
        for s in block.statements:
            if isinstance(s, Loop):
                carried = tuple(map(name, s.carried))
                entry = names(s.defines)
                body, inside = lines_of(s.body, [*seen, *entry])
                following = tuple(a if isinstance(a, float) else inside[a] for a in s.next)
                until = inside[s.until] if isinstance(s.until, int) else s.until
                unless = None if s.unless is None else name(s.unless)
                lines.append(LoopLine(s.over, entry, carried, body, following, names(s.defines), until, unless))
            elif isinstance(s, Switch):
                lines.append(SwitchLine(s.on, tuple(lines_of(case, seen)[0] for case in s.cases)))
            else:
                lines.append(Line(renamed(s, name), names(s.defines)))
            seen.extend(lines[-1].defines)
        return lines, seen

    lines, seen = lines_of(program.body, range(program.input_size))
    results = program.results and tuple(a if isinstance(a, float) else seen[a] for a in program.results)
    tables = list(program.tables)
    return NamedProgram(program.name, program.inputs, program.outputs, lines, results, list(program.arrays), tables)


def numbered(program: NamedProgram) -> Program:
    """The program with numbered values, as the backends read it."""
    numbers: dict[int, int] = {k: k for k in range(program.input_size)}

    def number(a: Argument) -> Argument:
        return a if isinstance(a, float) else numbers[a]

    def define(names: Sequence[int], first: int) -> int:
        numbers.update(zip(names, range(first, first + len(names)), strict=True))
        return first + len(names)

    def block_of(lines: Lines, first: int) -> Block:
        statements: list[Statement] = []
        for line in lines:
            if isinstance(line, LoopLine):
                carried = tuple(map(number, line.carried))
                unless = None if line.unless is None else number(line.unless)
                body = block_of(line.body, define(line.entry, first))
                until = None if line.until is None else number(line.until)
                statements.append(Loop(line.over, body, carried, tuple(map(number, line.next)), until, unless))
            elif isinstance(line, SwitchLine):
                statements.append(Switch(line.on, tuple(block_of(case, first) for case in line.cases)))
            else:
                statements.append(renamed(line.statement, number))
            first = define(line.defines, first)
        return Block(tuple(statements))

    body = block_of(program.lines, program.input_size)
    results = program.results and tuple(map(number, program.results))
    arrays, tables = tuple(program.arrays), tuple(program.tables)
    return Program(program.name, program.inputs, program.outputs, body, results, arrays, tables)
