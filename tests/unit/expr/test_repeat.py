"""Loops that end early, and values whose derivatives are those of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinetree.codegen.cpu.builtin import layout_is_known, make_builtin
from kinetree.codegen.cpu.jit import MachineCode, assemble, compile_module
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.single import emit_single
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64
from kinetree.codegen.llvm.target import Target, host
from kinetree.errors import OptionError, ProgramError
from kinetree.expr import (
    Call,
    Index,
    Port,
    Program,
    Range,
    Recorder,
    absolute,
    forward_derivative,
    in_pieces,
    interpret,
    less_equal,
    repeat,
    reverse_derivative,
    slopes_of,
    trace,
    trace_memory,
    without_slopes,
)

X, Y = Port("x", (2,)), Port("y", (3,))


def root(x: Sequence[Any]) -> list[Any]:
    """√x₀ by Newton's method from x₁, the number of its iterations, and a sum of inner loops."""

    def step(state: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        y, count, total = state
        new = 0.5 * (y + x[0] / y)

        def inner(values: Sequence[Any]) -> tuple[Sequence[Any], Any]:
            (z,) = values
            return [z * 0.5], less_equal(absolute(z), absolute(new))

        (halved,) = repeat(5, [10.0 * y], inner)
        return [new, count + 1.0, total + halved], less_equal(absolute(new * new - x[0]), 1e-9 * x[0])

    return list(repeat(40, [x[1], 0.0, 0.0], step))


def program_of(function: Any = root, outputs: Port = Y) -> Program:
    def record(r: Recorder) -> None:
        values = function([r.inputs[0][k] for k in range(2)])
        for k, value in enumerate(values):
            r.outputs[0][k] = value

    return trace_memory(record, [X], [outputs], "root")


class Owner:
    """What a builtin keeps alive."""


def no_other(*_: Any, **__: Any) -> None:
    raise AssertionError("ordinary arrays are taken as they are")


SAMPLES = np.column_stack([np.geomspace(1e-3, 1e6, 37), np.linspace(0.1, 90.0, 37)])


def test_each_sample_of_arrays_ends_for_itself() -> None:
    on_arrays = np.column_stack(np.broadcast_arrays(*root(list(SAMPLES.T))))
    assert len(set(on_arrays[:, 1])) > 5
    for x, y in zip(SAMPLES, on_arrays, strict=True):
        np.testing.assert_array_equal(root(x.tolist()), y)


def test_floats_program_and_machine_code_are_one_function() -> None:
    program = program_of()
    wide = batch_function(program)(SAMPLES)
    for x, y in zip(SAMPLES, wide, strict=True):
        np.testing.assert_allclose(root(x.tolist()), y, rtol=1e-14)
        np.testing.assert_allclose(*interpret(program, x.tolist()), y, rtol=1e-14)
    assert len(set(wide[:, 1])) > 8  # the lanes end at different times
    np.testing.assert_allclose(wide[:, 0], np.sqrt(SAMPLES[:, 0]), rtol=1e-8)


def test_a_sample_does_not_depend_on_its_neighbours() -> None:
    run = batch_function(program_of())
    wide = run(SAMPLES)
    for k in (0, 5, 36):
        np.testing.assert_array_equal(run(SAMPLES[k : k + 1])[0], wide[k])
        np.testing.assert_array_equal(run(np.repeat(SAMPLES[k : k + 1], 9, axis=0)), np.repeat(wide[k : k + 1], 9, 0))
    np.testing.assert_array_equal(run(SAMPLES[::-1]), wide[::-1])
    narrow = replace(host(), vector_bits=128)
    np.testing.assert_array_equal(batch_function(program_of(), F64, narrow)(SAMPLES), wide)
    if layout_is_known():
        code = MachineCode(compile_module(emit_single(program_of(), F64, host())))
        one = make_builtin(code, "root", "", Owner(), no_other, (X,), F64)
        assert one is not None
        np.testing.assert_array_equal([one(x) for x in SAMPLES], wide)


def test_a_sample_of_nan_harms_no_other() -> None:
    run = batch_function(program_of())
    spoiled = SAMPLES.copy()
    spoiled[3] = np.nan
    with np.errstate(invalid="ignore"):
        found = run(spoiled)
    assert np.isnan(found[3, 0])
    np.testing.assert_array_equal(np.delete(found, 3, axis=0), np.delete(run(SAMPLES), 3, axis=0))


def test_in_float32_and_for_another_processor() -> None:
    program = program_of()
    single = batch_function(program, F32)(SAMPLES.astype(np.float32))
    np.testing.assert_allclose(single[:, 0], np.sqrt(SAMPLES[:, 0]), rtol=1e-3)
    target = Target("aarch64-unknown-linux-gnu", "", "", 128, True)
    assert "kernel:" in assemble(emit(program, F64, target), target)


def test_it_prints_its_end_and_counts_all_iterations() -> None:
    program = program_of()
    assert str(program).count("until %") == 2
    assert program.operation_counts()["div"] == 40


def test_in_pieces_it_is_the_same() -> None:
    program = program_of()
    cut = in_pieces(program, long=4, piece=3)
    assert "piece(" in str(cut)
    for x in SAMPLES[::6].tolist():
        assert interpret(cut, x) == interpret(program, x)


def test_a_loop_that_starts_from_constants_is_repeated() -> None:
    def count(x: Sequence[Any]) -> list[Any]:
        """½ doubled until it was at least x₀, and how often."""

        def step(state: Sequence[Any]) -> tuple[Sequence[Any], Any]:
            y, n = state
            return [2.0 * y, n + 1.0], less_equal(x[0], y)

        return [*repeat(30, [0.5, 0.0], step), x[1]]

    program = program_of(count)
    assert str(program).count("until %") == 1
    for x in ([0.7, 1.0], [3.0, 2.0], [1e6, 3.0]):
        assert interpret(program, x)[0] == count(x)


def test_a_body_that_stores_is_refused() -> None:
    def record(r: Recorder) -> None:
        def step(state: Sequence[Any]) -> tuple[Sequence[Any], Any]:
            r.outputs[0][0] = state[0]
            return [state[0] + 1.0], less_equal(4.0, state[0])

        r.outputs[0][1] = repeat(9, [r.inputs[0][0]], step)[0]

    with pytest.raises(ValueError, match="a loop that ends early stores something"):
        trace_memory(record, [X], [Y], "f")


def test_a_trace_without_memory_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a trace with memory"):
        trace(lambda x: [root(x)], [X], [Y], "f")


def test_a_loop_that_nothing_needs_is_gone() -> None:
    assert "until" not in str(program_of(lambda x: [x[0], root(x)[0] * 0.0], Port("y", (2,))))


def test_the_forward_derivative_follows_the_iterations() -> None:
    derivative = forward_derivative(program_of())
    for x in SAMPLES[::5].tolist():
        _, (slope, count, _) = interpret(derivative, x, [1.0, 0.0])
        assert slope == pytest.approx(0.5 / np.sqrt(x[0]), rel=1e-3)
        assert count == 0.0


def implicit(x: Sequence[Any]) -> list[Any]:
    """√x₀ with the derivative of the implicit function y² = x₀."""
    y = root(x)[0]
    fixed = slopes_of(y, 0.0)
    return [slopes_of(fixed, fixed + (x[0] - fixed * fixed) / (2.0 * fixed))]


def test_the_derivatives_of_another_value() -> None:
    program = program_of(implicit, Port("y", (1,)))
    forward, backward = forward_derivative(program), reverse_derivative(program)
    for x in SAMPLES[::5].tolist():
        (y,), (slope,) = interpret(forward, x, [1.0, 0.0])
        assert y == pytest.approx(np.sqrt(x[0]), rel=1e-8)
        assert slope == pytest.approx(0.5 / y, rel=1e-8)
        _, bar = interpret(backward, x, [1.0])
        assert bar == [pytest.approx(slope), 0.0]
    assert "until" in str(backward)


def test_the_reverse_derivative_of_the_iterations_is_refused() -> None:
    with pytest.raises(ProgramError, match="a loop that ends early"):
        reverse_derivative(program_of())


def test_without_slopes_a_program_has_only_its_values() -> None:
    program = program_of(implicit, Port("y", (1,)))
    plain = without_slopes(program)
    assert "slopes_of" in str(program)
    assert "slopes_of" not in str(plain)
    assert len(plain.body.statements) < len(program.body.statements)
    for x in SAMPLES[::5].tolist():
        assert interpret(plain, x) == interpret(program, x)
    assert without_slopes(plain) is plain


def test_slopes_inside_loops_and_called_programs_go_as_well() -> None:
    called = trace(lambda a: [[slopes_of(a[0], 3.0 * a[0])]], [Port("a", (1,))], [Port("b", (1,))], "called")

    def record(r: Recorder) -> None:
        with r.loop(Range(Index(0), Index(2))) as k:
            (value,) = r.call(called, r.inputs[0][k])
            r.outputs[0][k] = slopes_of(value, 2.0 * value)

    program = trace_memory(record, [X], [Y], "f")
    plain = without_slopes(program)
    calls = [s.program for s in plain.body.all_statements() if isinstance(s, Call)]
    assert not any("slopes_of" in str(p) for p in (plain, *calls))
    assert len(calls) == 1
    assert interpret(plain, [4.0, 5.0]) == interpret(program, [4.0, 5.0]) == ([4.0, 5.0, 0.0],)
    (_, slopes) = interpret(forward_derivative(program), [4.0, 5.0], [1.0, 0.0])
    assert slopes == [6.0, 0.0, 0.0]


def test_floats_and_arrays_have_the_first_value() -> None:
    assert slopes_of(2.0, 5.0) == 2.0
    np.testing.assert_array_equal(slopes_of(np.array([1.0, 2.0]), np.array([5.0, 6.0])), [1.0, 2.0])


def test_second_derivatives_are_refused() -> None:
    program = program_of(implicit, Port("y", (1,)))
    for first in (forward_derivative(program), reverse_derivative(program)):
        with pytest.raises(OptionError, match="have first derivatives only"):
            forward_derivative(first)
