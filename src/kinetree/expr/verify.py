"""Checks of every program's invariants: tests run it between all passes."""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.expr.ops import OPS
from kinetree.expr.program import (
    Argument,
    Block,
    Call,
    Index,
    Instruction,
    Load,
    Loop,
    Program,
    Range,
    Statement,
    Store,
    Switch,
    Walk,
)

__all__ = ["verify"]


def verify(program: Program) -> None:
    """Raise ValueError if a program breaks a rule of `kinetree.expr.program`; places in arrays are for `check_bounds`.

    >>> from kinetree.expr import Block, Instruction, Port
    >>> line = Block((Instruction("sin", (0,), 1), Instruction("cos", (2,), 1)))
    >>> verify(Program("twice", (Port("x", ()),), (Port("y", ()),), line, (1,)))
    Traceback (most recent call last):
    ValueError: twice: %2 is used where it is not defined, in Instruction(op='cos', args=(2,), name=1)
    """
    _Verifier(program)


class _Verifier:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._seen = set(range(program.input_size))
        """The names that are taken."""
        size = sum(port.size for port in program.outputs)
        visible = self._block(program.body, frozenset(self._seen), 0)
        if program.results is not None:
            self._use(program.results, visible, "the results")
            self._same(len(program.results), size, "the results")

    def _fail(self, message: str, where: object) -> None:
        raise ValueError(f"{self._program.name}: {message}, in {where if isinstance(where, str) else repr(where)}")

    def _same(self, count: int, expected: int, where: object) -> None:
        if count != expected:
            self._fail(f"there are {count} values in place of {expected}", where)

    def _use(self, arguments: Iterable[Argument], visible: frozenset[int] | set[int], where: object) -> None:
        for a in arguments:
            if type(a) not in (int, float):
                self._fail(f"{a!r} is neither a name nor a float", where)
            if isinstance(a, int) and a not in visible:
                self._fail(f"%{a} is used where it is not defined", where)

    def _define(self, names: tuple[int, ...], visible: set[int], where: object) -> None:
        for name in names:
            if name in self._seen:
                self._fail(f"%{name} is defined twice", where)
            self._seen.add(name)
        visible.update(names)

    def _index(self, at: Index, depth: int, where: object) -> None:
        for t in at.terms:
            if not 0 <= t.loop < depth:
                self._fail(f"the counter of loop {t.loop} is used outside of it", where)
            if t.table is not None and not 0 <= t.table < len(self._program.tables):
                self._fail(f"there is no table {t.table}", where)

    def _block(self, block: Block, outer: frozenset[int], depth: int) -> set[int]:
        """The values that are visible at the end of a block."""
        visible = set(outer)
        for s in block.statements:
            self._statement(s, visible, depth)
            self._define(s.defines, visible, s)
        return visible

    def _statement(self, s: Statement, visible: set[int], depth: int) -> None:
        program = self._program
        if isinstance(s, Instruction):
            self._use(s.args, visible, s)
            self._same(len(s.args), OPS[s.op].arity, s)
        elif isinstance(s, (Load, Store)):
            if not 0 <= s.array < program.first_array + len(program.arrays):
                self._fail(f"there is no array {s.array}", s)
            self._index(s.at, depth, s)
            if isinstance(s, Store):
                self._use((s.value,), visible, s)
                own = s.array - program.first_array
                if own >= 0 and program.arrays[own].values is not None:
                    self._fail("constants are stored into", s)
        elif isinstance(s, Call):
            self._use(s.args, visible, s)
            self._same(len(s.args), s.program.input_size, s)
            self._same(len(s.defines), s.program.output_size, s)
        elif isinstance(s, Switch):
            self._index(s.on, depth, s)
            for case in s.cases:
                self._block(case, frozenset(visible), depth)
        else:
            self._loop(s, visible, depth)

    def _loop(self, s: Loop, visible: set[int], depth: int) -> None:
        program = self._program
        for index in s.over.indices:
            self._index(index, depth, s.over)
        if isinstance(s.over, Walk):
            if not 0 <= s.over.next < len(program.tables):
                self._fail(f"there is no table {s.over.next}", s.over)
        elif not isinstance(s.over, Range):
            own = s.over.array - program.first_array
            if not 0 <= own < len(program.arrays) or not 2 <= program.arrays[own].size <= s.over.most + 2:
                self._fail(f"array {s.over.array} is not a list of up to {s.over.most} entries", s.over)
        self._use(s.given, visible, "the carried values of a loop")
        for values in (s.carried, s.next, s.defines):
            self._same(len(values), len(s.entry), "the carried values of a loop")
        ends_early = s.until is not None or s.unless is not None
        if ends_early and program.stores_for_good(s.body):
            self._fail("a loop that ends early stores something", "what may be left out")
        inside = set(visible)
        self._define(s.entry, inside, "a loop")
        self._use(s.ends, self._block(s.body, frozenset(inside), depth + 1), "the end of a loop")
