"""Activity: which values and arrays depend on the inputs with respect to which a program is differentiated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from kinetree.expr.derivatives.rules import RULES
from kinetree.expr.program import Argument, Block, Call, Instruction, Load, Program, Store, Switch

__all__ = ["Activity", "Touched", "operations_along"]


class Activity:
    """The values (by name) and arrays (by number) that depend on the input ports `wrt`.

    An array is treated as a whole, and so is a called program: if one argument is active, all its results are.
    """

    def __init__(self, program: Program, wrt: Collection[int]) -> None:
        changed = sorted(Touched(program.body).stored.intersection(range(len(program.inputs))))
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
            self._block(program.body)

    def keep_useful(self, program: Program) -> None:
        """Leave out what no output changes with."""
        values = {a for a in program.results or () if isinstance(a, int)}
        arrays = {k for k in range(len(program.inputs), program.first_array) if program.results is None}
        before = -1
        while before != len(values) + len(arrays):
            before = len(values) + len(arrays)
            self._use(program.body, values, arrays)
        self.values &= values
        self.arrays &= arrays.union(range(len(program.inputs)))

    def _use(self, block: Block, values: set[int], arrays: set[int]) -> None:
        def use(arguments: Iterable[Argument]) -> None:
            values.update(a for a in arguments if isinstance(a, int))

        for s in reversed(block.statements):
            if isinstance(s, Instruction):
                if s.name in values:
                    use(s.args[k] for k in RULES[s.op].passes)
            elif isinstance(s, Load):
                if s.name in values:
                    arrays.add(s.array)
            elif isinstance(s, Store):
                if s.array in arrays:
                    use((s.value,))
            elif isinstance(s, Call):
                if not values.isdisjoint(s.defines):
                    use(s.args)
            elif isinstance(s, Switch):
                for case in s.cases:
                    self._use(case, values, arrays)
            else:
                for _ in range(2):  # an iteration passes adjoints on to the one before
                    pairs = zip(s.entry, s.defines, s.carried, s.next, strict=True)
                    for inside, after, *ends in pairs:
                        if inside in values or after in values:
                            use((inside, *ends))
                    self._use(s.body, values, arrays)

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

    def _block(self, block: Block) -> None:
        for s in block.statements:
            if isinstance(s, Instruction):
                if self.any([s.args[k] for k in RULES[s.op].passes]):
                    self.values.add(s.name)
            elif isinstance(s, Load):
                if s.array in self.arrays:
                    self.values.add(s.name)
            elif isinstance(s, Store):
                if self.of(s.value):
                    self.arrays.add(s.array)
            elif isinstance(s, Call):
                if self.any(s.args):
                    self.values.update(s.defines)
            elif isinstance(s, Switch):
                for case in s.cases:
                    self._block(case)
            else:
                self._copy(s.carried, s.entry)
                self._block(s.body)
                self._copy(s.next, s.entry)
                self._copy(s.entry, s.defines)

    def _copy(self, sources: Iterable[Argument], targets: Iterable[int]) -> None:
        self.values.update(t for s, t in zip(sources, targets, strict=True) if self.of(s))


class Touched:
    """The arrays that a body reads and writes, by number."""

    def __init__(self, block: Block) -> None:
        self.loaded: set[int] = set()
        self.stored: set[int] = set()
        for s in block.all_statements():
            if isinstance(s, Load):
                self.loaded.add(s.array)
            elif isinstance(s, Store):
                self.stored.add(s.array)


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
