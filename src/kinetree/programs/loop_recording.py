"""One loop of a program, recorded in a trace: the body once, small values in registers, large ones in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.tracing import Trace, as_symbolic
from kinetree.expr import Index, Memory, Range, Scalar, Symbol, select
from kinetree.expr.recording import Effect, LoopEffect, StoreEffect, SwitchEffect
from kinetree.symbolic import SymbolicArray
from kinetree.symbolic.array import made
from kinetree.symbolic.refusals import refuse
from kinetree.symbolic.stored import Copy, copy, rows_of

__all__ = ["Recording"]

_MOST_IN_REGISTERS = 64
"""Numbers of the state that are carried as values; further arrays of it are in memory."""

Arrays = Sequence[Any]


class Recording:
    """A loop of `count` iterations that is recorded in a trace."""

    def __init__(self, trace: Trace, count: int) -> None:
        self.trace = trace
        self._recorder = trace.recorder
        self._count = count

    def row(self, x: Any) -> SymbolicArray:
        """The row of an array at the loop's counter; to be called in the body."""
        array = x if isinstance(x, SymbolicArray) else _plain(x, self.trace.dtype)
        shape = array.shape[1:]
        if self._count == 0:  # some numbers, which are never read
            table = self._recorder.constants([0.0])
            numbers: list[Scalar] = [table[self._recorder.counter] for _ in range(math.prod(shape))]
        else:
            numbers = rows_of(self._recorder, array.elements).at(self._recorder.counter)
        return _array(numbers, shape, array.dtype)

    def run(
        self,
        first: Sequence[SymbolicArray],
        body: Callable[[Arrays], tuple[Arrays, Arrays]],
        until: Callable[[Arrays], Scalar] | None = None,
    ) -> tuple[list[SymbolicArray], list[SymbolicArray]]:
        """Record the loop: from the first state the last one and the outputs of all iterations.

        `body` gives the next state and an output for a state, and is called once. So is `until`, if there is one: it
        says of a next state whether it is the last. All of the state is in registers then.
        """
        recorder, count = self._recorder, self._count
        if until is not None and count > 0:
            return self._run_until(first, body, until), []
        carried = _carried(first)
        state = [None if k in carried else recorder.array("state", x.size) for k, x in enumerate(first)]
        in_memory = [(memory, x) for memory, x in zip(state, first, strict=True) if memory is not None]
        outputs: list[tuple[Memory, SymbolicArray]] = []

        def iteration(counter: Index, values: Sequence[Scalar]) -> list[Scalar]:
            leaves = self._leaves(first, state, values)
            following, result = body(leaves)
            stores = []
            for x in result:
                memory = recorder.array("outputs", count * x.size)
                outputs.append((memory, x))
                stores.append(Copy(x.elements, memory, counter * x.size))
            copy(recorder, *stores)
            places = zip(state, following, strict=True)
            copy(recorder, *(Copy(x.elements, memory) for memory, x in places if memory is not None))
            return [x for k in carried for x in following[k].flat_elements()]

        if count == 0:
            with recorder.apart(Range(Index(), Index())):
                values = [recorder.graph.new("carried") for k in carried for _ in range(first[k].size)]
                iteration(recorder.counter, values)
            return list(first), [SymbolicArray(np.empty((0, *x.shape), object), x.dtype) for _, x in outputs]
        copy(recorder, *(Copy(x.elements, memory) for memory, x in in_memory))
        recorder.settled.update(memory.number for memory, _ in in_memory)
        begin = [x for k in carried for x in first[k].flat_elements()]
        ends = recorder.fold(Range(Index(), Index(count)), begin, iteration)
        last = self._leaves(first, state, ends)
        recorder.settled.update(memory.number for memory, _ in outputs)
        return last, [_array(_all(memory), (count, *x.shape), x.dtype) for memory, x in outputs]

    def _run_until(
        self,
        first: Sequence[SymbolicArray],
        body: Callable[[Arrays], tuple[Arrays, Arrays]],
        until: Callable[[Arrays], Scalar],
    ) -> list[SymbolicArray]:
        recorder = self._recorder

        def iteration(values: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
            following, _ = body(_filled(first, values))
            return _numbers(following), until(following)

        last = recorder.repeat(self._count, _numbers(first), iteration)
        self._refuse_stores("kt.programs.fori: a loop with until=", "samples that have ended")
        return _filled(first, last)

    def run_where(
        self, needed: Scalar, first: Sequence[SymbolicArray], body: Callable[[Arrays], Arrays]
    ) -> list[SymbolicArray]:
        """Record a step that changes the state where `needed` is not zero, and may be left out elsewhere."""

        def step(values: Sequence[Scalar]) -> list[Scalar]:
            following = _numbers(body(_filled(first, values)))
            return [select(needed, new, old) for new, old in zip(following, values, strict=True)]

        if not isinstance(needed, Symbol):
            return list(body(first)) if needed else list(first)
        last = self._recorder.unless(1.0 - needed, _numbers(first), step)
        self._refuse_stores("kt.programs.when: the step", "samples that do not need it")
        return _filled(first, last)

    def _refuse_stores(self, what: str, who: str) -> None:
        if _stores(self._recorder.graph.effects[-1]):
            refuse(
                f"{what} contains a loop whose results are in memory, a kt.programs.scan or one with a large state, "
                f"and {who} could not keep theirs; write the inner steps out with Python's for, or make its state "
                "smaller"
            )

    def _leaves(
        self, first: Sequence[SymbolicArray], state: Sequence[Memory | None], values: Sequence[Scalar]
    ) -> list[SymbolicArray]:
        """The state here: from the carried values, and loaded from memory."""
        rest = iter(values)
        carried = {k: [next(rest) for _ in range(first[k].size)] for k in _carried(first)}
        return [
            _array(carried[k] if memory is None else _all(memory), x.shape, x.dtype)
            for k, (memory, x) in enumerate(zip(state, first, strict=True))
        ]


def _numbers(arrays: Sequence[SymbolicArray]) -> list[Scalar]:
    return [x for array in arrays for x in array.flat_elements()]


def _filled(first: Sequence[SymbolicArray], values: Sequence[Scalar]) -> list[SymbolicArray]:
    """Arrays as those that a loop began with, of these numbers."""
    rest = iter(values)
    return [_array([next(rest) for _ in range(x.size)], x.shape, x.dtype) for x in first]


def _stores(effect: Effect) -> bool:
    """Whether something changes memory, inside too."""
    if isinstance(effect, LoopEffect):
        return any(map(_stores, effect.graph.effects))
    if isinstance(effect, SwitchEffect):
        return any(_stores(inner) for graph in effect.graphs for inner in graph.effects)
    return isinstance(effect, StoreEffect)


def _carried(first: Sequence[SymbolicArray]) -> list[int]:
    """The arrays of the state that are carried in registers: the smallest ones, as long as there is room."""
    room, carried = _MOST_IN_REGISTERS, []
    for k in sorted(range(len(first)), key=lambda k: first[k].size):
        room -= first[k].size
        if room >= 0:
            carried.append(k)
    return sorted(carried)


def _all(memory: Memory) -> list[Scalar]:
    return [memory[k] for k in range(memory.size)]


def _array(numbers: Sequence[Scalar], shape: tuple[int, ...], dtype: np.dtype[Any]) -> SymbolicArray:
    elements = np.empty(len(numbers), object)
    elements[:] = numbers
    return made(elements.reshape(shape), dtype)


def _plain(x: Any, floats: np.dtype[Any]) -> SymbolicArray:
    array = np.asarray(x)
    return as_symbolic(array, array.dtype if array.dtype.kind in "biu" else floats)
