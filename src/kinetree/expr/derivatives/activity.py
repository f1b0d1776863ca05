"""Activity: which values and arrays depend on the inputs with respect to which a program is differentiated."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kinetree.expr.derivatives.rules import RULES
from kinetree.expr.named import Lines, LoopLine, NamedProgram, SwitchLine
from kinetree.expr.program import Argument, Call, Instruction, Load, Store

__all__ = ["Activity", "Touched"]


class Activity:
    """The values (by name) and arrays (by number) that depend on the input ports `wrt`.

    An array is treated as a whole, and so is a called program: if one argument is active, all its results are.
    """

    def __init__(self, program: NamedProgram, wrt: Collection[int]) -> None:
        changed = sorted(Touched(program.lines).stored.intersection(range(len(program.inputs))))
        if changed:
            raise ValueError(
                f"{program.name} stores into its input {program.inputs[changed[0]].name}, so it cannot be "
                "differentiated; copy the input to an array of its own first"
            )
        self.values: set[int] = set()
        self.arrays: set[int] = set(wrt)
        first = 0
        for k, port in enumerate(program.inputs):
            if k in wrt:
                self.values.update(range(first, first + port.size))
            first += port.size
        before = -1  # values are carried by iterations and through memory: repeat until nothing is new
        while before != len(self.values) + len(self.arrays):
            before = len(self.values) + len(self.arrays)
            self._block(program.lines)

    def any(self, arguments: Iterable[Argument]) -> bool:
        return any(isinstance(a, int) and a in self.values for a in arguments)

    def of(self, a: Argument) -> bool:
        return isinstance(a, int) and a in self.values

    def ports_of(self, call: Call) -> tuple[tuple[int, ...], list[Argument]]:
        """The ports of a called program that receive an active argument, and all that they receive."""
        ports: list[int] = []
        given: list[Argument] = []
        first = 0
        for k, port in enumerate(call.program.inputs):
            own = call.args[first : first + port.size]
            first += port.size
            if self.any(own):
                ports.append(k)
                given += own
        return tuple(ports), given

    def _block(self, lines: Lines) -> None:
        for line in lines:
            if isinstance(line, SwitchLine):
                for case in line.cases:
                    self._block(case)
                continue
            if isinstance(line, LoopLine):
                self._copy(line.carried, line.entry)
                self._block(line.body)
                self._copy(line.next, line.entry)
                self._copy(line.entry, line.defines)
                continue
            s = line.statement
            if isinstance(s, Store):
                if self.of(s.value):
                    self.arrays.add(s.array)
            elif (
                (isinstance(s, Instruction) and self.any(s.args[k] for k in RULES[s.op].passes))
                or (isinstance(s, Load) and s.array in self.arrays)
                or (isinstance(s, Call) and self.any(s.args))
            ):
                self.values.update(line.defines)

    def _copy(self, sources: Iterable[Argument], targets: Iterable[int]) -> None:
        self.values.update(t for s, t in zip(sources, targets, strict=True) if self.of(s))


class Touched:
    """The arrays that a body reads and writes, by number."""

    def __init__(self, lines: Lines) -> None:
        self.loaded: set[int] = set()
        self.stored: set[int] = set()
        self._block(lines)

    def _block(self, lines: Lines) -> None:
        for line in lines:
            if isinstance(line, SwitchLine):
                for case in line.cases:
                    self._block(case)
            elif isinstance(line, LoopLine):
                self._block(line.body)
            elif isinstance(line.statement, Load):
                self.loaded.add(line.statement.array)
            elif isinstance(line.statement, Store):
                self.stored.add(line.statement.array)
