"""Programs joined to one do what they do one after another."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.expr import Joined, Place, Port, Program, interpret, trace
from tests.random_programs import N, random_line, random_program

PORTS = [Port("x", (N,)), Port("z", (N,))]


def chained(program: Program, after: Program) -> Program:
    """`program`, and `after` on its two results; the first results go out as well, in one port with the others."""
    joined = Joined("chained", PORTS, [Port("y", (4 * N,))])
    (y,) = joined.outputs
    between = [joined.array("a", N), joined.array("b", N)]
    joined.run(program, joined.inputs, between)
    joined.run(after, between, [y, y + N])
    for k, place in enumerate(between):
        joined.copy(place, y + (2 + k) * N, N)
    return joined.program()


@pytest.mark.parametrize("seed", range(8))
def test_one_after_another(seed: int) -> None:
    random = Random(seed)
    program, after = random_program(random), random_program(random)
    x, z = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(2, N))
    first = interpret(program, x, z)
    second = interpret(after, *first)
    (together,) = interpret(chained(program, after), x, z)
    np.testing.assert_array_equal(together, np.concatenate([*second, *first]))


@pytest.mark.parametrize("seed", range(8, 14))
def test_one_round_finds_nothing_that_another_has_left(seed: int) -> None:
    """A program with memory of its own, three times in a loop; its results lie a column each."""
    program = random_program(Random(seed))
    joined = Joined("rounds", [Port("x", (3 * N,)), Port("z", (N,))], [Port("y", (N, 3)), Port("w", (N,))])
    x, z = joined.inputs
    with joined.rounds(3) as k:
        w = joined.array("w", N)
        joined.run(program, [x + k * N, z], [Place(joined.outputs[0].array, k, 3), w])
        joined.copy(w, joined.outputs[1], N)
    xs, z_s = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(3, N)), np.linspace(-1.0, 1.0, N)
    alone = [interpret(program, row, z_s) for row in xs]
    whole = joined.program()
    together = interpret(whole, xs.reshape(-1), z_s)
    np.testing.assert_array_equal(np.reshape(together[0], (N, 3)), np.transpose([y for y, _ in alone]))
    np.testing.assert_array_equal(together[1], alone[-1][1])
    compiled = batch_function(whole)(xs.reshape(1, -1), z_s[None])
    scale = max(1.0, max(np.abs(part).max() for part in together))
    for found, meant in zip(compiled, together, strict=True):
        np.testing.assert_allclose(found.reshape(-1), meant, rtol=1e-12, atol=1e-12 * scale)


def test_a_straight_line_joins_too_and_constants_are_results() -> None:
    line = random_line(Random(1), 12)
    constants = trace(lambda _: [[2.0, 3.0]], [Port("x", (3,))], [Port("y", (2,))], "constants")
    joined = Joined("lines", [Port("x", (3,))], [Port("y", (4,))])
    joined.run(line, joined.inputs, joined.outputs)
    joined.run(constants, joined.inputs, [joined.outputs[0] + 2])
    x = [0.3, -0.2, 0.8]
    assert interpret(joined.program(), x)[0] == [*interpret(line, x)[0], 2.0, 3.0]


def test_equal_constants_are_kept_once_and_what_nobody_reads_not_at_all() -> None:
    program = random_program(Random(3))
    joined = Joined("twice", PORTS, [Port("y", (N,)), Port("w", (N,))])
    nothing = [joined.array("a", N), joined.array("b", N)]
    table = joined.array("table", 2, [1.0, 2.0])
    assert joined.array("table again", 2, [1.0, 2.0]) == table
    joined.run(program, joined.inputs, nothing)
    joined.run(program, joined.inputs, joined.outputs)
    made = joined.program()
    assert made.operation_counts() == program.operation_counts()
    assert len(made.arrays) == len(program.arrays)


def test_a_port_that_goes_beyond_its_array_is_refused() -> None:
    program = random_program(Random(3))
    joined = Joined("beyond", PORTS, [Port("y", (N,)), Port("w", (N,))])
    with pytest.raises(IndexError, match="x has 5 numbers, which go from 1 to 5 in 5"):
        joined.run(program, [joined.inputs[0] + 1, joined.inputs[1]], joined.outputs)
    with joined.rounds(2) as k, pytest.raises(IndexError, match="y has 5 numbers, which go from 0 to 5 in 5"):
        joined.run(program, joined.inputs, [joined.outputs[0] + k, joined.outputs[1]])


def test_loops_around_parts_are_not_nested() -> None:
    joined = Joined("nested", PORTS, [Port("y", (N,))])
    with joined.rounds(2), pytest.raises(ValueError, match="in one loop, not in one inside another"), joined.rounds(3):
        pass
