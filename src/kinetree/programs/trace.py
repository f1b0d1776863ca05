"""From a user's function to a program of statements: it is run on symbolic arrays, and its operations are kept.

The part of a trace that machine code needs, the form of the results, is kept on disk under everything that the trace
depends on (`kinetree.programs.content`), as the code is. So a process that finds both need not run the function.

The robots in it can take several forms (axes that suit the joints; equations as one system), which give the same
results with different numbers of operations. A form counts for the whole program, since calls share only equal parts;
so the function is run again for each that a first run offers, and the shortest program is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from types import TracebackType
from typing import Any

import numpy as np

from kinetree.codegen.kept.cache import user_cache
from kinetree.codegen.kept.identity import toolchain
from kinetree.compiler.compiled import IMPORTED
from kinetree.compiler.tracing import Trace, current_trace, trace_in_progress
from kinetree.errors import ProgramError
from kinetree.expr import MixedTracesError, Port, Program, Recorder, Scalar, lower
from kinetree.locks import compiling
from kinetree.programs.argument import Argument
from kinetree.programs.content import content
from kinetree.programs.lines import Lines
from kinetree.programs.results import Results
from kinetree.symbolic import OUTSIDE, SymbolicArray, explained, line_of, refuse
from kinetree.symbolic.stored import Copies, Copy

__all__ = ["Subject", "Traced", "called", "traced", "users_part", "with_choices"]

_WORTH_SEARCHING = 30_000
"""Operations up to which other forms are tried; a longer function would be run for seconds."""


class Traced:
    """A program, and the form of its results."""

    def __init__(
        self,
        results: Results,
        choices: frozenset[str],
        program: Program | None = None,
        *,
        again: Callable[[], Program] | None = None,
        key: bytes | None = None,
    ) -> None:
        self.results = results
        self.choices = choices
        self.key = key
        """The dependencies of the trace, if all of them are known."""
        self._program = program
        self._again = again

    @property
    def program(self) -> Program:
        """The statements. If the trace was found on disk, the function runs when they are first asked for."""
        if self._program is None:
            assert self._again is not None
            with compiling:
                self._program = self._again()
        return self._program


Subject = tuple[Callable[..., Any], Mapping[str, Argument]]
"""A function and its arguments."""


def traced(
    function: Callable[..., Any],
    name: str,
    arguments: Mapping[str, Argument],
    dtype: np.dtype[Any],
    remake: Callable[[], Subject] | None = None,
) -> Traced:
    """The shortest program of a function, for arguments of one sample; from the disk, if it is known there.

    `remake` makes the function and its arguments again, if the program must not keep these alive.
    """
    key = None if trace_in_progress() else _key(function, name, arguments, dtype)
    cache = None if key is None else user_cache()
    if key is None or cache is None:
        return _shortest(function, name, arguments, dtype)
    form = cache.read(key, "trace")
    text = None if form is None else form.decode()
    if text is not None and (known := Results.of_text(text, name, dtype)) is not None:
        results, choices = known
        subject_of = remake or (lambda: (function, arguments))

        def again() -> Program:
            subject = subject_of()
            before = _key(subject[0], name, subject[1], dtype)
            trace, _ = with_choices(subject[0], name, subject[1], dtype, choices)
            if before != key or trace.results.text(choices) != text:
                raise ProgramError(
                    f"the program {name!r} was found on disk at its first call, and must be traced now, but an object "
                    "that its function uses has changed since then; make a new program after such a change, or pass "
                    "values that change as arguments"
                )
            return trace.program

        return Traced(results, choices, again=again, key=key)
    trace = _shortest(function, name, arguments, dtype)
    text = trace.results.text(trace.choices)
    if text is None or _key(function, name, arguments, dtype) != key:  # the function has changed what it depends on
        return trace
    cache.write(key, text.encode(), "trace")
    return Traced(trace.results, trace.choices, trace.program, key=key)


def _key(
    function: Callable[..., Any], name: str, arguments: Mapping[str, Argument], dtype: np.dtype[Any]
) -> bytes | None:
    """A key for everything that a trace depends on, kinetree and NumPy included; None if some of it is unknown."""
    tools = toolchain(("trace", np.__version__), IMPORTED)
    return None if tools is None else content(tools, function, name, dict(arguments), dtype.name)


def _shortest(
    function: Callable[..., Any], name: str, arguments: Mapping[str, Argument], dtype: np.dtype[Any]
) -> Traced:
    best, offered = with_choices(function, name, arguments, dtype, frozenset())
    fewest = best.program.operation_counts().total()
    if fewest > _WORTH_SEARCHING:
        return best
    for choice in sorted(offered):
        other, _ = with_choices(function, name, arguments, dtype, best.choices | {choice})
        count = other.program.operation_counts().total()
        if count < fewest:
            best, fewest = other, count
    return best


def with_choices(
    function: Callable[..., Any],
    name: str,
    arguments: Mapping[str, Argument],
    dtype: np.dtype[Any],
    choices: frozenset[str],
    lines: Lines | None = None,
) -> tuple[Traced, set[str]]:
    """One run of the function, and the forms that it offers; `lines` notes the records of each of the user's lines."""
    inputs = [argument.port(name) for name, argument in arguments.items()]
    recorder = Recorder(inputs, [Port(name, ())])
    given = []
    for argument in arguments.values():
        elements = np.empty(argument.port("").size, dtype=object)
        elements[:] = [recorder.root.input() for _ in range(elements.size)]
        given.append(SymbolicArray(elements.reshape(argument.shape), argument.symbolic_dtype(dtype)))
    trace = Trace(recorder, dtype, choices)
    try:
        with trace.recording():
            with nullcontext() if lines is None else lines.noted(recorder.root):
                returned = called(function, name, dict(zip(arguments, given, strict=True)))
            results = Results(returned, name, dtype)
            try:
                numbers = [recorder.checked(x) for x in results.taken_numbers()]
            except MixedTracesError:
                raise ProgramError(
                    f"the program {name!r} returned an array of an earlier run, or one computed from it; {_KEPT}"
                ) from None
        output = Port(name, results.shape)
        origins = None if lines is None else lines.origins
        flat = None if stored(recorder, results, numbers) else numbers
        program = lower(recorder.root, tuple(inputs), (output,), flat, name, recorder.arrays, recorder.tables, origins)
        return Traced(results, choices, program), trace.offered
    finally:
        recorder.root.close()


