"""Long straight lines in pieces: the same operations, the same bits."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.codegen.llvm.memory import ON_STACK
from kinetree.expr import Call, Instruction, Port, in_pieces, interpret, trace
from tests.random_programs import random_line, random_program


@pytest.mark.parametrize("seed", range(6))
def test_any_program_means_the_same(seed: int) -> None:
    random = Random(seed)
    program = random_program(random) if seed % 3 else random_line(random, 60)
    cut = in_pieces(program, long=6, piece=random.randint(1, 5))
    arguments = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(len(program.inputs), program.inputs[0].size))
    assert cut.operation_counts() == program.operation_counts()
    for a, b in zip(interpret(cut, *arguments), interpret(program, *arguments), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(batch_function(cut)(*arguments), batch_function(program)(*arguments))


def test_short_programs_stay_as_they_are() -> None:
    program = random_program(Random(3))
    assert in_pieces(program) is program


def test_no_piece_is_long_and_calls_share_their_memory() -> None:
    def mixed(x: list[float]) -> list[list[float]]:
        for _ in range(60):
            x = [0.3 * a * b + 0.3 * c for a, b, c in zip(x, [x[-1], *x], [*x[1:], x[0]], strict=False)]
        return [x]

    program = trace(mixed, [Port("x", (40,))], [Port("y", (40,))])
    statements = len(program.body.statements)
    cut = in_pieces(program, long=1000, piece=200)
    calls = [s.program for s in cut.body.statements if isinstance(s, Call)]
    assert len(calls) == statements // 200
    assert all(len(p.body.statements) == 200 and p.is_straight for p in calls)
    assert not any(isinstance(s, Instruction) for s in cut.body.statements)
    assert sum(p.input_size + p.output_size for p in calls) * 8 * 8 > ON_STACK
    x = np.random.default_rng(0).uniform(-0.5, 0.5, size=(5, 40))
    np.testing.assert_array_equal(batch_function(cut)(x), batch_function(program)(x))


def test_results_of_a_piece_are_used_after_other_pieces() -> None:
    def mixed(x: list[float]) -> list[list[float]]:
        first = [a * b for a, b in zip(x, [*x[1:], x[0]], strict=True)]
        y = first
        for _ in range(60):
            y = [0.3 * a * b + 0.3 * c for a, b, c in zip(y, [y[-1], *y], [*y[1:], y[0]], strict=False)]
        return [[a + b for a, b in zip(first, y, strict=True)]]

    program = trace(mixed, [Port("x", (40,))], [Port("y", (40,))])
    cut = in_pieces(program, long=1000, piece=200)
    x = np.random.default_rng(0).uniform(-0.5, 0.5, size=(5, 40))
    np.testing.assert_array_equal(batch_function(cut)(x), batch_function(program)(x))


def test_a_constant_is_not_a_value_with_its_name() -> None:
    """The last line multiplies by 5.0, and no later piece uses the value 5."""
    program = trace(lambda x: [[5.0 * (x[0] * x[1] / x[0] / x[1] / x[0])]], [Port("x", (2,))], [Port("y", ())])
    calls = [s for s in in_pieces(program, long=1, piece=2).body.statements if isinstance(s, Call)]
    assert [len(call.defines) for call in calls] == [1] * len(calls)
