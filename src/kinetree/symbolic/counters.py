"""Indices made of the counters of loops: x[k], x[k + 1], x[(k + 1) % n], x[order[k]] with constants in `order`.

A counter is a number of the trace like others, loaded from a table of constants at the loop's counter. So a value
computed from counters and constants alone is known in each iteration, and becomes an index of the program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import OPS, Index, Range, Recorder, Scalar, Symbol, Term
from kinetree.symbolic.refusals import misfit, refuse_value
from kinetree.symbolic.stored import rows_of

__all__ = ["row_at"]

_Values = dict[int, list[int]]
"""A sum with one term per loop: for each loop the values of the term, by the loop's counter."""


def row_at(elements: NDArray[np.object_], place: Symbol) -> NDArray[np.object_]:
    """Row of an array at a place made of counters. A place that depends on data raises the error of such an index."""
    recorder: Recorder | None = place.graph.recorder
    if recorder is None:
        refuse_value("index")
    recorder.checked(place)
    values = _Counters(recorder).values(place)
    if values is None:
        refuse_value("index")
    shape = elements.shape[1:]
    row: NDArray[np.object_] = np.empty(math.prod(shape), object)
    if all(values.values()):
        index = _index(recorder, _within(values, elements.shape))
        row[:] = rows_of(recorder, elements).at(index)
    else:  # the loop has no iterations
        row[:] = [recorder.graph.new("carried") for _ in range(row.size)]
    return row.reshape(shape)


def _within(values: _Values, shape: tuple[int, ...]) -> _Values:
    """The same values from 0 on: negative ones count from the end."""
    rows = shape[0]
    low = sum(min(term) for term in values.values())
    high = sum(max(term) for term in values.values())
    if low < -rows or high >= rows:
        reason = f"index {high if high >= rows else low} is out of bounds for axis 0 with size {rows}"
        misfit("an index made of the counter of a loop, of an array", (shape,), reason)
    if len(values) == 1:
        return {loop: [n % rows for n in term] for loop, term in values.items()}
    if low < 0 <= high:
        misfit(
            "an index made of the counters of several loops, of an array",
            (shape,),
            f"it goes from {low} to {high}, and indices below zero would count from the end; write it with % {rows}",
        )
    loop, term = next(iter(values.items()))
    return {**values, loop: [n + rows * (low < 0) for n in term]}


def _index(recorder: Recorder, values: _Values) -> Index:
    total = Index()
    for loop, term in values.items():
        total = total + recorder.look_up(term, Index(0, (Term(loop),)))
    return total


class _Counters:
    """Values computed from counters, as functions of them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._loops: dict[Symbol, frozenset[int] | None] = {}

    def values(self, x: Symbol) -> _Values | None:
        """The values of a whole number; None if it depends on data, or on several counters not as a sum of terms."""
        loops = self._loops_of(x)
        if not loops or any(self._rounds(loop) is None for loop in loops):
            return None
        if len(loops) == 1:
            (loop,) = loops
            numbers = [self._value(x, {loop: k}) for k in self._rounds(loop) or ()]
            return {loop: [int(n) for n in numbers]} if all(n == int(n) for n in numbers) else None
        return self._sum(x)

    def _sum(self, x: Symbol) -> _Values | None:
        """A sum, difference or multiple."""
        if x.op not in ("add", "sub", "mul", "neg"):
            return None
        parts = [self._part(a) for a in x.args]
        if any(p is None for p in parts):
            return None
        if x.op == "neg":
            return _scaled(parts[0] or {}, -1)
        if x.op == "mul":
            number = x.args[1]
            return None if isinstance(number, Symbol) or number != int(number) else _scaled(parts[0] or {}, int(number))
        a, b = parts[0] or {}, _scaled(parts[1] or {}, -1 if x.op == "sub" else 1)
        whole = {**a}
        for loop, term in b.items():
            whole[loop] = [m + n for m, n in zip(whole[loop], term, strict=True)] if loop in whole else term
        base = whole.pop(-1, [0])[0]
        first = min(whole)
        whole[first] = [n + base for n in whole[first]]
        return whole

    def _part(self, a: Scalar) -> _Values | None:
        if isinstance(a, Symbol):
            return self.values(a)
        return {-1: [int(a)]} if a == int(a) else None

    def _rounds(self, loop: int) -> range | None:
        """The counters of a loop that counts from 0."""
        over = self._recorder.graph.around[loop]
        if not isinstance(over, Range) or over.start != Index() or over.step != 1 or over.stop.terms:
            return None
        return range(over.stop.base)

    def _loops_of(self, x: Symbol) -> frozenset[int] | None:
        """The loops whose counters a value is made of; None if there is something else in it."""
        if x not in self._loops:
            loops: frozenset[int] | None = frozenset()
            if x.op == "load":
                array, at = x.args
                is_constant = self._recorder.memory(array).values is not None
                loops = frozenset(t.loop for t in at.terms) if is_constant else None
            elif x.op in OPS:
                for a in x.args:
                    inner = self._loops_of(a) if isinstance(a, Symbol) else frozenset()
                    loops = None if loops is None or inner is None else loops | inner
            else:
                loops = None
            self._loops[x] = loops
        return self._loops[x]

    def _value(self, x: Scalar, counters: Mapping[int, int]) -> float:
        """The number at these counters."""
        if not isinstance(x, Symbol):
            return x
        if x.op == "load":
            array, at = x.args
            values: Any = self._recorder.memory(array).values
            return float(values[at.at(counters, self._recorder.tables)])
        return OPS[x.op].evaluate(*(self._value(a, counters) for a in x.args))


def _scaled(values: _Values, factor: int) -> _Values:
    return {loop: [factor * n for n in term] for loop, term in values.items()}
