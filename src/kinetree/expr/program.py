"""Programs: what a trace becomes, and what every backend reads.

Values are numbered: first the inputs, port after port, then one value for each statement of the body. An
argument is the number of a value (int) or a constant (float). A body is a tuple of statements; today each is an
`Instruction`. Loops and calls become further kinds of statement in the same tuple
(docs/decisions/0003-programs-with-loops-and-calls.md).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = ["Argument", "Block", "Instruction", "Port", "Program"]

Argument = int | float


@dataclass(frozen=True, slots=True)
class Port:
    """A named argument or result: an array of one sample, flattened in C order."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation of the table on earlier values."""

    op: str
    args: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in order; each defines the next value."""

    statements: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A function of arrays, for one sample."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    body: Block
    results: tuple[Argument, ...]

    @property
    def input_size(self) -> int:
        return sum(port.size for port in self.inputs)

    @property
    def output_size(self) -> int:
        return sum(port.size for port in self.outputs)

    def operation_counts(self) -> Counter[str]:
        """How many of each operation one sample costs; the golden tests pin the total."""
        return Counter(statement.op for statement in self.body.statements)

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}{list(p.shape)}" for p in self.inputs)
        results = ", ".join(f"{p.name}{list(p.shape)}" for p in self.outputs)
        lines = [f"{self.name}({ports}) -> {results}"]
        for number, statement in enumerate(self.body.statements, self.input_size):
            args = ", ".join(repr(a) if isinstance(a, float) else f"%{a}" for a in statement.args)
            lines.append(f"  %{number} = {statement.op}({args})")
        return "\n".join(lines)
