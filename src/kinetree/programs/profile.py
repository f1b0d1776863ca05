"""Where a program's operations come from, line by line of the user's text."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.expr import Block, Call, Instruction, Loop, Program, Switch
from kinetree.programs.argument import Argument
from kinetree.programs.lines import Line, Lines
from kinetree.programs.trace import Traced, with_choices

__all__ = ["LineCount", "Profile", "profiled"]


class LineCount(NamedTuple):
    """The operations of one line."""

    file: str
    line: int
    text: str
    operations: Counter[str]
    """How many of each one sample takes. Operations shared by two lines count for the first."""


class Profile(Sequence[LineCount]):
    """The lines of a program that have operations, in the order of the text; printed, a table."""

    def __init__(self, name: str, lines: Sequence[LineCount]) -> None:
        self._name = name
        self._lines = lines

    @property
    def total(self) -> int:
        """All operations."""
        return sum(line.operations.total() for line in self._lines)

    def __getitem__(self, k: Any) -> Any:
        return self._lines[k]

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        total = max(self.total, 1)
        rows = [f"{self._name}: {self.total} operations per sample"]
        file = ""
        for line in self._lines:
            if line.file != file:
                file = line.file
                rows.append(file)
            count = line.operations.total()
            rows.append(f"{count:>8} {100.0 * count / total:5.1f} %  {line.line:>5}  {line.text}")
        return "\n".join(rows)


def profiled(
    function: Callable[..., Any], name: str, arguments: Mapping[str, Argument], found: Traced, dtype: np.dtype[Any]
) -> Profile:
    """The lines that the statements of a traced program come from: its function is run once more, and watched."""
    lines = Lines()
    again, _ = with_choices(function, name, arguments, dtype, found.choices, lines)
    counts: dict[Line | None, Counter[str]] = {}
    _count(again.program.body, (), again.program, lines, counts)
    listed = []
    for line in sorted(counts, key=lambda line: line or Line("", 0)):
        file, number = line or Line("", 0)
        listed.append(LineCount(file, number, linecache.getline(file, number).strip(), counts[line]))
    return Profile(name, listed)


def _count(
    block: Block, counters: tuple[int, ...], program: Program, lines: Lines, counts: dict[Line | None, Counter[str]]
) -> None:
    """Add the operations of each line in a block, run once for these counters of the loops around it."""
    for s in block.statements:
        if isinstance(s, Instruction):
            counts.setdefault(lines.of(s), Counter())[s.op] += 1
        elif isinstance(s, Call):
            counts.setdefault(lines.of(s), Counter()).update(s.program.operation_counts())
        elif isinstance(s, Switch):
            _count(s.cases[s.on.at(counters, program.tables)], counters, program, lines, counts)
        elif isinstance(s, Loop):
            rounds = list(s.over.rounds(counters, program.tables))
            if any(isinstance(inner, Loop | Switch) for inner in s.body.statements):
                for counter in rounds:
                    _count(s.body, (*counters, counter), program, lines, counts)
            elif rounds:
                once: dict[Line | None, Counter[str]] = {}
                _count(s.body, (*counters, rounds[0]), program, lines, once)
                for line, ops in once.items():
                    operations = counts.setdefault(line, Counter())
                    for op, count in ops.items():
                        operations[op] += count * len(rounds)
