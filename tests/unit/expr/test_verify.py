"""The verifier finds each way in which a program can break its promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kinetree.expr import (
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
    Store,
    Switch,
    Term,
    Walk,
)
from kinetree.expr.program import Statement
from kinetree.expr.verify import verify

HERE, INSIDE, ONCE = Index(), Index(0, (Term(0),)), Range(Index(0), Index(1))
EMPTY = Program("empty", (Port("x", (2,)),), (Port("y", ()),), Block(()), (0,))
SQUARE = replace(EMPTY, name="square", body=Block((Instruction("mul", (0, 0), 2),)), results=(2,))


def stored(*statements: Statement) -> Program:
    """A program without results whose array 2 is constant and whose array 3 is scratch memory."""
    arrays = (Array("constants", 1, (1.0,)), Array("scratch", 4))
    return replace(EMPTY, body=Block(statements), results=None, arrays=arrays, tables=((0, 0),))


def body(*statements: Statement) -> Block:
    return Block(statements)


BROKEN = {
    "%3 is used where it is not defined": stored(Instruction("sin", (3,), 2)),
    "%1 is defined twice": stored(Instruction("sin", (0,), 1)),
    "%2 is defined twice": stored(Instruction("sin", (0,), 2), Load(0, HERE, 2)),
    "True is neither a name nor a float": stored(Instruction("sin", (True,), 2)),
    "there are 1 values in place of 2": stored(Instruction("add", (0,), 2)),
    "there are 2 values in place of 1, in the results": replace(EMPTY, results=(0, 1)),
    "%2 is used where it is not defined, in the results": replace(
        EMPTY, body=body(Loop(ONCE, body(Instruction("sin", (0,), 2)))), results=(2,)
    ),
    "%4 is used where it is not defined": stored(
        Switch(HERE, (body(Instruction("sin", (0,), 4)), body(Store(1, HERE, 4))))
    ),
    "%5 is used where it is not defined": stored(Loop(ONCE, body(), (5,), (5,), (5,), (6,))),
    "there is no array 4": stored(Load(4, HERE, 2)),
    "there is no table 1": stored(Loop(ONCE, body(Load(0, Index(0, (Term(0, 1, 1),)), 2)))),
    "there is no table 2": stored(Loop(Walk(HERE, 2), body())),
    "the counter of loop 0 is used outside of it": stored(Store(1, INSIDE, 0.0)),
    "constants are stored into": stored(Store(2, HERE, 0.0)),
    "a loop that ends early stores something": stored(Loop(ONCE, body(Store(1, HERE, 0)), until=1.0)),
    "there are 0 values in place of 1, in the carried values": stored(Loop(ONCE, body(), (2,), (0,), (), (3,))),
    "there are 1 values in place of 2, in Call": stored(Call(SQUARE, (0,), (2,))),
    "there are 2 values in place of 1, in Call": stored(Call(SQUARE, (0, 1), (2, 3))),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_program_is_found(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        verify(BROKEN[message])


def test_a_whole_program_passes() -> None:
    verify(stored(Call(SQUARE, (0, 1), (2,)), Loop(ONCE, body(Store(3, INSIDE, 4)), (4,), (2,), (4,), (5,))))
