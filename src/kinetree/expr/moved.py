"""Statements in other memory, inside more loops, or under other names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from kinetree.expr.program import (
    Argument,
    Block,
    Call,
    Index,
    Instruction,
    Load,
    Loop,
    Statement,
    Store,
    Switch,
    Term,
)

__all__ = ["moved", "same", "with_bodies"]

_T = TypeVar("_T")


def same(x: _T) -> _T:
    """The same index, array or table."""
    return x


def with_bodies(s: Loop | Switch, change: Callable[[Block], Block]) -> Loop | Switch:
    """The same statement with changed bodies."""
    if isinstance(s, Switch):
        return Switch(s.on, tuple(map(change, s.cases)))
    return Loop(s.over, change(s.body), s.entry, s.carried, s.next, s.defines, s.until, s.unless)


def moved(
    statements: Iterable[Statement],
    place: Callable[[int, Index], tuple[int, Index]],
    table: Callable[[int], int],
    name: Callable[[int], int] | None = None,
    depth: int = 0,
) -> list[Statement]:
    """The same statements in other memory and `depth` more loops: `place` moves arrays and indices, `table` renumbers
    tables, and `name` gives values other names, if there are any.
    """

    def index(at: Index) -> Index:
        if not depth and (not at.terms or all(t.table is None or table(t.table) == t.table for t in at.terms)):
            return at
        terms = (Term(t.loop + depth, t.scale, None if t.table is None else table(t.table)) for t in at.terms)
        return Index(at.base, tuple(terms))

    def argument(a: Argument) -> Argument:
        return a if name is None or isinstance(a, float) else name(a)

    def names(values: tuple[int, ...]) -> tuple[int, ...]:
        return values if name is None else tuple(map(name, values))

    def arguments(values: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return values if name is None else tuple(map(argument, values))

    def inside(block: Block) -> Block:
        return Block(tuple(map(move, block.statements)))

    def move(s: Statement) -> Statement:
        if isinstance(s, Instruction):
            return s if name is None else Instruction(s.op, arguments(s.args), name(s.name))
        if isinstance(s, (Load, Store)):
            array, at = place(s.array, index(s.at))
            if name is None and array == s.array and at is s.at:
                return s
            if isinstance(s, Store):
                return Store(array, at, argument(s.value))
            return Load(array, at, s.name if name is None else name(s.name))
        if isinstance(s, Call):
            return s if name is None else Call(s.program, arguments(s.args), names(s.defines))
        if isinstance(s, Switch):
            return Switch(index(s.on), tuple(map(inside, s.cases)))
        over = s.over.moved(index, lambda array: place(array, Index())[0], table)
        entry, carried, body = names(s.entry), arguments(s.carried), inside(s.body)
        until = None if s.until is None else argument(s.until)
        unless = None if s.unless is None else argument(s.unless)
        return Loop(over, body, entry, carried, arguments(s.next), names(s.defines), until, unless)

    return list(map(move, statements))
