"""Where a function's numbers are in C: in its ports, in its memory `w`, and in tables of constants."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.real import Real, wrapped
from kinetree.codegen.llvm.layout import Layout
from kinetree.expr import Index, Port, Program

__all__ = ["Places"]


class Places:
    """The arrays of one function; it knows which of them the text names."""

    def __init__(self, program: Program, real: Real, name: str, ports: Sequence[tuple[str, Port]]) -> None:
        self._program = program
        self._real = real
        self._name = name
        self._ports = ports
        self._layout = Layout(program)
        self.used: set[str] = set()
        """The names of the ports, the tables and the memory that the text has."""

    @property
    def scratch(self) -> int:
        """How many numbers of memory the program itself has."""
        return self._layout.scratch

    @property
    def cleared(self) -> int:
        """How many of the first of them are initially zero."""
        return self._layout.cleared

    def at(self, array: int, index: Index, counters: Sequence[str]) -> str:
        """A number of an array; `counters`: those of the enclosing loops."""
        if array < len(self._ports):
            name, start, stride = self._ports[array][0], 0, 1
        else:
            place, values = self._layout.places[array], self._program.arrays[array - len(self._ports)].values
            name, start, stride = "w" if values is None else f"{self._name}_c", place.start, place.stride
        self.used.add(name)
        return f"{name}[{self.index(index * stride + start, counters)}]"

    def index(self, index: Index, counters: Sequence[str]) -> str:
        """An index as an expression."""
        text = ""
        for t in index.terms:
            counter = counters[t.loop] if t.table is None else self.looked_up(t.table, counters[t.loop])
            factor = counter if abs(t.scale) == 1 else f"({abs(t.scale)} * {counter})"
            sign = "-" if t.scale < 0 else "+"
            text = f"{text} {sign} {factor}" if text else factor if t.scale > 0 else f"-{factor}"
        if not text:
            return str(index.base)
        return f"{text} {'-' if index.base < 0 else '+'} {abs(index.base)}" if index.base else text

    def looked_up(self, table: int, counter: str) -> str:
        """An entry of a table of integers."""
        name = f"{self._name}_t{table}"
        self.used.add(name)
        return f"{name}[{counter}]"

    def tables(self) -> list[str]:
        """The declarations of the tables that the text names."""
        lines: list[str] = []
        for k, table in enumerate(self._program.tables):
            if f"{self._name}_t{k}" in self.used:
                lines += _table(_integer(table), f"{self._name}_t{k}", [*map(str, table)])
        if f"{self._name}_c" in self.used:
            lines += _table(self._real.type, f"{self._name}_c", [*map(self._real.bare, self._layout.constants)])
        return [*lines, ""] if lines else []


def _table(kind: str, name: str, entries: Sequence[str]) -> list[str]:
    return wrapped(f"static const {kind} {name}[{len(entries)}] = {{{', '.join(entries)}}};")


def _integer(table: Sequence[int]) -> str:
    """The smallest type that holds a table, for programs in little memory."""
    low, high = min(table, default=0), max(table, default=0)
    bits = next(bits for bits in (8, 16, 32) if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1))
    return f"int{bits}_t"
