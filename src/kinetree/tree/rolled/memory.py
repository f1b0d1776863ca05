"""Memory of typed quantities, one per body, for loops over bodies that are not known individually.

Each component is an array of the trace, with one number per body. A component that is the same constant for all bodies
of a kind, such as the zeros of a joint's subspace, is not read from its array: it stays known, and folds. Constants are
found by tracing: `Knowledge` starts from the first stored values and is widened by every store that differs. A loop
over bodies that stores what its own loads did not foresee is recorded again; a trace is valid if no store changes what
was known where something was loaded, so tracing is repeated until then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from kinetree.expr import Index, Recorder, Scalar, Symbol
from kinetree.records import record

__all__ = ["Bodies", "Knowledge", "NotYetKnown", "QuantityMemory", "Slot", "numbers_of", "rebuilt"]

Loop = TypeVar("Loop")


@record(frozen=True, slots=True)
class Slot:
    """The current body of a loop: its number, and the kinds of joint it may have."""

    index: Index
    kinds: frozenset[int]
    child: Index | None = None
    """The child it is the parent of, if that is the loop's current body."""
    way: frozenset[tuple[frozenset[int], frozenset[int]]] | None = None
    """Possible kinds of bodies and their parents from here to the root, if fewer are possible than elsewhere."""


@record(slots=True)
class _Shape:
    """Facts about the quantities stored for one kind of body."""

    form: Any
    numbers: list[float | None]
    """Constants; None where the number varies."""


class Knowledge:
    """Facts from earlier traces and this one, by memory (in order of creation) and kind."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[int, int], _Shape] = {}
        self._plain: set[int] = set()
        self.begin()

    def begin(self) -> None:
        """Start a new trace."""
        self._memories = 0
        self._gave_up = False
        self._relied_on: dict[tuple[int, frozenset[int]], _Shape | None] = {}
        """The facts that loads of this trace relied on, by memory and kinds: later stores only ever make them fewer."""

    @property
    def changed(self) -> bool:
        """Whether this trace has learnt something that would have changed it."""
        return self._gave_up or self._is_less(())

    def _is_less(self, before: Collection[tuple[int, frozenset[int]]]) -> bool:
        """Whether fewer facts hold now than loads relied on, apart from those known before."""
        return any(self._common(*key) != facts for key, facts in self._relied_on.items() if key not in before)

    def until_foreseen(self, recorder: Recorder, once: Callable[[], Iterator[Loop]]) -> Iterator[Loop]:
        """Record a loop, and again where it has stored what its own loads did not foresee."""
        while True:
            memories, before = self._memories, self._relied_on.copy()
            yield from once()
            if self._gave_up or not self._is_less(before):
                return
            recorder.drop_last()
            self._memories, self._relied_on = memories, before

    def new_memory(self) -> int:
        self._memories += 1
        return self._memories - 1

    def simplified(self, memory: int, value: Any) -> Any:
        """A value as this memory keeps it: without anything that only some of its quantities have."""
        return value.plain() if memory in self._plain and hasattr(value, "plain") else value

    def learn(self, memory: int, kind: int, form: Any, numbers: Sequence[Scalar]) -> bool:
        """Record a store; False if its form does not fit earlier ones, which is recorded, too."""
        constants = [None if isinstance(x, Symbol) else x for x in numbers]
        shape = self._shapes.get((memory, kind))
        if shape is None:
            self._shapes[memory, kind] = _Shape(form, constants)
        elif shape.form != form:
            self._give_up_forms(memory)
            return False
        else:
            for k, (old, new) in enumerate(zip(shape.numbers, constants, strict=True)):
                if old != new:
                    shape.numbers[k] = None
        return True

    def _give_up_forms(self, memory: int) -> None:
        if memory in self._plain:
            raise TypeError("quantities of different types were stored for bodies that are treated as one")
        self._plain.add(memory)
        for key in [key for key in self._shapes if key[0] == memory]:
            del self._shapes[key]
        self._gave_up = True

    def shape(self, memory: int, kinds: frozenset[int]) -> _Shape | None:
        """The facts common to all of these kinds; None if their forms differ or nothing has been stored yet."""
        shapes = self._of(memory, kinds)
        if any(shape.form != shapes[0].form for shape in shapes):
            self._give_up_forms(memory)
        facts = self._common(memory, kinds)
        self._relied_on.setdefault((memory, kinds), facts)
        return facts

    def _of(self, memory: int, kinds: frozenset[int]) -> list[_Shape]:
        return [shape for kind in kinds if (shape := self._shapes.get((memory, kind)))]

    def _common(self, memory: int, kinds: frozenset[int]) -> _Shape | None:
        shapes = self._of(memory, kinds)
        if not shapes or any(shape.form != shapes[0].form for shape in shapes):
            return None
        together = zip(*(shape.numbers for shape in shapes), strict=True)
        return _Shape(shapes[0].form, [x[0] if len(set(x)) == 1 else None for x in together])


class Bodies:
    """A memory's data about the bodies: how many, their kinds, and which two are never the same."""

    def __init__(self, kind_of: Sequence[int], parent: Sequence[int] = ()) -> None:
        self.kind_of: tuple[int, ...] = tuple(kind_of)
        self._parent = parent
        self.distinct: set[frozenset[Index]] = set()

    def slot(self, i: int | Slot) -> Slot:
        return i if isinstance(i, Slot) else Slot(Index(i), frozenset((self.kind_of[i],)))

    def look_up(self, recorder: Recorder, values: Sequence[int], i: int | Slot) -> Index:
        """The entry values[i]."""
        if isinstance(i, int):
            return Index(values[i])
        if not i.index.terms:
            return Index(values[i.index.base])
        if i.child is not None:
            return recorder.look_up([values[p] for p in self._parent], i.child, 1)
        return recorder.look_up(values, i.index, 1)

    def may_be_one(self, a: Index, b: Index) -> bool:
        """Whether two indices may refer to the same body. The root, 0, is never looped over."""
        if a == b:
            return True
        if not a.terms and not b.terms:
            return False
        return frozenset((a, b)) not in self.distinct


