"""Recording of everything beyond straight lines: memory, loops, switches and calls.

A `Recorder` holds the arrays and tables of a trace and the block that is being recorded. Each block has its own graph
inside that of the enclosing block; effects on memory are recorded in the graph, in order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import Any

from kinetree.expr.program import Append, Array, Index, Over, Port, Program, Range, Term
from kinetree.expr.symbol import Graph, MixedTracesError, Scalar, Symbol
from kinetree.records import record

__all__ = ["CallEffect", "Effect", "LoopEffect", "Memory", "Recorder", "StoreEffect", "SwitchEffect"]


@record(frozen=True, slots=True, eq=False)
class StoreEffect:
    index: int
    array: int
    at: Index
    value: Scalar


@record(frozen=True, slots=True, eq=False)
class LoopEffect:
    index: int
    over: Over
    graph: Graph
    carried: tuple[Scalar, ...]
    inside: tuple[Symbol, ...]
    """The carried values as the body sees them."""
    next: tuple[Scalar, ...]
    results: tuple[Symbol, ...]
    until: Scalar | None = None
    unless: Scalar | None = None

    @property
    def given(self) -> tuple[Scalar, ...]:
        """The loop's inputs from outside."""
        return self.carried if self.unless is None else (*self.carried, self.unless)

    @property
    def ends(self) -> tuple[Scalar, ...]:
        """The body's results for the loop."""
        return self.next if self.until is None else (*self.next, self.until)


@record(frozen=True, slots=True, eq=False)
class SwitchEffect:
    index: int
    on: Index
    graphs: tuple[Graph, ...]


@record(frozen=True, slots=True, eq=False)
class CallEffect:
    index: int
    program: Program
    args: tuple[Scalar, ...]
    results: tuple[Symbol, ...]


Effect = StoreEffect | LoopEffect | SwitchEffect | CallEffect


class Memory:
    """An array of a trace: `memory[at]` reads its current content, `memory[at] = x` changes it."""

    __slots__ = ("_recorder", "number", "size", "values")

    def __init__(self, recorder: Recorder, number: int, size: int, values: tuple[float, ...] | None = None) -> None:
        self._recorder = recorder
        self.number: int = number
        self.size: int = size
        self.values: tuple[float, ...] | None = values

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, at: Index | int) -> Scalar:
        place = self._place(at)
        if isinstance(at, int) and self.values is not None:
            return self.values[at]
        return self._recorder.graph.new("load", self.number, place)

    def __setitem__(self, at: Index | int, value: Scalar) -> None:
        if self.values is not None:
            raise ValueError("a table of constants cannot be changed")
        graph, value = self._recorder.graph, self._recorder.checked(value)
        graph.effects.append(StoreEffect(graph.tick(), self.number, self._place(at), value))

    def rounds(self, start: Index | int, stop: Index | int, step: int = 1) -> Iterator[Index]:
        """A loop of the trace, used as `for k in memory.rounds(0, n)`."""
        bounds = [Index(x) if isinstance(x, int) else x for x in (start, stop)]
        with self._recorder.loop(Range(bounds[0], bounds[1], step)) as k:
            yield k

    def _place(self, at: Index | int) -> Index:
        if isinstance(at, int):
            if not 0 <= at < self.size:
                raise IndexError(f"place {at} of an array of {self.size} numbers")
            return Index(at)
        return self._recorder.checked_index(at)


