"""Programs with memory: what is recorded, what is left of it, and that compiled code does what it means."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from random import Random
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
from kinetree.expr import (
    Call,
    Graph,
    Index,
    Instruction,
    Load,
    Loop,
    Port,
    Program,
    Range,
    Recorder,
    Store,
    Switch,
    Term,
    Walk,
    interpret,
    sin,
    trace,
    trace_memory,
)
from tests.random_programs import random_program

X, Y = Port("x", (6,)), Port("y", (6,))
ALL = Range(Index(0), Index(6))
SAMPLE = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
DOUBLE = trace(lambda a: [[2.0 * a[0]]], [Port("a", (1,))], [Port("b", (1,))], "double")
COUNTER = Index(0, (Term(0),))
TWO_BLOCKS = "two traces, or of two blocks, do not mix"


def program_of(record: Callable[[Recorder], None]) -> Program:
    return trace_memory(record, [X], [Y], "f")


def result(record: Callable[[Recorder], None]) -> list[float]:
    (y,) = interpret(program_of(record), SAMPLE)
    return y


def statements(program: Program) -> list[type]:
    return [type(s) for s in program.body.statements]


# -- loops, folds, choices and calls


def test_a_loop_runs_over_its_range_in_either_direction_and_by_steps() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,) = r.inputs, r.outputs
        for over in (Range(Index(0), Index(6), 2), Range(Index(5), Index(1), -2), Range(Index(4), Index(4))):
            with r.loop(over) as k:
                y[k] = y[k] * 10.0 + x[k]

    assert result(record) == [1.0, 0.0, 3.0, 4.0, 5.0, 6.0]


def test_an_inner_loop_may_begin_and_end_where_the_outer_one_stands() -> None:
    def record(r: Recorder) -> None:
        with r.loop(ALL) as i, r.loop(Range(i + 1, 6 - i)) as k:
            r.outputs[0][k] = r.outputs[0][k] + 1.0

    assert result(record) == [0.0, 1.0, 2.0, 3.0, 2.0, 1.0]


def test_a_walk_goes_on_by_its_table_and_ends_before_zero() -> None:
    def record(r: Recorder) -> None:
        with r.loop(Walk(Index(5), r.table([0, 0, 1, 0, 2, 4]))) as k:
            r.outputs[0][k] = r.inputs[0][k]
        with r.loop(Walk(Index(0), r.table([0, 0, 1, 0, 2, 4]))) as k:
            r.outputs[0][k] = 100.0

    assert result(record) == [0.0, 2.0, 3.0, 0.0, 5.0, 6.0]


def test_a_fold_carries_values_and_without_rounds_gives_the_first_ones() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,) = r.inputs, r.outputs
        y[0], y[1] = r.fold(ALL, [0.0, 1.0], lambda k, s: [s[0] + x[k], s[1] * x[k]])
        y[2], y[3] = r.fold(Range(Index(3), Index(3)), [x[0], 7.0], lambda _, s: [s[1], s[0]])
        y[4], y[5] = r.fold(Range(Index(0), Index(3)), [x[0], 7.0], lambda _, s: [s[1], s[0]])

    assert result(record) == [21.0, 720.0, 1.0, 7.0, 7.0, 1.0]


def test_whole_numbers_are_values_and_not_the_numbers_of_values() -> None:
    def record(r: Recorder) -> None:
        y = r.outputs[0]
        y[0], y[1] = r.fold(ALL, [1, np.int64(2)], lambda _, s: [s[0] + 1, 5])
        (y[2],) = r.call(DOUBLE, 3)

    assert result(record) == [7.0, 5.0, 6.0, 0.0, 0.0, 0.0]


def test_a_step_must_give_as_many_values_as_it_got() -> None:
    with pytest.raises(ValueError, match="2 values are carried, but the step returned 1"):
        program_of(lambda r: [r.fold(ALL, [0.0, 0.0], lambda _, s: s[:1])])


def test_a_switch_takes_one_case_a_round() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,) = r.inputs, r.outputs
        with r.loop(ALL) as k, r.switch(r.look_up([0, 1, 1, 2, 0, 2], k)) as case:
            with case():
                y[k] = x[k]
            with case():
                y[k] = -x[k]
            with case():
                y[0] = y[0] + x[k]

    assert result(record) == [1.0 + 4.0 + 6.0, -2.0, -3.0, 0.0, 5.0, 0.0]


def test_a_switch_without_cases_is_refused() -> None:
    def record(r: Recorder) -> None:
        with r.switch(Index(0)):
            pass

    with pytest.raises(ValueError, match="at least one case"):
        program_of(record)


def test_a_call_takes_as_many_numbers_as_the_program_and_is_dropped_if_nobody_needs_it() -> None:
    def record(r: Recorder) -> None:
        (r.outputs[0][0],) = r.call(DOUBLE, r.inputs[0][2])
        r.call(DOUBLE, r.inputs[0][1])

    program = program_of(record)
    assert statements(program) == [Load, Call, Store]
    assert interpret(program, SAMPLE)[0][0] == 6.0
    with pytest.raises(ValueError, match="double takes 1 numbers, not 2"):
        program_of(lambda r: [r.call(DOUBLE, 1.0, 2.0)])


# -- memory


@pytest.mark.parametrize(("clear", "at_first"), [(False, np.nan), (True, 0.0)])
def test_memory_that_was_never_written_means_no_number_unless_it_is_cleared(clear: bool, at_first: float) -> None:
    """Backends may leave anything there, so what a program means must not let it pass for a zero."""

    def record(recorder: Recorder) -> None:
        (x,), (y,) = recorder.inputs, recorder.outputs
        work = recorder.array("work", 2, clear=clear)
        work[0] = x[0]
        y[0] = work[0]
        y[1] = work[1]

    program = trace_memory(record, [Port("x", ())], [Port("y", (2,))], "half written")
    np.testing.assert_array_equal(interpret(program, [3.0]), [[3.0, at_first]])


def test_loads_and_stores_keep_their_order() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,), a = r.inputs, r.outputs, r.array("a", 1)
        a[0] = x[0]
        before = a[0]
        a[0] = x[1]
        between = a[0] + before
        with r.loop(ALL):
            a[0] = a[0] * 2.0
        y[0], y[1], y[2] = before, between, a[0]

    assert result(record)[:3] == [1.0, 3.0, 2.0 * 64]


def test_what_memory_held_before_a_loop_is_not_what_it_holds_in_the_next_round() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,), a = r.inputs, r.outputs, r.array("a", 1)
        a[0] = 0.0
        before = a[0]
        with r.loop(ALL) as k:
            y[k] = a[0] - before
            a[0] = a[0] + x[k]

    assert result(record) == [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]


def test_what_does_not_depend_on_the_round_is_computed_once() -> None:
    def record(r: Recorder) -> None:
        angle = r.inputs[0][0]
        with r.loop(ALL) as k:
            r.outputs[0][k] = sin(angle) * r.inputs[0][k]

    program = program_of(record)
    assert statements(program) == [Load, Instruction, Loop]
    assert program.operation_counts()["sin"] == 1
    assert interpret(program, SAMPLE)[0] == pytest.approx([np.sin(1.0) * x for x in SAMPLE])


def test_values_of_every_block_around_are_seen_inside() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,) = r.inputs, r.outputs
        a = x[0] + 1.0
        with r.loop(Range(Index(1), Index(3))) as i:
            b = a * x[i]
            with r.switch(Index(1)) as case:
                with case():
                    y[5] = 1e9
                with case(), r.loop(Range(Index(3), Index(5))) as k:
                    (total,) = r.fold(ALL, [b], lambda _, s: [s[0] + a])
                    y[k] = y[k] + total * x[k]

    assert result(record) == [0.0, 0.0, 0.0, (16.0 + 18.0) * 4.0, (16.0 + 18.0) * 5.0, 0.0]


def test_stores_nobody_reads_and_loops_around_them_are_dropped() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,), a = r.inputs, r.outputs, r.array("a", 6)
        b, c = r.array("b", 6), r.array("c", 1, clear=True)
        with r.loop(ALL) as k:
            a[k] = sin(x[k])
            with r.loop(ALL) as i:
                b[i] = a[k]
        c[0] = c[0] + x[0]
        r.fold(ALL, [0.0], lambda _, s: [s[0] + 1.0])
        y[0] = x[1]

    program = program_of(record)
    assert statements(program) == [Load, Store]
    assert program.arrays == ()
    assert interpret(program, SAMPLE)[0] == [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_an_array_that_is_needed_only_by_way_of_others_is_kept() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,) = r.inputs, r.outputs
        a, b = r.array("a", 6), r.array("b", 6)
        with r.loop(ALL) as k:
            a[k] = 2.0 * x[k]
        with r.loop(ALL) as k:
            (b[k],) = r.fold(Range(Index(0), k + 1), [0.0], lambda i, s: [s[0] + a[i]])
        y[0] = b[5]

    program = program_of(record)
    assert [array.name for array in program.arrays] == ["a", "b"]
    assert interpret(program, SAMPLE)[0][0] == 42.0


def test_a_loop_that_stores_and_whose_results_are_used_does_both() -> None:
    def record(r: Recorder) -> None:
        (x,), (y,) = r.inputs, r.outputs

        def step(k: Index, s: Sequence[Any]) -> list[Any]:
            y[k] = s[0]
            return [s[0] + x[k]]

        (y[5],) = r.fold(Range(Index(0), Index(5)), [0.0], step)

    assert result(record) == [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]


def test_an_output_can_be_read_back_and_what_is_left_out_is_zero() -> None:
    def record(r: Recorder) -> None:
        r.outputs[0][1] = r.inputs[0][0]
        r.outputs[0][2] = r.outputs[0][1] + r.outputs[0][3]

    program = program_of(record)
    assert interpret(program, SAMPLE)[0] == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    batch = np.arange(54.0).reshape(9, 6)
    np.testing.assert_array_equal(batch_function(program)(batch)[:, 2], batch[:, 0])


def test_tables_of_constants_are_read_and_not_changed() -> None:
    def record(r: Recorder) -> None:
        table = r.array("table", 6, [1.0, 0.0, 2.0, 0.0, 0.5, -1.0])
        with r.loop(ALL) as k:
            r.outputs[0][k] = table[k] * r.inputs[0][k]
        r.outputs[0][1] = table[4] * r.inputs[0][1]
        with pytest.raises(ValueError, match="cannot be changed"):
            table[0] = 1.0
        with pytest.raises(IndexError, match="place 6 of an array of 6"):
            table[6]

    assert result(record) == [1.0, 1.0, 6.0, 0.0, 2.5, -6.0]
    assert program_of(record).operation_counts()["mul"] == 7
    with pytest.raises(ValueError, match="2 places, but 3 values"):
        program_of(lambda r: [r.array("t", 2, [1.0, 2.0, 3.0])])


def test_places_outside_an_array_are_refused() -> None:
    for at in (-1, 6):
        with pytest.raises(IndexError, match=f"place {at} of an array of 6"):
            program_of(lambda r, at=at: r.inputs[0][at])
        with pytest.raises(IndexError, match=f"place {at} of an array of 6"):
            program_of(lambda r, at=at: r.outputs[0].__setitem__(at, 1.0))


# -- looking up


def test_numbers_that_rise_evenly_need_no_table() -> None:
    r = Recorder([X], [Y])
    with r.loop(ALL) as k:
        assert r.look_up([3, 5, 7, 9, 11, 13], k) == k * 2 + 3
        assert r.look_up([99, 1, 2, 3, 4, 5], k, 1) == k
        assert r.look_up([3, 5, 7], r.look_up([1, 1, 1, 1, 1, 1], k)) == Index(5)
        assert r.look_up([4, 4, 4, 4, 4, 4], k) == Index(4)
        assert r.tables == []
        first = r.look_up([0, 0, 1, 0, 1, 3], k)
        assert r.look_up([0, 0, 1, 0, 1, 3], k) == first
        assert [first.at((n,), r.tables) for n in range(6)] == [0, 0, 1, 0, 1, 3]
        assert r.tables == [(0, 0, 1, 0, 1, 3)]


def test_what_is_looked_up_can_be_looked_up_again() -> None:
    r = Recorder([X], [Y])
    with r.loop(ALL) as k:
        squares = [0, 1, 4, 9, 16, 25]
        for first in (k + 1, k * 2, r.look_up([3, 5, 0, 2, 1, 4], k)):
            found = r.look_up(squares, first)
            places = [first.at((n,), r.tables) for n in range(6)]
            for n, place in enumerate(places):
                if place < 6:
                    assert found.at((n,), r.tables) == squares[place]
        with r.loop(ALL) as n, pytest.raises(ValueError, match="at the counter of one loop"):
            r.look_up(squares, k + n)


def test_indices_add_up_and_multiply() -> None:
    i, k = Index(0, (Term(0),)), Index(0, (Term(1, 1, 0),))
    index = (i * 6 + k + 2) * 3 - i
    assert index.at((2, 1), [(0, 7)]) == (2 * 6 + 7 + 2) * 3 - 2
    assert (i - i) == Index(0)
    assert (5 - i).at((2,), []) == 3


# -- blocks


def test_recording_outside_goes_before_the_outermost_loop() -> None:
    def record(r: Recorder) -> None:
        a = r.array("a", 6)
        with r.loop(ALL) as i, r.loop(Range(i, Index(6))) as k:
            if not r.root.effects:
                with r.outside(), r.loop(ALL) as n:
                    a[n] = r.inputs[0][n]
            r.outputs[0][i] = r.outputs[0][i] + a[k]

    program = program_of(record)
    assert statements(program) == [Loop, Loop]
    assert interpret(program, SAMPLE)[0] == [21.0, 20.0, 18.0, 15.0, 11.0, 6.0]


def of_a_loop(r: Recorder) -> Any:
    """A symbol of a block that is over."""
    with r.loop(ALL) as k:
        return 2.0 * r.inputs[0][k]


@pytest.mark.parametrize(
    "use",
    [
        lambda r, x: r.outputs[0].__setitem__(0, x),
        lambda r, x: r.fold(ALL, [x], lambda _, s: s),
        lambda r, _: r.fold(ALL, [1.0], lambda *_: [of_a_loop(r)]),
        lambda r, x: r.call(DOUBLE, x),
        lambda r, x: r.outputs[0].__setitem__(0, r.inputs[0][0] + x),
        lambda r, _: r.outputs[0].__setitem__(0, Graph().input()),
    ],
    ids=["store", "fold", "step", "call", "sum", "other trace"],
)
def test_a_symbol_of_an_inner_block_is_refused_outside(use: Callable[[Recorder, Any], None]) -> None:
    with pytest.raises(ValueError, match=TWO_BLOCKS):
        program_of(lambda r: use(r, of_a_loop(r)))


@pytest.mark.parametrize(
    "use",
    [
        lambda r, k: r.inputs[0][k],
        lambda r, k: r.outputs[0].__setitem__(k, 1.0),
        lambda r, k: r.loop(Range(Index(0), k)).__enter__(),
        lambda r, k: r.fold(Walk(k, r.table([0])), [], lambda *_: []),
        lambda r, k: r.switch(k).__enter__(),
    ],
    ids=["load", "store", "bound", "walk", "switch"],
)
def test_a_counter_is_refused_outside_its_loop(use: Callable[[Recorder, Index], None]) -> None:
    def record(r: Recorder) -> None:
        with r.loop(ALL) as k:
            pass
        use(r, k)

    with pytest.raises(ValueError, match="outside of it"):
        program_of(record)


def test_the_block_around_goes_on_after_an_error_inside() -> None:
    r = Recorder([X], [Y])
    with pytest.raises(KeyError), r.loop(ALL):
        raise KeyError
    assert r.graph is r.root
    with r.loop(ALL) as k:
        assert k == COUNTER


# -- compiled


class Owner:
    """What a builtin belongs to."""


def single(program: Program) -> Callable[..., Any]:
    """The kernel of one lane."""

    def general(*_: Any, **__: Any) -> None:
        raise AssertionError("ordinary arrays are taken as they are")

    code = MachineCode(compile_module(emit_single(program, F64, host())))
    function = make_builtin(code, "f", "", Owner(), general, program.inputs, F64)
    assert function is not None
    return function


def narrow() -> Target:
    return dataclasses.replace(host(), vector_bits=128)


@pytest.mark.parametrize("seed", range(14))
def test_compiled_random_programs_do_what_they_mean_in_any_number_of_lanes(seed: int) -> None:
    random = Random(seed)
    program = random_program(random)
    batch = np.array([[random.uniform(-1.2, 1.2) for _ in range(10)] for _ in range(9)]).reshape(9, 2, 5)
    x, z = batch[:, 0].copy(), batch[:, 1].copy()
    wide = np.hstack(batch_function(program)(x, z))
    for k in range(9):
        meant = np.concatenate(interpret(program, x[k], z[k]))
        np.testing.assert_allclose(wide[k], meant, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(meant).max()))
    np.testing.assert_array_equal(np.hstack(batch_function(program, F64, narrow())(x, z)), wide)
    if layout_is_known():
        one = single(program)
        np.testing.assert_array_equal([np.concatenate(one(x[k], z[k])) for k in range(9)], wide)


@pytest.mark.parametrize("seed", range(30, 36))
def test_random_programs_in_float32_are_float64_to_rounding(seed: int) -> None:
    program = random_program(Random(seed))
    x, z = np.random.default_rng(seed).uniform(-1.2, 1.2, size=(2, 19, 5)).astype(np.float32)
    wide, double = np.hstack(batch_function(program, F32)(x, z)), np.hstack(batch_function(program)(x, z))
    assert wide.dtype == np.float32
    np.testing.assert_allclose(wide, double, rtol=0, atol=1e-3 * max(1.0, np.abs(double).max()))


def test_code_with_loops_is_made_for_aarch64_anywhere() -> None:
    target = Target("aarch64-unknown-linux-gnu", "", "", 128, True)
    for seed in (1, 2):
        program = random_program(Random(seed))
        assert any(isinstance(s, Loop | Switch) for s in program.body.statements)
        assert "kernel:" in assemble(emit(program, F64, target), target)
        assert "call:" in assemble(emit_single(program, F64, target), target)