class QuantityMemory:
    """One quantity per body: `memory[i] = quantity`, `memory[i]`, as with a list."""

    def __init__(self, recorder: Recorder, bodies: Bodies, knowledge: Knowledge) -> None:
        self._recorder = recorder
        self._bodies = bodies
        self._knowledge = knowledge
        self._number = knowledge.new_memory()
        self._arrays: dict[tuple[Any, int], Any] = {}
        self._now: dict[Index, Any] = {}  # known contents by index, in the block being recorded
        self._graph: Any = None

    def __getitem__(self, i: int | Slot | slice) -> Any:
        if isinstance(i, slice):
            return self  # [1:], as the algorithms end: the root's entry is never read
        slot = self._bodies.slot(i)
        now = self._in_this_block()
        if slot.index not in now:
            now[slot.index] = self._loaded(slot)
        return now[slot.index]

    def __setitem__(self, i: int | Slot, value: Any) -> None:
        slot = self._bodies.slot(i)
        now = self._in_this_block()
        for index in [index for index in now if self._bodies.may_be_one(index, slot.index)]:
            del now[index]
        now[slot.index] = value
        numbers: list[Scalar] = []
        form = numbers_of(self._knowledge.simplified(self._number, value), numbers)
        for kind in slot.kinds:
            if not self._knowledge.learn(self._number, kind, form, numbers):
                return  # this trace is not the last
        for k, x in enumerate(numbers):  # where it is a constant of all kinds nothing reads it
            self._array(form, k)[slot.index] = x

    def _loaded(self, slot: Slot) -> Any:
        shape = self._knowledge.shape(self._number, slot.kinds)
        if shape is None:
            raise NotYetKnown
        numbers = [self._array(shape.form, k)[slot.index] if x is None else x for k, x in enumerate(shape.numbers)]
        return rebuilt(shape.form, numbers)

    def _array(self, form: Any, k: int) -> Any:
        if (form, k) not in self._arrays:
            name, size = f"m{self._number}_{k}", len(self._bodies.kind_of)
            self._arrays[form, k] = self._recorder.array(name, size, record="bodies")
        return self._arrays[form, k]

    def _in_this_block(self) -> dict[Index, Any]:
        if self._recorder.graph is not self._graph:
            self._graph, self._now = self._recorder.graph, {}
        return self._now


class NotYetKnown(Exception):
    """Something was read before this trace knows its form; the next trace will."""


_NUMBER = "number"


def numbers_of(value: Any, numbers: list[Scalar]) -> Any:
    """Append the numbers in a value; return its form, which is equal for values that differ only in numbers."""
    if isinstance(value, float | Symbol):
        numbers.append(value)
        return _NUMBER
    if value is None or isinstance(value, int):
        return (int, value)
    if isinstance(value, tuple | list):
        return (type(value), tuple(numbers_of(x, numbers) for x in value))
    kind: type = type(value)
    names = _names(kind)
    return (kind, tuple(numbers_of(getattr(value, name), numbers) for name in names))


def rebuilt(form: Any, numbers: Sequence[Scalar]) -> Any:
    """The value of this form with these numbers."""
    return _rebuilt(form, iter(numbers))


def _rebuilt(form: Any, numbers: Iterator[Scalar]) -> Any:
    if form == _NUMBER:
        return next(numbers)
    kind, parts = form
    if kind is int:
        return parts
    values = [_rebuilt(part, numbers) for part in parts]
    if kind is tuple or kind is list:
        return kind(values)
    made = object.__new__(kind)
    for name, value in zip(_names(kind), values, strict=True):
        object.__setattr__(made, name, value)
    return made


@cache
def _names(kind: type) -> tuple[str, ...]:
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    slots: tuple[str, ...] = tuple(getattr(kind, "__slots__", ()))
    if not slots:
        raise TypeError(f"{kind.__name__} cannot be kept in memory: it is not a dataclass and has no __slots__")
    return slots