class Recorder:
    """A trace in progress, with memory."""

    def __init__(self, inputs: Sequence[Port], outputs: Sequence[Port], most: int = sys.maxsize) -> None:
        """`most`: as for `Graph`."""
        self.root: Graph = Graph(most=most)
        self.root.recorder = self
        self.graph: Graph = self.root
        """The graph of the block that is being recorded."""
        self.keeper: Graph | None = None
        """The innermost block that is being recorded and may be left out, if there is one."""
        self.arrays: list[Array] = []
        self.tables: list[tuple[int, ...]] = []
        self._table_numbers: dict[tuple[int, ...], int] = {}
        self._constants: dict[tuple[float, ...], Memory] = {}
        self._looked_up: dict[tuple[Any, ...], tuple[Sequence[int], int, int, int | None]] = {}
        self._ports = len(inputs) + len(outputs)
        memories = [Memory(self, k, port.size) for k, port in enumerate((*inputs, *outputs))]
        self.inputs: list[Memory] = memories[: len(inputs)]
        self.outputs: list[Memory] = memories[len(inputs) :]
        self.reports: set[int] = set()
        """Arrays of values that are only reported: whether anything reads them changes no bit of the rest."""
        self.settled: set[int] = set(range(len(inputs)))
        """Arrays whose content is the same wherever a symbol loaded from them may be used: it can be loaded again."""
        self.rows: dict[int, tuple[Any, Any]] = {}
        """Facts about arrays of symbols, from those who make them, with the array, by its identity."""
        self._input_places: dict[Symbol, tuple[int, int]] = {}

    def array(
        self, name: str, size: int, values: Sequence[float] | None = None, *, record: str = "", clear: bool = False,
        is_scratch: bool = False, most: int = 0,
    ) -> Memory:  # fmt: skip
        """New memory, or a table of constants; `record`, `clear`, `is_scratch` and `most` as for `Array`."""
        constants = None if values is None else tuple(map(float, values))
        if constants is not None and len(constants) != size:
            raise ValueError(f"{name} has {size} places, but {len(constants)} values")
        self.arrays.append(Array(name, size, constants, record, clear, is_scratch, most))
        return self.memory(self._ports + len(self.arrays) - 1)

    def memory(self, number: int) -> Memory:
        """The array of a number."""
        if number < self._ports:
            return (*self.inputs, *self.outputs)[number]
        array = self.arrays[number - self._ports]
        return Memory(self, number, array.size, array.values)

    def constants(self, values: Sequence[float]) -> Memory:
        """The table of these constants, which is added if it is new."""
        key = tuple(values)
        if key not in self._constants:
            self._constants[key] = made = self.array("constants", len(key), key)
            self.settled.add(made.number)
        return self._constants[key]

    def input_place(self, x: Symbol) -> tuple[int, int]:
        """The port of an input, and its place there."""
        if not self._input_places:
            places = [(port, k) for port, memory in enumerate(self.inputs) for k in range(memory.size)]
            self._input_places = dict(zip(self.root.inputs, places, strict=True))
        return self._input_places[x]

    def table(self, values: Sequence[int]) -> int:
        """The number of a table of integers, which is added if it is new."""
        key = tuple(values)
        number = self._table_numbers.get(key)
        if number is None:
            number = self._table_numbers[key] = len(self.tables)
            self.tables.append(key)
        return number

    def look_up(self, values: Sequence[int], at: Index, first: int = 0) -> Index:
        """values[at], for a counter that is never less than `first`; evenly spaced values need no table."""
        if not at.terms:  # the same in all iterations
            return Index(values[at.base])
        if len(at.terms) != 1:
            raise ValueError("a table is looked up at the counter of one loop")
        (term,) = at.terms
        asked = id(values), at.base, term.scale, term.table, first
        if asked not in self._looked_up:  # values are kept, so that no others get their identity
            self._looked_up[asked] = values, *self._place(values, at.base, term, first)
        _, base, step, table = self._looked_up[asked]
        return Index(base, (Term(term.loop, step, table),) if step else ())

    def _place(self, values: Sequence[int], base: int, term: Term, first: int) -> tuple[int, int, int | None]:
        """The base, the scale and the table of values[base + term]."""
        if term.table is not None or base or term.scale != 1:  # itself looked up
            counters = range((len(values) - base - 1) // max(term.scale, 1) + 1)
            rows = counters if term.table is None else self.tables[term.table]
            values, first = [values[max(0, base + term.scale * x)] for x in rows], 0
        reached = values[first:]
        if not reached:  # the loop has no iterations
            return 0, 0, None
        step = reached[1] - reached[0] if len(reached) > 1 else 0
        if all(b - a == step for a, b in pairwise(reached)):
            return reached[0] - step * first, step, None
        return 0, 1, self.table(values)

    @contextmanager
    def loop(self, over: Over) -> Iterator[Index]:
        """Record the body of a loop; the context is its counter."""
        over = self._checked_rounds(over)
        with self._block(over) as graph:
            yield self.counter
        self.graph.effects.append(LoopEffect(self.graph.tick(), over, graph, (), (), (), ()))

    def fold(
        self,
        over: Over,
        state: Sequence[Scalar],
        step: Callable[[Index, list[Symbol]], Sequence[Scalar]],
    ) -> list[Symbol]:
        """Record a loop that carries values between iterations: `step(counter, values)` gives the next ones."""
        return self._fold(over, state, lambda k, values: (step(k, values), None))

    def repeat(
        self, count: int, state: Sequence[Scalar], step: Callable[[list[Symbol]], tuple[Sequence[Scalar], Scalar]]
    ) -> list[Symbol]:
        """Record a loop of at most `count` iterations; `step(values)` gives the next values, and whether to end."""
        return self._fold(Range(Index(0), Index(count)), state, lambda _, values: step(values))

    def append(
        self,
        over: Append,
        state: Sequence[Scalar],
        step: Callable[[Index, list[Symbol]], tuple[Sequence[Scalar], Scalar]],
    ) -> list[Symbol]:
        """Record an append to a list; `step(place, values)` gives the next values, and whether to leave it out."""
        return self._fold(over, state, step)

    def unless(
        self, idle: Scalar, state: Sequence[Scalar], step: Callable[[list[Symbol]], Sequence[Scalar]]
    ) -> list[Symbol]:
        """Record a step that changes nothing where `idle` is not zero, so that it may be left out."""
        once = Range(Index(0), Index(1))
        return self._fold(once, state, lambda _, values: (step(values), None), self.checked(idle))

    @contextmanager
    def left_out(self, idle: Scalar) -> Iterator[None]:
        """Record a block that stores into scratch arrays alone, and may be left out where `idle` is not zero."""
        once, idle = Range(Index(0), Index(1)), self.checked(idle)
        with self._block(once, keeps=True) as graph:
            yield
        self.graph.effects.append(LoopEffect(self.graph.tick(), once, graph, (), (), (), (), None, idle))

    def otherwise(self, idle: Scalar, values: Sequence[float], make: Callable[[], Sequence[Scalar]]) -> list[Scalar]:
        """Record a computation; it gives the given values where `idle` is not zero, and may be left out there."""
        outer, idle, over = self.graph, self.checked(idle), Range(Index(0), Index(1))
        with self._block(over, keeps=True) as graph:
            made = [self.checked(x) for x in make()]
            symbols = [k for k, x in enumerate(made) if isinstance(x, Symbol)]
            inside = tuple(graph.new("carried") for _ in symbols)
        results = tuple(outer.new("result") for _ in symbols)
        start, following = tuple(values[k] for k in symbols), tuple(made[k] for k in symbols)
        outer.effects.append(LoopEffect(outer.tick(), over, graph, start, inside, following, results, None, idle))
        numbers: list[Scalar] = list(values)
        for k, x in zip(symbols, results, strict=True):
            numbers[k] = x
        return numbers

    def _fold(
        self,
        over: Over,
        state: Sequence[Scalar],
        step: Callable[[Index, list[Symbol]], tuple[Sequence[Scalar], Scalar | None]],
        unless: Scalar | None = None,
    ) -> list[Symbol]:
        outer, start = self.graph, tuple(map(self.checked, state))
        over = self._checked_rounds(over)
        with self._block(over, keeps=unless is not None) as graph:
            inside = tuple(graph.new("carried") for _ in start)
            values, until = step(self.counter, list(inside))
            following = tuple(map(self.checked, values))
            until = None if until is None else self.checked(until)
        if len(following) != len(inside):
            raise ValueError(f"{len(inside)} values are carried, but the step returned {len(following)}")
        results = tuple(outer.new("result") for _ in start)
        outer.effects.append(LoopEffect(outer.tick(), over, graph, start, inside, following, results, until, unless))
        return list(results)

    @contextmanager
    def switch(self, on: Index) -> Iterator[Callable[[], AbstractContextManager[None]]]:
        """Record the cases of a switch, one after the other, each in `with case():`."""
        on = self.checked_index(on)
        graphs: list[Graph] = []

        @contextmanager
        def case() -> Iterator[None]:
            with self._block() as graph:
                yield
            graphs.append(graph)

        yield case
        if not graphs:
            raise ValueError("a switch needs at least one case")
        self.graph.effects.append(SwitchEffect(self.graph.tick(), on, tuple(graphs)))

    def call(self, program: Program, *args: Scalar) -> list[Symbol]:
        """Call another program on values, flat, and return its outputs, flat."""
        if len(args) != program.input_size:
            raise ValueError(f"{program.name} takes {program.input_size} numbers, not {len(args)}")
        values = tuple(map(self.checked, args))
        results = tuple(self.graph.new("result") for _ in range(program.output_size))
        self.graph.effects.append(CallEffect(self.graph.tick(), program, values, results))
        return list(results)

    @contextmanager
    def outside(self, block: Graph | None = None) -> Iterator[None]:
        """Record before the outermost loop that is being recorded now; or at the present end of an enclosing block."""
        before = self.graph, self.keeper
        self.graph, self.keeper = block or self.root, None
        try:
            yield
        finally:
            self.graph, self.keeper = before

    def drop_last(self) -> None:
        """Take back the last effect of the block that is being recorded now."""
        self.graph.effects.pop()

    @contextmanager
    def apart(self, over: Range) -> Iterator[None]:
        """Record the body of a loop, and drop it."""
        with self._block(over):
            yield

    @property
    def counter(self) -> Index:
        """The counter of the innermost loop."""
        return Index(0, (Term(len(self.graph.around) - 1),))

    def checked(self, value: Scalar) -> Scalar:
        """Check a value for use in the current block; an int becomes a float, or it would be a value's name."""
        if not isinstance(value, Symbol):
            return float(value)
        if not self.graph.is_inside(value.graph):
            raise MixedTracesError
        return value

    def checked_index(self, at: Index) -> Index:
        """Check an index that is used in the current block."""
        if any(t.loop >= len(self.graph.around) for t in at.terms):
            raise ValueError("the counter of a loop is used outside of it")
        return at

    def _checked_rounds(self, over: Over) -> Over:
        for index in over.indices:
            self.checked_index(index)
        return over

    @contextmanager
    def _block(self, *over: Over, keeps: bool = False) -> Iterator[Graph]:
        """A block inside the present one: the body of a loop, if it goes through something."""
        outer, keeper = self.graph, self.keeper
        self.graph = Graph(outer)
        self.graph.around = (*outer.around, *over)
        if keeps:
            self.keeper = self.graph
        try:
            yield self.graph
        finally:
            self.graph, self.keeper = outer, keeper
