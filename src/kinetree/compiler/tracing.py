"""The trace of a user's program in progress, and calls of compiled functions in it.

A call whose arguments are symbolic is not run but inlined: its algorithm runs on the symbols of the trace, so common
parts of several calls are computed once. A function that would be long or has loops of its own is called, as a program.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree import expr
from kinetree.announcement import because
from kinetree.compiler.arguments import Arguments
from kinetree.compiler.source import Source
from kinetree.errors import DTypeError, ShapeError
from kinetree.expr import Program, Scalar
from kinetree.inputs import holds_symbols

if TYPE_CHECKING:
    from kinetree.expr import Recorder
    from kinetree.symbolic import SymbolicArray

__all__ = [
    "INTO_LOOPS",
    "Trace",
    "as_symbolic",
    "checked_inside",
    "current_trace",
    "dtype_in_trace",
    "inlined",
    "is_symbolic",
    "recorded",
    "trace_in_progress",
]

INTO_LOOPS = "put steps that repeat into kt.programs.fori or kt.programs.scan (`kinetree docs programs`)"
_state = threading.local()


class Trace:
    """A program being recorded."""

    def __init__(self, recorder: Recorder, dtype: np.dtype[Any], choices: frozenset[str] = frozenset()) -> None:
        """`choices`: the forms of robots that are taken in this trace, of those that an earlier one offered."""
        self.recorder = recorder
        self.dtype = dtype
        self.choices = choices
        self.offered: set[str] = set()
        """The choices that would make a difference here."""
        self.calls: bool = False
        """Whether functions are called rather than written out."""
        self.running: list[object] = []
        """The user's programs that are being traced, the outermost first."""
        self.around: Trace | None = None
        """The trace during which this one was begun."""

    def chooses(self, choice: str) -> bool:
        """Whether a form is taken; from now on it counts as offered."""
        self.offered.add(choice)
        return choice in self.choices

    def call(self, program: Program, *flat: Sequence[Scalar]) -> list[Scalar]:
        """Run another program at this place of the trace; results, flat."""
        return list(self.recorder.call(program, *(x for numbers in flat for x in numbers)))

    def run(self, program: Program, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        """The first results of another program: run again on the symbols, or called if it has loops."""
        return expr.replay(program, *flat)[0] if program.is_straight and not self.calls else self.call(program, *flat)

    @contextmanager
    def calling(self, calls: bool) -> Iterator[None]:
        """In this context functions are called as programs of their own: compiled once, however often they run."""
        around, self.calls = self.calls, calls
        yield
        self.calls = around

    @contextmanager
    def at_most(self, operations: int) -> Iterator[None]:
        """Record no more than this; TraceTooLongError otherwise."""
        with self.recorder.root.at_most(operations):
            yield

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Make this the trace in progress of the thread."""
        self.around = getattr(_state, "trace", None)
        _state.trace = self
        try:
            yield
        finally:
            if self.around is None:
                del _state.trace
            else:
                _state.trace = self.around


def trace_in_progress() -> Trace | None:
    """The trace in progress in this thread, if there is one."""
    return getattr(_state, "trace", None)


def current_trace() -> Trace:
    """The trace in progress in this thread. Raises ProgramError outside a trace."""
    trace = trace_in_progress()
    if trace is None:
        from kinetree.symbolic import refuse

        refuse(
            "a symbolic array is used while no program is traced: it belongs to a trace that is over; a program's "
            "arrays live only while it runs, so return what you need from it"
        )
    return trace


def recorded(source: Source, in_progress: Trace) -> tuple[Program, set[str]]:
    """The program of a source with the operations that it records in this trace, and the choices that it offers."""
    recorder = expr.Recorder(source.inputs, [source.output])
    flat = [[recorder.root.input() for _ in range(port.size)] for port in source.inputs]
    trace = Trace(recorder, in_progress.dtype, in_progress.choices)
    with closing(recorder.root) as graph:
        with trace.recording():
            numbers = [recorder.checked(x) for x in source.inlined(*flat)]
        ports = tuple(source.inputs), (source.output,)
        arrays, tables = recorder.arrays, recorder.tables
        program = expr.lower(graph, *ports, numbers, source.name, arrays, tables, as_recorded=True)
    return program, trace.offered


def is_symbolic(arguments: Sequence[Any]) -> bool:
    """Whether one of these is a symbolic array, or holds symbolic numbers, in a list or in an array of dtype object."""
    return any(map(holds_symbols, arguments))


def dtype_in_trace(arguments: Sequence[Any]) -> np.dtype[Any] | None:
    """The dtype of the trace in progress if one of these is symbolic; None if they are numbers."""
    return current_trace().dtype if hasattr(_state, "trace") and is_symbolic(arguments) else None


def as_symbolic(x: Any, dtype: np.dtype[Any]) -> SymbolicArray:
    """A symbolic array as it is, and plain numbers as one."""
    from kinetree.symbolic import SymbolicArray, symbolic

    return x if type(x) is SymbolicArray else symbolic(x, dtype)


def inlined(source: Source, expected: Arguments, arguments: Sequence[Any], out: Any) -> Any:
    """A call of a compiled function in the trace in progress. Raises the errors of a call on plain arrays."""
    from kinetree.symbolic import by_sample, refuse

    trace = current_trace()
    if out is not None:
        refuse(
            f"{source.name}: out= is not possible inside a program, whose arrays are not in memory yet; leave it out"
        )
    because(f"calls of {source.name}", 1, INTO_LOOPS)
    arrays, _ = checked_inside(expected, arguments, trace.dtype)
    cores = [port.shape for port in expected.ports]
    return by_sample(source.inlined, arrays, cores, expected.core, trace.dtype)


def checked_inside(
    expected: Arguments, arguments: Sequence[Any], dtype: np.dtype[Any]
) -> tuple[list[SymbolicArray], tuple[int, ...]]:
    """Arguments of a call in a trace as symbolic arrays, and the shape that their leading axes broadcast to.

    Raises the errors of a call on plain arrays, with the user's line.
    """
    try:
        arrays = [as_symbolic(x, dtype) for x in expected.checked(arguments)]
        return arrays, expected.batch_shape([x.elements for x in arrays])
    except (DTypeError, ShapeError) as error:
        from kinetree.symbolic import user_line

        raise type(error)(f"{user_line()}: {error}") from None
