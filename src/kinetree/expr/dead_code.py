"""Dead code elimination: removes statements whose values are not used and stores into arrays that are not read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kinetree.expr.named import Line, Lines, LoopLine, NamedProgram, SwitchLine, moved, named, numbered
from kinetree.expr.program import Argument, Array, Index, Load, Program, Store

__all__ = ["remove_dead", "without_dead_code"]


def without_dead_code(program: Program) -> Program:
    """The same function by the same operations, without those that do not affect any output.

    >>> from kinetree.expr import Block, Instruction, Port
    >>> line = Block((Instruction("sin", (0,)), Instruction("cos", (0,))))
    >>> without_dead_code(Program("cosine", (Port("x", ()),), (Port("y", ()),), line, (2,)))
    cosine(x[]) -> y[]
      %1 = cos(%0)
    """
    return numbered(remove_dead(named(program)))


def remove_dead(program: NamedProgram) -> NamedProgram:
    """Remove dead code from a program with named values, and the arrays and tables that it leaves unused."""
    alive = _Alive(program)
    lines = alive.kept(program.lines)
    return _without_unused_memory(replace(program, lines=lines))


class _Alive:
    """What is needed. A store is needed if its array is read, so the search repeats until nothing new is found."""

    def __init__(self, program: NamedProgram) -> None:
        self._values: set[int] = set()
        self._arrays: set[int] = set()
        if program.results is None:
            self._arrays.update(range(len(program.inputs), program.first_array))
        else:
            self._use(program.results)
        before = -1
        while before != len(self._values) + len(self._arrays):
            before = len(self._values) + len(self._arrays)
            self._block(program.lines)

    def _use(self, arguments: Iterable[Argument]) -> None:
        self._values.update(a for a in arguments if isinstance(a, int))

    def _block(self, lines: Lines) -> None:
        """Mark what a block needs."""
        for line in reversed(lines):
            if isinstance(line, SwitchLine):
                for case in line.cases:
                    self._block(case)
            elif isinstance(line, LoopLine):
                carried = self._carried(line)
                self._use(line.carried[k] for k in carried)
                self._use(line.next[k] for k in carried)
                if carried:
                    self._use(a for a in (line.until, line.unless) if a is not None)
                self._block(line.body)
            else:
                self._line(line)

    def _line(self, line: Line) -> None:
        s = line.statement
        if isinstance(s, Store):
            if s.array in self._arrays:
                self._use((s.value,))
        elif self._values.intersection(line.defines):
            if isinstance(s, Load):
                self._arrays.add(s.array)
            else:
                self._use(s.args)

    def _carried(self, line: LoopLine) -> list[int]:
        """The carried values that are needed, inside the loop or after it."""
        pairs = enumerate(zip(line.entry, line.defines, strict=True))
        return [k for k, names in pairs if self._values.intersection(names)]

    def kept(self, lines: Lines) -> Lines:
        kept: Lines = []
        for line in lines:
            if isinstance(line, SwitchLine):
                cases = tuple(map(self.kept, line.cases))
                if any(cases):
                    kept.append(SwitchLine(line.on, cases))
            elif isinstance(line, LoopLine):
                carried, body = self._carried(line), self.kept(line.body)
                if carried or body:
                    before, after = (tuple(values[k] for k in carried) for values in (line.carried, line.next))
                    entry, defines = (tuple(names[k] for k in carried) for names in (line.entry, line.defines))
                    loop = replace(line, entry=entry, carried=before, body=body, next=after, defines=defines)
                    kept.append(loop)
            elif isinstance(line.statement, Store):
                if line.statement.array in self._arrays:
                    kept.append(line)
            elif self._values.intersection(line.defines):
                kept.append(line)
        return kept


def _without_unused_memory(program: NamedProgram) -> NamedProgram:
    """Renumber the arrays and tables that are used, and drop the others."""
    first = program.first_array
    arrays: dict[int, int] = {k: k for k in range(first)}
    tables: dict[int, int] = {}

    def place(k: int, at: Index) -> tuple[int, Index]:
        return arrays.setdefault(k, len(arrays)), at

    def table(k: int) -> int:
        return tables.setdefault(k, len(tables))

    lines = moved(program.lines, place, table)
    used_arrays: list[Array] = [program.arrays[k - first] for k in arrays if k >= first]
    return replace(program, lines=lines, arrays=used_arrays, tables=[program.tables[k] for k in tables])
