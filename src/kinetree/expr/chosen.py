"""Some of a program's outputs: the rest, and what only they need, is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from kinetree.expr.dead_code import without_dead_code
from kinetree.expr.moved import moved
from kinetree.expr.program import Array, Block, Index, Program

__all__ = ["with_outputs"]


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
