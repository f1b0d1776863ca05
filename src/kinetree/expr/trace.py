"""From a Python function to a program: run it on symbols, then lower the record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing

from kinetree.expr.lower import lower
from kinetree.expr.program import Port, Program
from kinetree.expr.recording import Recorder
from kinetree.expr.symbol import Graph, Scalar, Symbol

__all__ = ["run_on_symbols", "trace", "trace_memory"]


def trace(
    function: Callable[..., Sequence[Sequence[Scalar]]],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    name: str | None = None,
    most: int = sys.maxsize,
    *,
    as_recorded: bool = False,
) -> Program:
    """Run `function` once on symbols and return the program of its operations.

    The function gets one flat list of symbols for each port of `inputs`, and returns one flat sequence of numbers for
    each port of `outputs`. `as_recorded`: as for `lower`.

    Raises TraceTooLongError if it records more than `most` operations.

    >>> program = trace(lambda x: [[x[0] * x[0] + 0.0 * x[1]]], [Port("x", (2,))], [Port("y", ())])
    >>> len(program.body.statements)
    1
    """
    name = name or str(getattr(function, "__name__", "program"))
    with closing(Graph(most=most)) as graph:
        results = run_on_symbols(graph, function, inputs, outputs)
        return lower(graph, tuple(inputs), tuple(outputs), results, name, as_recorded=as_recorded)


def run_on_symbols(
    graph: Graph,
    function: Callable[..., Sequence[Sequence[Scalar]]],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
) -> list[Scalar]:
    """The results of a function on new inputs of a graph, one port after another: symbols of the graph and floats."""
    arguments = [[graph.input() for _ in range(port.size)] for port in inputs]
    results: list[Scalar] = []
    for port, values in zip(outputs, function(*arguments), strict=True):
        if len(values) != port.size:
            raise ValueError(f"{port.name} has {port.size} numbers, but the function returned {len(values)}")
        results.extend(_result(graph, x) for x in values)
    return results


def trace_memory(
    function: Callable[[Recorder], None],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    name: str,
) -> Program:
    """Run `function` once on a recorder, whose inputs it reads and whose outputs it writes; the rest is zero.

    >>> from kinetree.expr import Index, Range
    >>> def doubled(recorder):
    ...     with recorder.loop(Range(Index(0), Index(1000))) as k:
    ...         recorder.outputs[0][k] = 2.0 * recorder.inputs[0][k]
    >>> trace_memory(doubled, [Port("x", (1000,))], [Port("y", (1000,))], "doubled")
    doubled(x[1000]) -> y[1000]
      for 0 to 1000:
        %1000 = x[k0]
        %1001 = mul(%1000, 2.0)
        y[k0] = %1001
    """
    recorder = Recorder(inputs, outputs)
    with closing(recorder.root) as graph:
        function(recorder)
        return lower(graph, tuple(inputs), tuple(outputs), None, name, recorder.arrays, recorder.tables)


def _result(graph: Graph, x: Scalar) -> Scalar:
    """A symbol of this trace, or a plain float: an integer would be taken for the name of a value."""
    if not isinstance(x, Symbol):
        return float(x)
    if x.graph is not graph:
        raise ValueError("symbols of two traces do not mix")
    return x
