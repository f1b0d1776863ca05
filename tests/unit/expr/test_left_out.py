"""Steps that are left out where they change nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kinetree.codegen.cpu.jit import assemble
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.precision import F32, F64
from kinetree.codegen.llvm.target import Target, host
from kinetree.expr import (
    Grid,
    Port,
    Program,
    Recorder,
    forward_derivative,
    in_pieces,
    interpret,
    less,
    otherwise,
    repeat,
    reverse_derivative,
    select,
    trace,
    trace_memory,
    unless,
)

X, Y = Port("x", (2,)), Port("y", (4,))


def spring(x: Sequence[Any]) -> list[Any]:
    """Two functions of where a wall is pressed, x₀ < 0, and a sum over a loop that leaves its step out as well."""
    idle = less(0.0, x[0])
    force, energy, constant = otherwise(idle, [0.0, 0.0, 7.0], lambda: [-x[0] * x[1], 0.5 * x[0] * x[0] * x[1], 7.0])
    pressed = select(idle, 0.0, x[0])
    (moved,) = unless(idle, [x[1]], lambda state: [state[0] + pressed * pressed])

    def step(state: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        (total,) = unless(idle, [state[0]], lambda now: [now[0] + pressed])
        return [total], less(total, -3.05)

    (total,) = repeat(6, [0.0 * x[1]], step)
    return [force, energy, moved, total + (constant - 7.0)]


def program_of() -> Program:
    def record(r: Recorder) -> None:
        for k, value in enumerate(spring([r.inputs[0][n] for n in range(2)])):
            r.outputs[0][k] = value

    return trace_memory(record, [X], [Y], "spring")


SAMPLES = np.column_stack([np.r_[np.linspace(-1.5, 1.5, 21), np.full(16, 2.0)], np.linspace(0.5, 9.0, 37)])


def test_floats_program_and_machine_code_are_one_function() -> None:
    program = program_of()
    assert str(program).count(" unless %") == 3
    wide = batch_function(program)(SAMPLES)
    np.testing.assert_allclose(np.column_stack(np.broadcast_arrays(*spring(list(SAMPLES.T)))), wide, rtol=1e-14)
    for x, y in zip(SAMPLES, wide, strict=True):
        np.testing.assert_allclose(spring(x.tolist()), y, rtol=1e-14)
        np.testing.assert_allclose(*interpret(program, x.tolist()), y, rtol=1e-14)
    np.testing.assert_array_equal(wide[:, 0] == 0.0, SAMPLES[:, 0] >= 0.0)


def test_a_sample_does_not_depend_on_its_neighbours() -> None:
    run = batch_function(program_of())
    wide = run(SAMPLES)
    for k in (0, 9, 11, 36):
        np.testing.assert_array_equal(run(SAMPLES[k : k + 1])[0], wide[k])
    np.testing.assert_array_equal(run(SAMPLES[::-1]), wide[::-1])
    narrow = replace(host(), vector_bits=128)
    np.testing.assert_array_equal(batch_function(program_of(), F64, narrow)(SAMPLES), wide)


def test_it_is_branched_over_where_all_lanes_are_idle() -> None:
    target = Target("x86_64-unknown-linux-gnu", "", "", 256, True)
    text = emit(program_of(), F64, target)
    assert text.count("_all, label") == 3
    assert "kernel:" in assemble(text, target)
    np.testing.assert_allclose(
        batch_function(program_of(), F32)(SAMPLES.astype(np.float32)), batch_function(program_of())(SAMPLES), rtol=1e-5
    )


def scattered(x: Sequence[Any], grid: Callable[..., Grid]) -> Sequence[Any]:
    """A loop that ends early, with numbers in scratch that exist only where x₀ is above a threshold."""
    kept, idle = grid(3, 1, clear=False, is_scratch=True), grid(3, 1, clear=False)
    for k in idle.rounds(0, 3):
        idle[k, 0] = less(x[0], idle.constant((-1.0, 0.0, 1.0), k))

    def keep(now: Any, k: Any, _: Sequence[Any]) -> list[Any]:
        kept[k, 0] = (now + x[1]) * kept.constant((1.0, 2.0, 3.0), k)
        return []

    def add(k: Any, sums: Sequence[Any]) -> Sequence[Any]:
        return unless(idle[k, 0], sums, lambda now: [now[0] + select(idle[k, 0], 0.0, kept[k, 0])])

    def step(state: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        for k in kept.rounds(0, 3):
            unless(idle[k, 0], [], partial(keep, state[0], k))
        (total,) = kept.fold(0, 3, [0.0 * x[1]], add)
        return [0.5 * state[0] + 0.01 * total], less(total, 20.0)

    return repeat(6, [x[1]], step)


def test_scratch_may_be_stored_into_where_it_makes_no_difference() -> None:
    def record(r: Recorder) -> None:
        given = [r.inputs[0][n] for n in range(2)]
        (r.outputs[0][0],) = scattered(given, partial(Grid, recorder=r))

    program = trace_memory(record, [X], [Port("y", (1,))], "scattered")
    run = batch_function(program)
    wide = run(SAMPLES)
    for k, (x, y) in enumerate(zip(SAMPLES, wide, strict=True)):
        np.testing.assert_allclose(scattered(x.tolist(), Grid), y, rtol=1e-14)
        np.testing.assert_allclose(*interpret(program, x.tolist()), y, rtol=1e-14)
        np.testing.assert_array_equal(run(SAMPLES[k : k + 1])[0], y)
    np.testing.assert_array_equal(run(SAMPLES[::-1]), wide[::-1])


def test_constants_stay_constants() -> None:
    def record(r: Recorder) -> None:
        x = r.inputs[0][0]
        r.outputs[0][0], r.outputs[0][1] = otherwise(less(0.0, x), [0.0, 2.0], lambda: [0.0, 2.0])

    assert "unless" not in str(trace_memory(record, [X], [Y], "f"))


def test_a_trace_without_memory_leaves_nothing_out() -> None:
    def function(x: Sequence[Any]) -> list[list[Any]]:
        (a,) = otherwise(less(0.0, x[0]), [1.0], lambda: [x[1]])
        return [[a, *unless(less(0.0, x[0]), [a], lambda now: [now[0] * select(less(0.0, x[0]), 1.0, 3.0)])]]

    program = trace(function, [X], [Port("y", (2,))], "f")
    assert program.is_straight
    assert interpret(program, [1.0, 5.0]) == ([1.0, 1.0],)
    assert interpret(program, [-1.0, 5.0]) == ([5.0, 15.0],)


def test_derivatives_agree_with_differences() -> None:
    def record(r: Recorder) -> None:
        values = spring([r.inputs[0][n] for n in range(2)])
        for k in range(3):
            r.outputs[0][k] = values[k]

    program = trace_memory(record, [X], [Port("y", (3,))], "f")
    forward, backward = forward_derivative(program), reverse_derivative(program)
    for x in ([-0.7, 3.0], [0.6, 3.0]):
        d = 1e-6
        columns = []
        for k in range(2):
            there, back = ([a + sign * d * (n == k) for n, a in enumerate(x)] for sign in (1.0, -1.0))
            columns.append((np.subtract(spring(there)[:3], spring(back)[:3])) / (2.0 * d))
            unit = [float(n == k) for n in range(2)]
            np.testing.assert_allclose(interpret(forward, x, unit)[1], columns[-1], atol=1e-8)
        for n in range(3):
            _, bar = interpret(backward, x, [float(k == n) for k in range(3)])
            np.testing.assert_allclose(bar, [column[n] for column in columns], atol=1e-8)


def test_what_is_left_out_is_left_out_of_reverse_derivatives_too() -> None:
    def record(r: Recorder) -> None:
        x = [r.inputs[0][n] for n in range(2)]
        r.outputs[0][0], r.outputs[0][1], _ = spring(x)[:3]
        kept, idle = Grid(1, 1, r, clear=False, is_scratch=True), less(0.0, x[0])
        unless(idle, [], lambda _: kept.__setitem__((0, 0), x[0] * x[1]) or [])
        (r.outputs[0][2],) = unless(idle, [x[1]], lambda now: [now[0] + select(idle, 0.0, kept[0, 0] * kept[0, 0])])

    backward = reverse_derivative(trace_memory(record, [X], [Y], "f"))
    assert str(backward).count(" unless %") == 6
    bars = [[0.0, 0.0, 1.0, 0.0]]
    assert interpret(backward, [0.7, 3.0], *bars)[1] == [0.0, 1.0]  # the scratch is not a number
    wide = batch_function(backward)(SAMPLES, np.tile(bars, (len(SAMPLES), 1)))[1]
    for x, found in zip(SAMPLES, wide, strict=True):
        np.testing.assert_allclose(interpret(backward, x.tolist(), *bars)[1], found, rtol=1e-14)
        np.testing.assert_array_equal(batch_function(backward)(x[None], np.array(bars))[1][0], found)


def test_in_pieces_it_is_the_same() -> None:
    program = program_of()
    cut = in_pieces(program, long=2, piece=2)
    for x in SAMPLES[::6].tolist():
        assert interpret(cut, x) == interpret(program, x)
