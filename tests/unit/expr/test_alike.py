"""Pieces that differ only in numbers become one: the same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.expr import (
    Call,
    Loop,
    Port,
    Program,
    Recorder,
    Scalar,
    in_pieces,
    interpret,
    select,
    trace_memory,
    unless,
)

STEPS = 12


def _left_out(numbers: Callable[[int], Sequence[float]]) -> Program:
    """Steps that are left out where x[0] is 1.0, each of which has numbers of its own."""

    def record(r: Recorder) -> None:
        idle, *y = (r.inputs[0][n] for n in range(3))
        for k in range(STEPS):
            y = list(unless(idle, y, partial(step, idle, numbers(k))))
        for n in range(2):
            r.outputs[0][n] = y[n]

    def step(idle: Scalar, numbers: Sequence[float], state: Sequence[Scalar]) -> list[Scalar]:
        y = list(state)
        for a, b in zip(numbers[::2], numbers[1::2], strict=True):
            y = [a * y[1] + y[0] * y[0], b * y[0] * y[1]]
        return [select(idle, old, new) for old, new in zip(state, y, strict=True)]

    return trace_memory(record, [Port("x", (3,))], [Port("y", (2,))], "steps")


def _called(program: Program) -> list[Program]:
    return [s.program for s in program.body.all_statements() if isinstance(s, Call)]


@pytest.mark.parametrize(
    ("numbers", "programs"),
    [
        (lambda _: [0.5, 0.25] * 20, 1),
        (lambda k: [0.5, 0.25 + k / 64] * 20, 1),
        (lambda k: [0.5 - k / 64, *([0.5] * 38), 0.25 + k / 64], 1),
        (lambda k: [-0.0 if k % 2 else 0.0, 0.5] * 20, 1),
        (lambda k: [0.5 + n * k / 640 for n in range(40)], 12),
        (lambda k: [0.5 + n * (k % 2) / 640 for n in range(40)], 2),
    ],
)
def test_steps_with_few_numbers_of_their_own_are_one_piece(
    numbers: Callable[[int], Sequence[float]], programs: int
) -> None:
    program = _left_out(numbers)
    cut = in_pieces(program, long=100)
    called = _called(cut)
    assert len(called) == STEPS == sum(isinstance(s, Loop) for s in cut.body.all_statements())
    assert len({id(p) for p in called}) == programs
    x = np.random.default_rng(0).uniform(-0.5, 0.5, size=(9, 3))
    x[:, 0] = [0, 1, 0, 0, 1, 1, 1, 1, 0]
    np.testing.assert_array_equal(batch_function(cut)(x), batch_function(program)(x))
    np.testing.assert_array_equal(interpret(cut, x[0])[0], interpret(program, x[0])[0])
    assert (batch_function(cut)(x)[1] == x[1, 1:]).all()
