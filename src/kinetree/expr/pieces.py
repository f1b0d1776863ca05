"""Long programs in pieces, since compilers take more than twice as long for twice as many statements.

Long straight lines are cut; and in a program that is long altogether, so are steps that may be left out.

A piece is a program that takes earlier values and returns those needed later. The operations are the same, in the same
order, so the results are the same to the bit.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from kinetree.expr.moved import with_bodies
from kinetree.expr.program import (
    Argument,
    Block,
    Call,
    Instruction,
    Load,
    Loop,
    Port,
    Program,
    Statement,
    Switch,
    blocks_of,
    values_used,
)

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
        """Whether the present program is long, all of its blocks together."""
        self._known: dict[int, tuple[Program, Program]] = {}
        self._pieces: list[Program] = []
        """The pieces of the present program."""

    def program(self, program: Program) -> Program:
        """A program in pieces: itself if it needs no cut, and always the same one for the same program."""
        if id(program) not in self._known:
            cut = program
            around, self._is_long = self._is_long, sum(1 for _ in program.body.all_statements()) > self._long
            if self._has_work(program.body):
                outer, self._pieces = self._pieces, []
                cut = replace(program, body=shared(self._block(program.body, program.results or ()), self._pieces))
                self._pieces = outer
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

    def _block(self, block: Block, results: Sequence[Argument]) -> Block:
        """A block that ends with these results, in pieces."""
        statements = list(map(self._inside, block.statements))
        if len(statements) <= self._long:
            return Block(tuple(statements))
        last = {a: len(statements) for a in results if isinstance(a, int)}
        for k in reversed(range(len(statements))):
            for a in _all_used(statements[k]):
                last.setdefault(a, k)
        cut: list[Statement] = []
        first = 0
        while first < len(statements):
            end = first
            while end < len(statements) and end - first < self._piece and _is_plain(statements[end]):
                end += 1
            if end - first > self._piece // 2:
                cut += self._called(statements[first:end], lambda name: last.get(name, -1) >= end)  # noqa: B023
            else:
                end = max(end, first + 1)
                cut += statements[first:end]
            first = end
        return Block(tuple(cut))

    def _inside(self, s: Statement) -> Statement:
        if isinstance(s, Loop):
            body, may_be_left_out = s.body.statements, s.unless is not None
            if self._is_long and may_be_left_out and len(body) >= _BODY and all(map(_is_plain, body)):
                later = {a for a in s.next if isinstance(a, int)}
                return with_bodies(s, lambda _: Block(tuple(self._called(body, later.__contains__))))
            return with_bodies(s, lambda block: self._block(block, s.ends))
        if isinstance(s, Switch):
            return with_bodies(s, lambda block: self._block(block, ()))
        if isinstance(s, Call):
            return Call(self.program(s.program), s.args, s.defines)
        return s

    def _called(self, statements: Sequence[Statement], is_used: Callable[[int], bool]) -> list[Statement]:
        """Operations and loads as a call of a piece, after the loads; `is_used`: whether a value is, afterwards."""
        loads = [s for s in statements if isinstance(s, Load)]
        operations = [s for s in statements if isinstance(s, Instruction)]
        made = {s.name for s in operations}
        given = dict.fromkeys([a for s in operations for a in s.args if isinstance(a, int) and a not in made])
        returned = tuple([s.name for s in operations if is_used(s.name)])
        names = {name: k for k, name in enumerate((*given, *(s.name for s in operations)))}
        line = [
            Instruction(s.op, tuple([names[a] if isinstance(a, int) else a for a in s.args]), names[s.name])
            for s in operations
        ]
        ports = (Port("before", (len(given),)),), (Port("after", (len(returned),)),)
        program = Program("piece", *ports, Block(tuple(line)), tuple([names[name] for name in returned]))
        self._pieces.append(program)
        return [*loads, Call(program, tuple(given), returned)]


def _all_used(s: Statement) -> Iterator[int]:
    """The values that a statement uses, those of its bodies included."""
    yield from (a for a in values_used(s) if isinstance(a, int))
    for block in blocks_of(s):
        for inner in block.all_statements():
            yield from (a for a in values_used(inner) if isinstance(a, int))


def _is_plain(s: Statement) -> bool:
    return isinstance(s, (Instruction, Load))


def shared(block: Block, pieces: Iterable[Program]) -> Block:
    """The same statements, in which calls of pieces with the same operations call one program.

    Pieces are straight lines with one input and one output, whose values are named in order. Differences between their
    numbers become more inputs, unless that would be more work than it saves.
    """
    groups: dict[object, list[Program]] = {}
    for piece in pieces:
        groups.setdefault(_shape(piece), []).append(piece)
    known: dict[int, tuple[Program, tuple[float, ...]]] = {}
    for group in groups.values():
        known.update(_joined(group))
    return _calling(block, known) if known else block


def _shape(piece: Program) -> object:
    """The inputs, operations and results of a piece, without its numbers: pieces that can be one have the same."""
    operations = tuple((s.op, *(None if isinstance(a, float) else a for a in s.args)) for s in _operations(piece))
    results = tuple(_bits(a) if isinstance(a, float) else a for a in piece.results or ())
    return piece.input_size, operations, results


def _joined(group: list[Program]) -> dict[int, tuple[Program, tuple[float, ...]]]:
    """For each of these pieces the program to call in its place, and the numbers to call it with."""
    numbers = [[a for s in _operations(piece) for a in s.args if isinstance(a, float)] for piece in group]
    columns = [tuple(map(_bits, column)) for column in zip(*numbers, strict=True)]
    different = dict.fromkeys(column for column in columns if len(set(column)) > 1)
    saved = (len(group) - 1) * len(group[0].body.statements)
    if 2 * len(different) * len(group) > saved:
        alike: dict[tuple[bytes, ...], list[Program]] = {}
        for piece, own in zip(group, numbers, strict=True):
            alike.setdefault(tuple(map(_bits, own)), []).append(piece)
        return {id(piece): (same[0], ()) for same in alike.values() for piece in same}
    place = {column: k for k, column in enumerate(different)}
    first = [columns.index(column) for column in different]
    program = _given(group[0], [place.get(column) for column in columns], len(place))
    return {id(piece): (program, tuple(own[k] for k in first)) for piece, own in zip(group, numbers, strict=True)}


def _given(piece: Program, places: list[int | None], count: int) -> Program:
    """A piece with `count` more inputs; `places` maps each of its numbers to one of them, or keeps it."""
    before = piece.input_size
    which = iter(places)

    def argument(a: Argument) -> Argument:
        if isinstance(a, float):
            place = next(which)
            return a if place is None else before + place
        return a if a < before else a + count

    operations = tuple(Instruction(s.op, tuple(map(argument, s.args)), s.name + count) for s in _operations(piece))
    results = tuple(a if isinstance(a, float) or a < before else a + count for a in piece.results or ())
    port = replace(piece.inputs[0], shape=(before + count,))
    return replace(piece, inputs=(port,), body=Block(operations), results=results)


def _calling(block: Block, known: dict[int, tuple[Program, tuple[float, ...]]]) -> Block:
    def changed(s: Statement) -> Statement:
        if isinstance(s, (Loop, Switch)):
            return with_bodies(s, inside)
        if not isinstance(s, Call) or id(s.program) not in known:
            return s
        program, numbers = known[id(s.program)]
        return Call(program, (*s.args, *numbers), s.defines)

    def inside(block: Block) -> Block:
        return Block(tuple(map(changed, block.statements)))

    return inside(block)


def _operations(piece: Program) -> Iterator[Instruction]:
    for s in piece.body.statements:
        assert isinstance(s, Instruction)
        yield s


def _bits(x: float) -> bytes:
    return struct.pack("<d", x)
