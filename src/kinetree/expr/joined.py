"""Programs that run one after another as one program: each reads results of those before it from memory.

Nothing is traced again: the statements are those of the parts, with other names, arrays and tables. A port of a part is
a `Place` in the memory of the whole, so a result of ten thousand numbers is stored where it belongs and never becomes a
list of ten thousand values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

from kinetree.expr.dead_code import without_dead_code
from kinetree.expr.moved import moved
from kinetree.expr.program import Array, Block, Index, Load, Loop, Port, Program, Range, Statement, Store, Term
from kinetree.records import record

__all__ = ["Joined", "Place"]

_START = Index()


@record(frozen=True, slots=True)
class Place:
    """The place of a part's port: its number k is at `at + scale * k` of an array of the whole."""

    array: int
    at: Index = _START
    scale: int = 1

    def __getitem__(self, k: Index) -> Index:
        return self.at + k * self.scale

    def __add__(self, offset: Index | int) -> Place:
        """The place that begins `offset` later."""
        return replace(self, at=self.at + offset)


class Joined:
    """A program that is composed of others.

    >>> from kinetree.expr import Port, interpret, trace
    >>> double = trace(lambda x: [[2.0 * y for y in x]], [Port("x", (2,))], [Port("y", (2,))], "double")
    >>> whole = Joined("eightfold", [Port("x", (2,))], [Port("y", (2,))])
    >>> a, b = whole.array("a", 2), whole.array("b", 2)
    >>> for source, target in ((whole.inputs[0], a), (a, b), (b, whole.outputs[0])):
    ...     whole.run(double, [source], [target])
    >>> interpret(whole.program(), [1.0, 2.0])
    ([8.0, 16.0],)
    """

    def __init__(self, name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
        self._name = name
        self._ports = (tuple(inputs), tuple(outputs))
        n, m = len(inputs), len(outputs)
        self.inputs: list[Place] = [Place(k) for k in range(n)]
        self.outputs: list[Place] = [Place(n + k) for k in range(m)]
        self._firsts = [sum(port.size for port in inputs[:k]) for k in range(n)]
        self._fresh = count(sum(port.size for port in inputs))
        self._arrays: list[Array] = []
        self._constants: dict[tuple[float, ...], int] = {}
        self._tables: dict[tuple[int, ...], int] = {}
        self._statements: list[Statement] = []
        self._depth = 0
        self._rounds = 1

    def array(self, name: str, size: int, values: Sequence[float] | None = None) -> Place:
        """Memory between parts, initially zero; or constants."""
        return Place(self._new(Array(name, size, None if values is None else tuple(values), clear=values is None)))

    @contextmanager
    def rounds(self, number: int) -> Iterator[Index]:
        """Repeat the parts that are run in this context `number` times; the context's value is the counter."""
        if self._depth:
            raise ValueError("the parts of a program are repeated in one loop, not in one inside another")
        around, self._statements, self._depth, self._rounds = self._statements, [], 1, number
        yield Index(0, (Term(0),))
        body, self._statements, self._depth, self._rounds = self._statements, around, 0, 1
        self._loop(number, *body)

    def run(self, program: Program, inputs: Sequence[Place], outputs: Sequence[Place]) -> None:
        """Run a program with its ports at these places. Its outputs must be zero before, except in a loop.

        Raises IndexError if a port goes beyond the array it is placed in.
        """
        for place, port in zip((*inputs, *outputs), (*program.inputs, *program.outputs), strict=True):
            self._check(place, port)
        places = dict(enumerate((*inputs, *outputs)))
        names = self._taken(program, inputs)
        for k, array in enumerate(program.arrays, program.first_array):
            # The body of a loop would find what the previous iteration left.
            places[k] = Place(self._new(replace(array, clear=array.clear and not self._depth)))
            if array.clear and self._depth:
                self._clear(places[k], array.size)
        if self._depth:
            for place, port in zip(outputs, program.outputs, strict=True):
                if self._is_own(place):
                    self._clear(place, port.size)

        def name(n: int) -> int:
            if n not in names:
                names[n] = next(self._fresh)
            return names[n]

        def moved_place(k: int, at: Index) -> tuple[int, Index]:
            return places[k].array, places[k][at]

        def table(k: int) -> int:
            return self._tables.setdefault(program.tables[k], len(self._tables))

        self._statements += moved(program.body.statements, moved_place, table, name, self._depth)
        if program.results is not None:
            targets = [
                (place, n) for place, port in zip(outputs, program.outputs, strict=True) for n in range(port.size)
            ]
            for (place, n), a in zip(targets, program.results, strict=True):
                value = a if isinstance(a, float) else name(a)
                self._statements.append(Store(place.array, place[Index(n)], value))

    def copy(self, source: Place, target: Place, size: int) -> None:
        """Copy numbers from one place to another."""
        k, name = Index(0, (Term(self._depth),)), next(self._fresh)
        self._loop(size, Load(source.array, source[k], name), Store(target.array, target[k], name))

    def program(self) -> Program:
        """The complete program, without dead code."""
        body = Block(tuple(self._statements))
        return without_dead_code(
            Program(self._name, *self._ports, body, None, tuple(self._arrays), tuple(self._tables))
        )

    def _loop(self, rounds: int, *body: Statement) -> None:
        self._statements.append(Loop(Range(Index(0), Index(rounds)), Block(body)))

    def _new(self, array: Array) -> int:
        """Add an array and return its number; equal constants share one."""
        known = None if array.values is None else self._constants.get(array.values)
        if known is not None:
            return known
        self._arrays.append(array)
        number = len(self.inputs) + len(self.outputs) + len(self._arrays) - 1
        if array.values is not None:
            self._constants[array.values] = number
        return number

    def _check(self, place: Place, port: Port) -> None:
        ports = [port for some in self._ports for port in some]
        own = place.array - len(ports)
        size = self._arrays[own].size if own >= 0 else ports[place.array].size
        ends = [place[Index(k)].at((counter,), ()) for k in (0, port.size - 1) for counter in (0, self._rounds - 1)]
        if port.size and not 0 <= min(ends) <= max(ends) < size:
            raise IndexError(f"{port.name} has {port.size} numbers, which go from {min(ends)} to {max(ends)} in {size}")

    def _is_own(self, place: Place) -> bool:
        """Whether this is memory between parts, not a port."""
        return place.array >= len(self.inputs) + len(self.outputs)

    def _clear(self, place: Place, size: int) -> None:
        at = place[Index(0, (Term(self._depth),))]
        self._loop(size, Store(place.array, at, 0.0))

    def _taken(self, part: Program, inputs: Sequence[Place]) -> dict[int, int]:
        """The names of a part's inputs: inputs of the whole, or loaded values."""
        names: dict[int, int] = {}
        name = 0
        for place, port in zip(inputs, part.inputs, strict=True):
            is_port = place.array < len(self.inputs) and place.scale == 1 and not place.at.terms
            for n in range(port.size):
                if is_port:
                    names[name] = self._firsts[place.array] + place.at.base + n
                else:
                    names[name] = next(self._fresh)
                    self._statements.append(Load(place.array, place[Index(n)], names[name]))
                name += 1
        return names
