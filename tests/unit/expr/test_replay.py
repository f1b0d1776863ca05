"""A program run again: on floats, on arrays of samples, on complex numbers, and inside another trace."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from kinetree.expr import OPS, Index, Port, Program, Range, Recorder, forward_derivative, interpret, trace, trace_memory
from kinetree.expr.program import Instruction
from kinetree.expr.replay import _MEANING, replay
from kinetree.expr.symbol import Scalar
from tests.random_programs import random_line
from tests.strategies import law

PROGRAMS = st.integers(0, 10**9).map(lambda seed: random_line(Random(seed), 30))


def inputs_of(program: Program, count: int = 1) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.uniform(-2.0, 2.0, (count, port.size)) for port in program.inputs]


def meant(program: Program, inputs: list[np.ndarray], k: int = 0) -> np.ndarray:
    return np.concatenate([np.ravel(x) for x in interpret(program, *(x[k].tolist() for x in inputs))])


def same(actual: ArrayLike, expected: np.ndarray) -> None:
    """But for the rounding of products that a fused multiply-add leaves out."""
    size = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=1e-12 * size)


def test_every_operation_has_a_meaning() -> None:
    assert set(_MEANING) == set(OPS)


@pytest.mark.parametrize("name", sorted(OPS))
def test_each_operation_means_what_the_table_says_also_of_equal_arguments(name: str) -> None:
    for arguments in product((-1.5, 0.0, 0.5, 2.0), repeat=OPS[name].arity):
        expected = OPS[name].evaluate(*arguments)
        if math.isfinite(expected):  # else Python's own division raises
            assert _MEANING[name](*arguments) == pytest.approx(expected, rel=1e-15, abs=0.0)


@law(80)
@given(program=PROGRAMS)
def test_on_floats_it_is_what_the_program_means(program: Program) -> None:
    inputs = inputs_of(program)
    outputs = replay(program, *(x[0].tolist() for x in inputs))
    assert [len(x) for x in outputs] == [port.size for port in program.outputs]
    same([x for output in outputs for x in output], meant(program, inputs))


@law(80)
@given(program=PROGRAMS)
def test_on_arrays_every_sample_is_run(program: Program) -> None:
    inputs = inputs_of(program, 3)
    outputs = [x for output in replay(program, *(list(x.T) for x in inputs)) for x in output]
    found = np.array([np.broadcast_to(x, 3) for x in outputs]).T
    for k in range(3):
        same(found[k], meant(program, inputs, k))


@law(80)
@given(program=PROGRAMS)
def test_in_another_trace_it_computes_the_same(program: Program) -> None:
    """Signs may be put elsewhere, so sums are not counted; no function is evaluated twice."""
    again = trace(lambda *x: replay(program, *x), program.inputs, program.outputs, "again")
    inputs = inputs_of(program)
    same(meant(again, inputs), meant(program, inputs))
    before, after = program.operation_counts(), again.operation_counts()
    for op in ("sin", "cos", "tanh", "exp", "log", "sqrt", "div"):
        assert after[op] <= before[op]


def test_constants_that_go_in_fold() -> None:
    """x y + z for x = 0 and x = 1."""
    program = trace(lambda x, y: [[x[0] * y[0] + y[1]]], [Port("x", ()), Port("y", (2,))], [Port("z", ())], "sum")
    for x, count in ((0.0, 0), (1.0, 1), (2.0, 1)):
        folded = trace(lambda y, x=x: replay(program, [x], y), [program.inputs[1]], program.outputs, "folded")
        assert folded.operation_counts().total() == count
        assert interpret(folded, [3.0, 5.0]) == ([3.0 * x + 5.0],)


def test_a_derivative_can_be_run_inside_an_algorithm() -> None:
    program = trace(lambda x: [[x[0] * x[0] * x[1]]], [Port("x", (2,))], [Port("y", ())], "square")
    value, slope = replay(forward_derivative(program), [3.0, 5.0], [1.0, 0.0])
    assert (value, slope) == ([45.0], [30.0])


@given(program=PROGRAMS)
@law(40)
def test_as_recorded_a_program_records_again_what_it_was_recorded_from(program: Program) -> None:
    """So whatever runs it beside the function that it comes from shares every operation; fused sums are others."""
    ports = program.inputs, program.outputs

    def function(*x: list[Scalar]) -> list[list[Scalar]]:
        return replay(program, *x)

    kept, fused = (trace(function, *ports, "f", as_recorded=kept) for kept in (True, False))
    assert not {"fma", "fms", "fnma"} & set(kept.operation_counts())
    twice = [Port(f"{port.name} {k}", port.shape) for k in range(2) for port in program.outputs]
    both = trace(lambda *x: [*function(*x), *replay(kept, *x)], program.inputs, twice, "both")
    assert both.operation_counts() == fused.operation_counts()
    inputs = inputs_of(program)
    np.testing.assert_allclose(meant(kept, inputs), meant(fused, inputs), rtol=1e-9, atol=1e-9)


def test_what_is_constant_comes_out_without_an_instruction() -> None:
    program = trace(lambda x: [[2.5, x[0]]], [Port("x", ())], [Port("y", (2,))], "constant")
    assert not any(isinstance(s, Instruction) for s in program.body.statements)
    assert replay(program, [7.0]) == [[2.5, 7.0]]


def test_too_few_numbers_are_refused() -> None:
    program = trace(lambda x: [[x[0] + x[1]]], [Port("x", (2,))], [Port("y", ())], "sum")
    with pytest.raises(ValueError, match="sum takes 2 numbers, not 1"):
        replay(program, [1.0])


def test_loops_are_refused() -> None:
    def record(recorder: Recorder) -> None:
        (x,), (y,) = recorder.inputs, recorder.outputs
        with recorder.loop(Range(Index(0), Index(3))) as k:
            y[k] = 2.0 * x[k]

    program = trace_memory(record, [Port("x", (3,))], [Port("y", (3,))], "doubled")
    with pytest.raises((TypeError, AssertionError)):
        replay(program, [1.0, 2.0, 3.0])
