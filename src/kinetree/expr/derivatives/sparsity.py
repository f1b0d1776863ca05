"""How much of a Jacobian is not known to be zero: what it costs to write it out one direction after another."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr.derivatives.rules import RULES
from kinetree.expr.program import Argument, Instruction, Program

__all__ = ["operations_along"]


def operations_along(program: Program, directions: Sequence[int]) -> int:
    """How many operations of a straight line change along each of some directions, all directions together.

    `directions` has a number per input value, one after another, whose bit k is set if direction k changes the value.

    >>> from kinetree.expr import Port, trace
    >>> product = trace(lambda x: [[x[0] * x[1], 2.0 * x[1]]], [Port("x", (2,))], [Port("y", (2,))], "product")
    >>> operations_along(product, [0b01, 0b10])
    3
    """
    along = dict(enumerate(directions))
    total = 0

    def of(a: Argument) -> int:
        return along[a] if isinstance(a, int) else 0

    for s in program.body.statements:
        assert isinstance(s, Instruction)
        changes = 0
        for k in RULES[s.op].passes:
            changes |= of(s.args[k])
        along[s.name] = changes
        total += changes.bit_count()
    return total
