"""Pieces of a program that do the same with other numbers, as one piece that is given the numbers."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kinetree.expr.moved import with_bodies
from kinetree.expr.program import Argument, Block, Call, Instruction, Loop, Program, Statement, Switch

__all__ = ["shared"]


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
