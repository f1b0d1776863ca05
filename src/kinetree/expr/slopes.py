"""What only derivatives need: dropped before a program is compiled that is not to be differentiated any more."""

from __future__ import annotations

from dataclasses import replace

from kinetree.expr.dead_code import remove_dead
from kinetree.expr.named import Line, Lines, LoopLine, NamedProgram, SwitchLine, named, numbered, renamed
from kinetree.expr.program import Argument, Call, Instruction, Program

__all__ = ["without_slopes"]

_MARKS = ("settled", "slopes_of")


def without_slopes(program: Program) -> Program:
    """The same function with `slopes_of(a, b)` and `settled(a)` replaced by a; itself, if it has none.

    >>> from kinetree.expr import Port, slopes_of, trace
    >>> without_slopes(trace(lambda x: [[slopes_of(x[0], x[0] * x[0])]], [Port("x", (1,))], [Port("y", ())], "same"))
    same(x[1]) -> y[]
    """
    return _Without().program(program)


class _Without:
    """Programs that were met, so that one called in several places stays one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Program, Program]] = {}

    def program(self, program: Program) -> Program:
        if id(program) not in self._known:
            changed = program
            if self._has_slopes(program):
                source = named(program)
                values: dict[int, Argument] = {}
                lines = self._lines(source.lines, values)
                results = source.results and tuple(_new(a, values) for a in source.results)
                made: NamedProgram = replace(source, lines=lines, results=results)
                changed = numbered(remove_dead(made))
            self._known[id(program)] = program, changed
        return self._known[id(program)][1]

    def _has_slopes(self, program: Program) -> bool:
        return any(
            (isinstance(s, Instruction) and s.op in _MARKS)
            or (isinstance(s, Call) and self.program(s.program) is not s.program)
            for s in program.body.all_statements()
        )

    def _lines(self, lines: Lines, values: dict[int, Argument]) -> Lines:
        kept: Lines = []
        for line in lines:
            if isinstance(line, SwitchLine):
                kept.append(replace(line, cases=tuple(self._lines(case, values) for case in line.cases)))
            elif isinstance(line, LoopLine):
                carried = tuple(_new(a, values) for a in line.carried)
                body = self._lines(line.body, values)
                following = tuple(_new(a, values) for a in line.next)
                until = None if line.until is None else _new(line.until, values)
                unless = None if line.unless is None else _new(line.unless, values)
                kept.append(replace(line, carried=carried, body=body, next=following, until=until, unless=unless))
            elif isinstance(line.statement, Instruction) and line.statement.op in _MARKS:
                values[line.defines[0]] = _new(line.statement.args[0], values)
            else:
                statement = renamed(line.statement, lambda a: _new(a, values))
                if isinstance(statement, Call):
                    statement = replace(statement, program=self.program(statement.program))
                kept.append(Line(statement, line.defines))
        return kept


def _new(a: Argument, values: dict[int, Argument]) -> Argument:
    return values.get(a, a) if isinstance(a, int) else a