def stored(recorder: Recorder, results: Results, numbers: Sequence[Scalar]) -> bool:
    """Store the results in the output, if that takes loops: they are in memory. Otherwise they stay values."""
    if not recorder.root.effects:
        return False
    copies, output, first = [], recorder.outputs[0], 0
    for leaf in results.leaves:
        elements = np.empty(leaf.size, object)
        elements[:] = numbers[first : first + leaf.size]
        copies.append(Copy(elements.reshape(leaf.shape), output, first))
        first += leaf.size
    planned = Copies(recorder, copies)
    if planned.has_loops:
        output.size = first
        planned.record()
    return planned.has_loops


_KEPT = (
    "the arrays of a program live only while it runs: do not keep them in lists or attributes outside, or take them "
    "out of the body of a loop other than as its result"
)


def called(function: Callable[..., Any], name: str, arguments: Mapping[str, Any]) -> Any:
    """Run the user's function in the trace in progress."""
    running = current_trace().running
    trace: Trace | None = current_trace()
    is_nested = bool(running) or current_trace().around is not None
    while trace is not None:
        if function in trace.running:
            refuse(
                f"the program {name!r} calls itself, which would never end; use kt.programs.fori, or another function"
            )
        trace = trace.around
    running.append(function)
    try:
        return function(**arguments)
    except MixedTracesError:
        line = line_of(sys.exc_info()[2])
        where = f"{line}: " if line else ""
        nested = "; a program that is differentiated in another takes what it needs of it as arguments" * is_nested
        raise ProgramError(
            f"{where}an array of an earlier run, or of a loop's body, is used; {_KEPT}{nested}"
        ) from None
    except Exception as error:
        better = explained(error)
        if better is error:
            raise
        raise better from None
    finally:
        running.pop()


def users_part(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback from its first frame outside kinetree on; the whole if it has none."""
    part = traceback
    while part is not None and part.tb_frame.f_code.co_filename.startswith(OUTSIDE):
        part = part.tb_next
    return part or traceback
