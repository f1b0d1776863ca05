"""Runs a program on numbers of any kind, loops and memory included, with given operations.

So another system's symbols can go through a program, one iteration after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinetree.expr.interpret import append, rounds
from kinetree.expr.program import Append, Argument, Block, Call, Instruction, Load, Loop, Program, Store
from kinetree.records import record

__all__ = ["run_on"]

Number = Any


def run_on(
    program: Program, operations: Mapping[str, Callable[..., Number]], *arguments: Sequence[Number]
) -> list[list[Number]]:
    """The outputs of a program, flat, from a flat sequence per input.

    `operations` has a function for each of the table's that the program uses; for loops that end early "select" and
    "max" as well: they go through all of their iterations here, and carried values stay as they were when they ended.
    Lists have all entries.

    >>> from kinetree.expr import Port, trace
    >>> program = trace(lambda x: [[x[0] * x[1]]], [Port("x", (2,))], [Port("y", ())], "product")
    >>> run_on(program, {"mul": lambda a, b: f"({a} * {b})"}, ["width", "height"])
    [['(width * height)']]
    """
    memory: list[list[Number]] = [list(x) for x in arguments]
    values = dict(enumerate([x for argument in memory for x in argument]))
    memory += ([0.0] * port.size for port in program.outputs)
    for array in program.arrays:
        memory.append([0.0] * max(array.size, array.most) if array.values is None else [*array.values])
    _Run(program, operations, memory).block(program.body, values, ())
    if program.results is None:
        return memory[len(program.inputs) : len(program.inputs) + len(program.outputs)]
    results = iter([_value(a, values) for a in program.results])
    return [[next(results) for _ in range(port.size)] for port in program.outputs]


def _value(a: Argument, values: Mapping[int, Number]) -> Number:
    return a if isinstance(a, float) else values[a]


@record(frozen=True, slots=True)
class _Run:
    """One run, with its memory: one list per port, then the program's own arrays."""

    program: Program
    operations: Mapping[str, Callable[..., Number]]
    memory: list[list[Number]]

    def block(self, block: Block, values: dict[int, Number], counters: tuple[int, ...]) -> None:
        tables = self.program.tables
        for s in block.statements:
            if isinstance(s, Instruction):
                values[s.name] = self.operations[s.op](*(_value(a, values) for a in s.args))
            elif isinstance(s, Load):
                values[s.name] = self.memory[s.array][s.at.at(counters, tables)]
            elif isinstance(s, Store):
                self.memory[s.array][s.at.at(counters, tables)] = _value(s.value, values)
            elif isinstance(s, Call):
                flat = iter([_value(a, values) for a in s.args])
                ports = [[next(flat) for _ in range(port.size)] for port in s.program.inputs]
                results = [x for output in run_on(s.program, self.operations, *ports) for x in output]
                values.update(zip(s.defines, results, strict=True))
            elif isinstance(s, Loop):
                self.loop(s, values, counters)
            else:
                self.block(s.cases[s.on.at(counters, tables)], values, counters)

    def loop(self, s: Loop, values: dict[int, Number], counters: tuple[int, ...]) -> None:
        state = [_value(a, values) for a in s.carried]
        ended = None if s.unless is None else _value(s.unless, values)
        for counter in rounds(s.over, counters, self.program, self.memory):
            values.update(zip(s.entry, state, strict=True))
            self.block(s.body, values, (*counters, counter))
            following = [_value(a, values) for a in s.next]
            if ended is None:
                state = following
            else:
                state = [self.operations["select"](ended, old, new) for old, new in zip(state, following, strict=True)]
            if isinstance(s.over, Append):
                append(s.over, counters, self.program, self.memory)
            elif s.until is not None:
                until = _value(s.until, values)
                ended = until if ended is None else self.operations["max"](ended, until)
        values.update(zip(s.defines, state, strict=True))
