"""Long programs in pieces, since compilers take more than twice as long for twice as many statements.

Long straight lines are cut; and in a program that is long altogether, so are steps that may be left out.

A piece is a program that is called with what it needs from before, and returns what is needed later. The operations are
the same, in the same order, so the results are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinetree.expr.alike import shared
from kinetree.expr.named import Line, Lines, LoopLine, SwitchLine, named, numbered, values_used
from kinetree.expr.program import Argument, Block, Call, Instruction, Load, Loop, Port, Program, Switch

__all__ = ["in_pieces"]

_LONG = 30_000
"""Statements of a block from which on it is cut."""
_PIECE = 8_000
_BODY = 30
"""Operations of a step that may be left out from which on it is a piece, if the program is long."""


def in_pieces(program: Program, long: int = _LONG, piece: int = _PIECE) -> Program:
    """The same program, in which blocks of more than `long` statements call programs of up to `piece` operations.

    >>> from kinetree.expr import trace
    >>> line = trace(lambda x: [[x[0] * x[1] / x[0]]], [Port("x", (2,))], [Port("y", ())], "line")
    >>> in_pieces(line, long=1, piece=1)
    line(x[2]) -> y[]
      %2 = piece(%0, %1)
      %3 = piece(%2, %0)
    """
    return _Cutter(long, piece).program(program)


class _Cutter:
    def __init__(self, long: int, piece: int) -> None:
        self._long = long
        self._piece = piece
        self._is_long = False
        """Whether the program at hand is long, all of its blocks together."""
        self._known: dict[int, tuple[Program, Program]] = {}
        self._pieces: list[Program] = []
        """The pieces of the program at hand."""

    def program(self, program: Program) -> Program:
        """A program in pieces: itself if there is nothing to cut, and always the same one for the same program."""
        if id(program) not in self._known:
            cut = program
            around, self._is_long = self._is_long, sum(1 for _ in program.body.all_statements()) > self._long
            if self._has_work(program.body):
                whole = named(program)
                outer, self._pieces = self._pieces, []
                lines = shared(self._block(whole.lines, whole.results or ()), self._pieces)
                self._pieces = outer
                cut = numbered(replace(whole, lines=lines))
            self._is_long = around
            self._known[id(program)] = program, cut
        return self._known[id(program)][1]

    def _has_work(self, block: Block) -> bool:
        """Whether a block is long, or one inside it, or one of a program that is called."""
        if len(block.statements) > self._long or self._is_long:
            return True
        return any(
            (isinstance(s, Loop) and self._has_work(s.body))
            or (isinstance(s, Switch) and any(map(self._has_work, s.cases)))
            or (isinstance(s, Call) and self.program(s.program) is not s.program)
            for s in block.statements
        )

    def _block(self, lines: Lines, results: Sequence[Argument]) -> Lines:
        """The lines of a block that ends with these results."""
        lines = list(map(self._inside, lines))
        if len(lines) <= self._long:
            return lines
        last: dict[Argument, int] = dict.fromkeys(results, len(lines))
        for k in reversed(range(len(lines))):
            for a in values_used(lines[k]):
                last.setdefault(a, k)
        cut: Lines = []
        first = 0
        while first < len(lines):
            end = first
            while end < len(lines) and end - first < self._piece and _is_plain(lines[end]):
                end += 1
            if end - first > self._piece // 2:
                cut += self._called(lines[first:end], {a for a, k in last.items() if k >= end})
            else:
                end = max(end, first + 1)
                cut += lines[first:end]
            first = end
        return cut

    def _inside(self, line: Line | LoopLine | SwitchLine) -> Line | LoopLine | SwitchLine:
        if isinstance(line, LoopLine):
            is_piece = self._is_long and line.unless is not None and all(map(_is_plain, line.body))
            if is_piece and len(line.body) >= _BODY:
                return replace(line, body=self._called(line.body, {a for a in line.next if isinstance(a, int)}))
            return replace(line, body=self._block(line.body, line.ends))
        if isinstance(line, SwitchLine):
            return replace(line, cases=tuple(self._block(case, ()) for case in line.cases))
        if isinstance(line.statement, Call):
            return replace(line, statement=replace(line.statement, program=self.program(line.statement.program)))
        return line

    def _called(self, lines: Lines, later: set[Argument]) -> Lines:
        """Operations and loads as a call of a piece, after the loads; `later`: the values that are used afterwards."""
        loads: Lines = []
        operations: list[tuple[Instruction, int]] = []
        for line in lines:
            assert isinstance(line, Line)
            if isinstance(line.statement, Instruction):
                operations.append((line.statement, line.defines[0]))
            else:
                loads.append(line)
        made = {name for _, name in operations}
        given = dict.fromkeys(a for s, _ in operations for a in s.args if isinstance(a, int) and a not in made)
        returned = [name for _, name in operations if name in later]
        numbers: dict[Argument, int] = {name: k for k, name in enumerate((*given, *(name for _, name in operations)))}
        body = Block(
            tuple(
                Instruction(s.op, tuple(a if isinstance(a, float) else numbers[a] for a in s.args))
                for s, _ in operations
            )
        )
        ports = (Port("before", (len(given),)),), (Port("after", (len(returned),)),)
        program = Program("piece", *ports, body, tuple(numbers[name] for name in returned))
        self._pieces.append(program)
        return [*loads, Line(Call(program, tuple(given)), tuple(returned))]


def _is_plain(line: Line | LoopLine | SwitchLine) -> bool:
    return isinstance(line, Line) and isinstance(line.statement, Instruction | Load)
