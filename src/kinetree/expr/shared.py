"""Programs that several programs call: traced once while any of them lives, whoever asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from weakref import WeakValueDictionary

from kinetree.expr.grid import Grid, Shared
from kinetree.expr.lower import lower
from kinetree.expr.program import Port, Program
from kinetree.expr.recording import Recorder
from kinetree.expr.symbol import Scalar

__all__ = ["call_shared"]


_known: WeakValueDictionary[tuple[Shared, int], Program] = WeakValueDictionary()


def call_shared(recorder: Recorder, function: Shared, numbers: Sequence[Scalar]) -> Sequence[Scalar]:
    """Record a call of a function's program on numbers, and return its results."""
    program = _known.get((function, len(numbers)))
    if program is None:
        program = _known.setdefault((function, len(numbers)), _program(function, len(numbers)))
    return recorder.call(program, *numbers)


def _program(function: Shared, count: int) -> Program:
    inputs = (Port("numbers", (count,)),)
    recorder = Recorder(inputs, [Port("results", ())])
    with closing(recorder.root) as graph:
        results = [recorder.checked(x) for x in function(partial(Grid, recorder=recorder), recorder.inputs[0])]
        outputs, arrays, tables = (Port("results", (len(results),)),), recorder.arrays, recorder.tables
        return lower(graph, inputs, outputs, results, function.name, arrays, tables, is_shared=True)
