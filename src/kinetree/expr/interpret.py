"""The meaning of a program: run it, one statement after the other, on floats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from typing import Any

from kinetree.expr.ops import OPS
from kinetree.expr.program import (
    Append,
    Argument,
    Block,
    Call,
    Each,
    Entry,
    Instruction,
    Load,
    Loop,
    Over,
    Program,
    Range,
    Store,
    Switch,
    Walk,
)
from kinetree.records import record

__all__ = ["append", "interpret", "rounds"]


def interpret(program: Program, *arguments: Sequence[float]) -> tuple[list[float], ...]:
    """Run a program on one sample: it takes a flat sequence per input port and returns a flat list per output port.

    Every backend must agree with this to the rounding of its sine and cosine.
    """
    if len(arguments) != len(program.inputs):
        raise TypeError(f"{program.name} takes {len(program.inputs)} arguments, not {len(arguments)}")
    memory: list[list[float]] = []
    for port, argument in zip(program.inputs, arguments, strict=True):
        if len(argument) != port.size:
            raise ValueError(f"{program.name}: {port.name} needs {port.size} numbers, not {len(argument)}")
        memory.append([float(x) for x in argument])
    values = dict(enumerate([x for argument in memory for x in argument]))
    memory += ([0.0] * port.size for port in program.outputs)
    for array in program.arrays:
        undefined = 0.0 if array.clear else math.nan
        memory.append([undefined] * array.size if array.values is None else list(array.values))

    _Run(program, memory).block(program.body, values, ())
    outputs = memory[len(program.inputs) : len(program.inputs) + len(program.outputs)]
    if program.results is not None:
        results = iter([_value(a, values) for a in program.results])
        outputs = [[next(results) for _ in range(port.size)] for port in program.outputs]
    return tuple(outputs)


def _value(a: Argument, values: Mapping[int, float]) -> float:
    return a if isinstance(a, float) else values[a]


@record(frozen=True, slots=True)
class _Run:
    """One run, with its memory: one array per port, then the program's own."""

    program: Program
    memory: list[list[float]]

    def block(self, block: Block, values: dict[int, float], counters: tuple[int, ...]) -> None:
        tables = self.program.tables
        for s in block.statements:
            if isinstance(s, Instruction):
                values[s.name] = OPS[s.op].evaluate(*(_value(a, values) for a in s.args))
            elif isinstance(s, Load):
                values[s.name] = self.memory[s.array][s.at.at(counters, tables)]
            elif isinstance(s, Store):
                self.memory[s.array][s.at.at(counters, tables)] = _value(s.value, values)
            elif isinstance(s, Loop):
                self.loop(s, values, counters)
            elif isinstance(s, Switch):
                self.block(s.cases[s.on.at(counters, tables)], values, counters)
            elif isinstance(s, Call):
                values.update(zip(s.defines, _called(s, values), strict=True))
            else:
                raise NotImplementedError(f"a statement of a kind that has no meaning: {s!r}")

    def loop(self, s: Loop, values: dict[int, float], counters: tuple[int, ...]) -> None:
        state = [_value(a, values) for a in s.carried]
        for counter in rounds(s.over, counters, self.program, self.memory):
            values.update(zip(s.entry, state, strict=True))
            self.block(s.body, values, (*counters, counter))
            state = [_value(a, values) for a in s.next]
            if s.until is not None and _value(s.until, values) != 0.0:
                break
            if isinstance(s.over, Append):
                append(s.over, counters, self.program, self.memory)
        values.update(zip(s.defines, state, strict=True))


Memory = Sequence[MutableSequence[Any]]


def rounds(over: Over, counters: Sequence[int], program: Program, memory: Memory) -> Iterable[int]:
    """The counters of a loop at those of the loops around it."""
    if isinstance(over, (Range, Walk)):
        return over.rounds(counters, program.tables)
    array = memory[over.array]
    length = int(array[0])
    if isinstance(over, Each):
        return range(length)[:: over.step]
    if isinstance(over, Entry):
        return (int(array[1 + over.place.at(counters, program.tables)]),)
    if over.step < 0 and length and int(array[length]) == over.entry.at(counters, program.tables):
        array[0] = length = length - 1
    return (length,)


def append(over: Append, counters: Sequence[int], program: Program, memory: Memory) -> None:
    """Make an entry the last one of its list, which is done backward already."""
    if over.step > 0:
        array = memory[over.array]
        length = int(array[0])
        if length >= len(array) - 2:
            raise IndexError(f"{program.name}: entry {length} of a list that has room for {len(array) - 2}")
        array[1 + length] = over.entry.at(counters, program.tables)
        array[0] = length + 1


def _called(s: Call, values: Mapping[int, float]) -> list[float]:
    flat = iter([_value(a, values) for a in s.args])
    outputs = interpret(s.program, *([next(flat) for _ in range(port.size)] for port in s.program.inputs))
    return [x for output in outputs for x in output]
