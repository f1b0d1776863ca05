"""Loops of a program, `fori` and `scan`, and steps that are left out, `when`: Python's own on plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from kinetree.compiler.tracing import Trace, as_symbolic, current_trace, is_symbolic, trace_in_progress
from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Recorder
from kinetree.inputs import whole_between
from kinetree.programs.forms import apart, filled
from kinetree.programs.loop_recording import Recording
from kinetree.programs.loop_state import Outputs, State, described
from kinetree.symbolic import SymbolicArray
from kinetree.symbolic.refusals import refuse, user_line

__all__ = ["fori", "scan", "when"]


def fori(
    iterations: int | range,
    body: Callable[[Any, Any], Any],
    state: Any,
    *,
    until: Callable[[Any], Any] | None = None,
) -> Any:
    """Repeat a step a fixed number of times, or until something is true: state = body(k, state) for k = 0, 1, …

    In a program this records one loop: `body` is run once, on symbolic arrays, however often the loop repeats it. With
    plain arrays, outside of programs, it is a Python loop with the same numbers, to debug the body.

    The counter k is a whole number that can be used in arithmetic, and as an index of the first axis of a program's
    arrays: x[k], x[k + 1], x[(k + 1) % n], x.T[k]. It cannot index a plain array: give the rows of that to
    `kt.programs.scan`, together with np.arange(n) where the number is needed too. The body can use symbolic arrays from
    around it; values that depend on those alone are computed once, before the loop.

    Args:
        iterations: their number, or a `range` that k goes through. It may not depend on arguments of a program.
        body: takes k and the state, and returns the next state, of the same form, shapes and kinds of numbers.
        state: the first state: an array or number, or several in a tuple, list, dict, named tuple or dataclass. Plain
            numbers count as real ones, also if they are written as integers.
        until: takes the state after a step, and says whether it is the last one, with one truth value. Each sample of
            a batch ends by itself. Such a loop carries its whole state as values, so the state should be small, and its
            body cannot contain loops whose outputs or state are in memory. `kt.vjp` and `kt.hvp` reject it, `kt.jvp`
            and `kt.jacobian` differentiate the steps that a sample takes.

    Returns:
        The last state, in the same form.

    Raises:
        ShapeError: the body returns a state of other shapes, or of another form; `until` does not return one
            truth value.
        OptionError: the number of iterations is not one, or `until` is not a function.
        ProgramError: the number of iterations depends on arguments of a program, or a loop with `until` contains one
            whose results are in memory.

    >>> import kinetree as kt
    >>> @kt.program(x=())
    ... def root(x):
    ...     return kt.programs.fori(6, lambda k, y: 0.5 * (y + x / y), 1.0)
    >>> print(round(root(2.0), 12))
    1.414213562373

    A loop that ends early, with the number of its steps:

    >>> @kt.program(x=())
    ... def root_and_steps(x):
    ...     def step(k, state):
    ...         return 0.5 * (state[0] + x / state[0]), state[1] + 1
    ...     return kt.programs.fori(50, step, (1.0, 0), until=lambda state: abs(state[0] * state[0] - x) < 1e-12 * x)
    >>> root_and_steps([2.0, 1e6])[1]
    array([ 5., 14.])
    """
    return _fori(_counters(iterations), body, state, until)


def scan(step: Callable[[Any, Any], Any], state: Any, rows: Any = None, length: int | None = None) -> tuple[Any, Any]:
    """Repeat a step over the rows of arrays, and collect its outputs: state, output = step(state, row).

    In a program this records one loop: `step` is run once, on symbolic arrays, and rows and outputs are in memory. Rows
    of a program's arguments, and of another scan's outputs, are read where they are. With plain arrays, outside of
    programs, it is a Python loop with the same numbers, to debug the step.

    Args:
        step: takes the state and one row, and returns the next state and an output; the state as for
            `kt.programs.fori`, the output in any form of arrays, or None.
        state: the first state, as for `kt.programs.fori`.
        rows: arrays with one row per step in the first axis: one, or several in a tuple, list, dict, named tuple or
            dataclass, of equal length; or None.
        length: the number of steps, if no rows determine it.

    Returns:
        The last state, and the outputs, in the form of one of them: arrays with one row per step in the first axis.

    Raises:
        ShapeError: the step returns a state of other shapes or another form, or the rows differ in length.
        OptionError: the length is missing, or is not a number of steps.
        ProgramError: the length depends on arguments of a program, or the step does not return a state and an output.

    >>> import kinetree as kt
    >>> @kt.program(x=5)
    ... def running_mean(x):
    ...     def step(state, row):
    ...         total, count = state[0] + row, state[1] + 1
    ...         return (total, count), total / count
    ...     _, means = kt.programs.scan(step, (0.0, 0.0), x)
    ...     return means
    >>> running_mean([1.0, 2.0, 3.0, 4.0, 5.0])
    array([1. , 1.5, 2. , 2.5, 3. ])
    """
    form, leaves = apart(rows, _no_rows, nothing=True)
    arrays = [x if isinstance(x, SymbolicArray) else np.asarray(x) for _, x in leaves]
    count = _length([(path, x.shape) for (path, _), x in zip(leaves, arrays, strict=True)], length)
    return _scan(step, state, form, arrays, count)


def when(condition: Any, step: Callable[[Any], Any], state: Any) -> Any:
    """`step(state)` where a condition holds, and the state elsewhere; left out where no sample needs it.

    In a program the step is recorded once. Samples that are computed together take it if any of them needs it, so it
    costs little if the condition seldom holds: a reset, a search that is rarely needed. Its result makes no difference
    to the others. With plain arrays, outside of programs, it is an `if`.

    Args:
        condition: one truth value of the program.
        step: takes the state and returns the next one, of the same form, shapes and kinds of numbers.
        state: as for `kt.programs.fori`; all of it is carried as values, and the step cannot contain loops whose
            outputs or state are in memory.

    Returns:
        The next state, in the same form.

    Raises:
        ShapeError: the step returns a state of other shapes, or of another form, or the condition is not one truth
            value.
        ProgramError: the step contains a loop whose results are in memory.

    >>> import kinetree as kt
    >>> @kt.program(x=3)
    ... def unit_if_long(x):
    ...     return kt.programs.when(x @ x > 1.0, lambda x: x / np.linalg.norm(x), x)
    >>> unit_if_long([[3.0, 0.0, 4.0], [0.1, 0.0, 0.2]])
    array([[0.6, 0. , 0.8],
           [0.1, 0. , 0.2]])
    """
    trace = trace_in_progress()
    loop = State("kt.programs.when", step, state, trace)
    if trace is None:
        is_needed = _truth(condition, "kt.programs.when: the condition is")
        return loop.filled(loop.next(step(loop.filled(loop.first))) if is_needed else loop.first)
    needed = _truth_inside(condition, "kt.programs.when: the condition is")
    last = Recording(trace, 1).run_where(needed, loop.first, lambda leaves: loop.next(step(loop.filled(leaves))))
    return loop.filled(last)


def _fori(
    counters: range, body: Callable[[Any, Any], Any], state: Any, until: Callable[[Any], Any] | None = None
) -> Any:
    if until is not None and not callable(until):
        raise OptionError(
            f"kt.programs.fori: until is a function of the state that says whether to end, not {until!r:.60}"
        )
    trace = trace_in_progress()
    loop = State("kt.programs.fori", body, state, trace)
    if trace is None:
        leaves = loop.first
        for k in counters:
            leaves = loop.next(body(k, loop.filled(leaves)))
            if until is not None and _truth(until(loop.filled(leaves)), _UNTIL):
                break
        return loop.filled(leaves)
    recording = Recording(trace, len(counters))
    numbers = np.array(counters, np.int64)

    def one(leaves: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        return loop.next(body(recording.row(numbers), loop.filled(leaves))), ()

    ends = None if until is None else lambda leaves: _truth_inside(until(loop.filled(leaves)), _UNTIL)
    return loop.filled(recording.run(loop.first, one, ends)[0])


def _truth(x: Any, what: str) -> bool:
    """One truth value; `what` says whose."""
    truth = np.asarray(x)
    if truth.shape != () or truth.dtype != np.bool_:
        raise ShapeError(f"{user_line()}: {what} {described(x)}; {_ONE_TRUTH}")
    return bool(truth)


def _truth_inside(x: Any, what: str) -> Any:
    """The same in a trace: the number of a truth value."""
    if not isinstance(x, SymbolicArray):
        return float(_truth(x, what))
    if x.shape != () or x.dtype != np.bool_:
        raise ShapeError(f"{user_line()}: {what} {described(x)} of {x.dtype}; {_ONE_TRUTH}")
    return x.flat_elements()[0]


_UNTIL = "kt.programs.fori: until returned"
_ONE_TRUTH = "it is one truth value, such as error < 1e-9 or np.all(error < 1e-9)"


def _scan(step: Callable[[Any, Any], Any], state: Any, form: Any, rows: Sequence[Any], count: int) -> tuple[Any, Any]:
    trace = trace_in_progress()
    if trace is None:
        if is_symbolic(rows):
            current_trace()  # raises
        if count == 0:
            return _scan_nothing(step, state, form, rows)
        return _scan_plain(step, state, form, rows, count)
    loop, outputs = State("kt.programs.scan", step, state, trace), Outputs()
    recording = Recording(trace, count)

    def one(leaves: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        row = filled(form, [recording.row(x) for x in rows])
        following, output = _pair(step(loop.filled(leaves), row), loop)
        return loop.next(following), [as_symbolic(x, trace.dtype) for x in outputs.taken(output)]

    last, stacked = recording.run(loop.first, one)
    return loop.filled(last), filled(outputs.form, stacked)


def _scan_plain(
    step: Callable[[Any, Any], Any], state: Any, form: Any, rows: Sequence[Any], count: int
) -> tuple[Any, Any]:
    loop, outputs = State("kt.programs.scan", step, state, None), Outputs()
    leaves, collected = loop.first, []
    for k in range(count):
        following, output = _pair(step(loop.filled(leaves), filled(form, [x[k] for x in rows])), loop)
        leaves = loop.next(following)
        collected.append([np.asarray(x) for x in outputs.taken(output)])
    return loop.filled(leaves), filled(outputs.form, [np.stack(x) for x in zip(*collected, strict=True)])


def _scan_nothing(step: Callable[[Any, Any], Any], state: Any, form: Any, rows: Sequence[Any]) -> tuple[Any, Any]:
    """A scan of no rows: a trace, which is dropped, shows what a step would return."""
    with Trace(Recorder((), ()), np.dtype(np.float64)).recording():
        _, stacked = _scan(step, state, form, rows, 0)
    stacked_form, found = apart(stacked, _no_output, nothing=True)
    leaves = [np.empty(x.shape, x.dtype) for _, x in found]
    loop = State("kt.programs.scan", step, state, None)
    return loop.filled(loop.first), filled(stacked_form, leaves)


def _counters(iterations: Any) -> range:
    if isinstance(iterations, range):
        return iterations
    return range(_whole(iterations, "kt.programs.fori: the number of iterations"))


def _length(rows: Sequence[tuple[str, tuple[int, ...]]], length: Any) -> int:
    """The number of steps of a scan."""
    if length is None and not rows:
        raise OptionError("kt.programs.scan: without rows, length= says how many steps there are")
    for path, shape in rows:
        if not shape:
            raise ShapeError(
                f"{user_line()}: kt.programs.scan: the rows{path} are one number; rows are arrays with one row per "
                "step in the first axis"
            )
    lengths = {shape[0] for _, shape in rows}
    if length is not None:
        lengths.add(_whole(length, "kt.programs.scan: length"))
    if len(lengths) > 1:
        text = ", ".join(f"rows{path} of shape {shape}" for path, shape in rows)
        also = "" if length is None else f", and length is {length}"
        raise ShapeError(f"{user_line()}: kt.programs.scan: the first axes differ in length: {text}{also}")
    return lengths.pop()


def _whole(number: Any, what: str) -> int:
    """A number of iterations."""
    if isinstance(number, SymbolicArray) and not all(isinstance(x, float) for x in number.flat_elements()):
        refuse(
            f"{what} depends on arguments of the program, or on the counter of a loop; it must be known while the "
            "program is traced: take the largest number, and keep the state that is final with np.where(k < n, new, "
            "state)"
        )
    return whole_between(what, number)


def _pair(returned: Any, loop: State) -> tuple[Any, Any]:
    """The results of a scan's step."""
    if not isinstance(returned, tuple) or len(returned) != 2:
        refuse(
            f"kt.programs.scan: {loop.where} returned {described(returned)}; it must return two things, the next "
            "state and an output: return state, output (None, if there is nothing to collect)"
        )
    return returned


def _no_rows(x: Any, path: str) -> NoReturn:
    raise OptionError(
        f"{user_line()}: kt.programs.scan: rows{path} are {described(x)}; they are an array with one row per step, "
        "or several in a tuple, list, dict, named tuple or dataclass"
    )


def _no_output(x: Any, path: str) -> NoReturn:
    refuse(
        f"kt.programs.scan: the output{path} of a step is {described(x)}; it is an array or a number, several in a "
        "tuple, list, dict, named tuple or dataclass, or None"
    )
