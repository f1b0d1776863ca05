"""The meaning of a program: run it, one operation after the other, on floats."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr.ops import OPS
from kinetree.expr.program import Program

__all__ = ["interpret"]


def interpret(program: Program, *arguments: Sequence[float]) -> tuple[list[float], ...]:
    """Run a program on one sample: a flat sequence a port in, a flat list a port out.

    Every backend must agree with this to the rounding of its sine and cosine.
    """
    if len(arguments) != len(program.inputs):
        raise TypeError(f"{program.name} takes {len(program.inputs)} arguments, not {len(arguments)}")
    values: list[float] = []
    for port, argument in zip(program.inputs, arguments, strict=True):
        if len(argument) != port.size:
            raise ValueError(f"{program.name}: {port.name} needs {port.size} numbers, not {len(argument)}")
        values.extend(map(float, argument))

    for statement in program.body.statements:
        args = [a if isinstance(a, float) else values[a] for a in statement.args]
        values.append(OPS[statement.op].evaluate(*args))

    results = [a if isinstance(a, float) else values[a] for a in program.results]
    outputs, start = [], 0
    for port in program.outputs:
        outputs.append(results[start : start + port.size])
        start += port.size
    return tuple(outputs)
