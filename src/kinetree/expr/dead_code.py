"""Dead code elimination: removes statements whose values are not used and stores into arrays that are not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from kinetree.expr.moved import moved
from kinetree.expr.program import (
    Append,
    Argument,
    Array,
    Block,
    Call,
    Each,
    Entry,
    Index,
    Instruction,
    Load,
    Loop,
    Program,
    Statement,
    Store,
    Switch,
    blocks_of,
)

__all__ = ["with_outputs", "without_dead_code"]


def without_dead_code(program: Program) -> Program:
    """The same function by the same operations, without those that do not affect any output.

    Arrays and tables that are left unused go as well; the others are in the order of their first use.

    >>> from kinetree.expr import Block, Instruction, Port
    >>> line = Block((Instruction("sin", (0,), 1), Instruction("cos", (0,), 2)))
    >>> without_dead_code(Program("cosine", (Port("x", ()),), (Port("y", ()),), line, (2,)))
    cosine(x[]) -> y[]
      %1 = cos(%0)
    """
    return _with_used_memory(replace(program, body=_Alive(program).kept(program.body)))


class _Alive:
    """Needed values and arrays. A store is needed if its array is read, so the search repeats until it finds none."""

    def __init__(self, program: Program) -> None:
        self._values: set[int] = set()
        self._arrays: set[int] = set()
        if program.results is None:
            self._arrays.update(range(len(program.inputs), program.first_array))
        else:
            self._use(program.results)
        self._stored: dict[int, frozenset[int]] = {}
        self._repeat = True
        while self._repeat:
            self._repeat = False
            self._block(program.body)

    def _use(self, arguments: Iterable[Argument]) -> None:
        self._values.update([a for a in arguments if isinstance(a, int)])

    def _block(self, block: Block) -> None:
        """Mark the needs of a block."""
        values, arrays = self._values, self._arrays
        for s in reversed(block.statements):
            if isinstance(s, Instruction):
                if s.name in values:
                    for a in s.args:
                        if isinstance(a, int):
                            values.add(a)
            elif isinstance(s, Load):
                if s.name in values and s.array not in arrays:
                    arrays.add(s.array)
                    self._repeat = True
            elif isinstance(s, Store):
                if s.array in arrays:
                    self._use((s.value,))
            elif isinstance(s, Call):
                if not values.isdisjoint(s.defines):
                    self._use(s.args)
            elif isinstance(s, Switch):
                for case in s.cases:
                    self._block(case)
            else:
                self._loop(s)

    def _loop(self, s: Loop) -> None:
        known: list[int] | None = None
        while known != (carried := self._carried(s)):
            known = carried
            self._use([s.carried[k] for k in carried])
            self._use([s.next[k] for k in carried])
            if carried or self._stores(s):
                self._use([a for a in (s.until, s.unless) if a is not None])
                if isinstance(s.over, (Append, Each, Entry)) and s.over.array not in self._arrays:
                    self._arrays.add(s.over.array)
                    self._repeat = True
            self._block(s.body)

    def _stores(self, loop: Loop) -> bool:
        """Whether something in a loop is stored that is read."""
        return not self._arrays.isdisjoint(self._stored_in(loop))

    def _stored_in(self, s: Statement) -> frozenset[int]:
        """The arrays into which a statement or something in it stores; the program keeps statements alive."""
        if isinstance(s, Store):
            return frozenset((s.array,))
        if not isinstance(s, (Loop, Switch)):
            return frozenset()
        if id(s) not in self._stored:
            own = (s.over.array,) if isinstance(s, Loop) and isinstance(s.over, Append) else ()
            inside = (self._stored_in(inner) for block in blocks_of(s) for inner in block.statements)
            self._stored[id(s)] = frozenset(own).union(*inside)
        return self._stored[id(s)]

    def _appends(self, s: Statement) -> bool:
        """Whether an entry is appended to a list that is read."""
        return isinstance(s, Loop) and isinstance(s.over, Append) and s.over.array in self._arrays

    def _carried(self, s: Loop) -> list[int]:
        """The carried values that are needed, inside the loop or after it."""
        pairs = enumerate(zip(s.entry, s.defines, strict=True))
        return [k for k, names in pairs if not self._values.isdisjoint(names)]

    def kept(self, block: Block) -> Block:
        kept: list[Statement] = []
        for s in block.statements:
            if isinstance(s, (Instruction, Load)):
                if s.name in self._values:
                    kept.append(s)
            elif isinstance(s, Store):
                if s.array in self._arrays:
                    kept.append(s)
            elif isinstance(s, Call):
                if not self._values.isdisjoint(s.defines):
                    kept.append(s)
            elif isinstance(s, Switch):
                cases = tuple(map(self.kept, s.cases))
                if any(case.statements for case in cases):
                    kept.append(Switch(s.on, cases))
            else:
                carried, body = self._carried(s), self.kept(s.body)
                if carried or body.statements or self._appends(s):
                    before, after = (tuple([values[k] for k in carried]) for values in (s.carried, s.next))
                    entry, defines = (tuple([names[k] for k in carried]) for names in (s.entry, s.defines))
                    kept.append(Loop(s.over, body, entry, before, after, defines, s.until, s.unless))
        return Block(tuple(kept))


def _with_used_memory(program: Program) -> Program:
    """Renumber the arrays and tables that are used, and drop the others."""
    first = program.first_array
    arrays: dict[int, int] = {k: k for k in range(first)}
    tables: dict[int, int] = {}

    def place(k: int, at: Index) -> tuple[int, Index]:
        return arrays.setdefault(k, len(arrays)), at

    def table(k: int) -> int:
        return tables.setdefault(k, len(tables))

    body = Block(tuple(moved(program.body.statements, place, table)))
    own = tuple([program.arrays[k - first] for k in arrays if k >= first])
    return replace(program, body=body, arrays=own, tables=tuple([program.tables[k] for k in tables]))


def with_outputs(program: Program, chosen: Sequence[int]) -> Program:
    """The program with the outputs of these numbers alone, in this order.

    >>> from kinetree.expr import Port, forward_derivative, trace
    >>> square = trace(lambda x: [[x[0] * x[0]]], [Port("x", (1,))], [Port("y", ())], "square")
    >>> with_outputs(forward_derivative(square), [1])
    d_square(x[1], d_x[1]) -> d_y[]
      %2 = mul(%0, %1)
      %3 = fma(%0, %1, %2)
    """
    first, count = len(program.inputs), len(program.outputs)
    outputs = tuple(program.outputs[k] for k in chosen)
    results = program.results
    if results is not None:
        starts = list(accumulate((port.size for port in program.outputs), initial=0))
        results = tuple(a for k in chosen for a in results[starts[k] : starts[k + 1]])
    # What the body stores into a dropped output it may read again, so that becomes memory, which is zero at first.
    dropped = [k for k in range(count) if k not in chosen]
    places = {first + k: first + n for n, k in enumerate([*chosen, *dropped])}
    memory = [Array(program.outputs[k].name, program.outputs[k].size, clear=True) for k in dropped]

    def place(array: int, at: Index) -> tuple[int, Index]:
        return places.get(array, array), at

    body = Block(tuple(moved(program.body.statements, place, lambda table: table)))
    arrays = (*memory, *program.arrays)
    return without_dead_code(replace(program, outputs=outputs, body=body, results=results, arrays=arrays))
