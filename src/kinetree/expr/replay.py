"""Runs a program again on numbers of any kind: floats, symbols of another trace, arrays of samples.

So programs made from programs, above all derivatives, can be used inside an algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import add, mul, neg, sub, truediv
from typing import Any

from kinetree.expr import functions
from kinetree.expr.ops import PHILOX
from kinetree.expr.program import Instruction, Program

__all__ = ["ARITHMETIC", "replay"]

ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": truediv,
    "neg": neg,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
}
"""Operations on numbers of any kind that have Python's operators."""
_MEANING: Mapping[str, Callable[..., Any]] = {
    **ARITHMETIC,
    "sqrt": functions.sqrt,
    "sin": functions.sin,
    "cos": functions.cos,
    "atan2": functions.atan2,
    "exp": functions.exp,
    "log": functions.log,
    "tanh": functions.tanh,
    "min": functions.minimum,
    "max": functions.maximum,
    "abs": functions.absolute,
    "floor": functions.floor,
    "lt": functions.less,
    "le": functions.less_equal,
    "eq": functions.equal,
    "settled": lambda a: a,
    "slopes_of": functions.slopes_of,
    "select": functions.select,
    **dict(zip(PHILOX, functions.random_words, strict=True)),
}


def replay(program: Program, *arguments: Sequence[Any]) -> list[list[Any]]:
    """Run a straight-line program: it takes a flat sequence per input port and returns a flat list per output port.

    >>> from kinetree.expr import Port, trace
    >>> program = trace(lambda x: [[x[0] * x[1]]], [Port("x", (2,))], [Port("y", ())], "product")
    >>> replay(program, [3.0, 5.0])
    [[15.0]]
    """
    values = dict(enumerate([x for argument in arguments for x in argument]))
    if len(values) != program.input_size:
        raise ValueError(f"{program.name} takes {program.input_size} numbers, not {len(values)}")
    assert program.results is not None
    for s in program.body.statements:
        if not isinstance(s, Instruction):
            raise TypeError(f"{program.name} is not a straight line of instructions, so it cannot be run again")
        values[s.name] = _MEANING[s.op](*[a if isinstance(a, float) else values[a] for a in s.args])
    flat = iter([a if isinstance(a, float) else values[a] for a in program.results])
    return [[next(flat) for _ in range(port.size)] for port in program.outputs]
