"""Random rows of arrays: indices made of counters, slices of results as rows, joins as results, as on plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import forward_derivative, interpret, reverse_derivative
from kinetree.programs import loop_recording
from kinetree.symbolic import stored
from tests.unit.programs.looping import assert_differentiable, assert_same

ROWS = 12


INDICES: list[Callable[[Any, Any], Any]] = [
    lambda i, j: i,
    lambda i, j: -j - 1,
    lambda i, j: i + 2 * j,
    lambda i, j: 11 - i - j,
    lambda i, j: (5 * i + 3) % ROWS,
    lambda i, j: (j - 1) % 4 + 1,
    lambda i, j: np.where(j == 1, 3, j),
    lambda i, j: i // 2 - 1,
    lambda i, j: np.minimum(i, 2) + j,
    lambda i, j: i - i + 4 + j * 0,
]
"""Whole numbers made of counters up to 4 and 2, for arrays of 12 rows."""

PARTS: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x[::-1],
    lambda x: np.concatenate([x[3:], x[:3]]),
    lambda x: np.concatenate([x[:1] * 2.0, x[1:]]),
    lambda x: np.roll(x, 2, axis=1),
    lambda x: np.stack([x[:, 1], x[:, 0], np.zeros(ROWS)], axis=1),
    lambda x: np.concatenate([x[:6], np.ones((6, 3))]),
    lambda x: np.repeat(x[4:5], ROWS, axis=0),
    lambda x: x[[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]],
]
"""As many rows, moved, reversed, joined or computed."""


def written_by(seed: int) -> kt.programs.Program:
    """A program that goes through rows, and through rows of what it collected, nested."""
    random = Random(seed)
    p = random.choices(PARTS, k=6)
    first, second = random.choices(INDICES, k=2)
    which = random.randrange(4)

    @kt.program(x=(ROWS, 3), y=(ROWS, 3))
    def rows(x: Any, y: Any) -> Any:
        given = p[0](x)

        def step(s: Any, row: Any) -> Any:
            a, b = row
            return 0.5 * s + a * b, (s, b - a)

        end, (states, differences) = kt.programs.scan(step, y[0], (given, p[1](y)))
        states = p[2](states)

        def inner(i: Any, s: Any) -> Any:
            def body(j: Any, t: Any) -> Any:
                source = (x, given, states, differences)[which]
                return t + source[first(i, j)] * 0.3 - states[second(i, j), 1] * (i - 0.5 * j)

            return kt.programs.fori(3, body, s)

        last = kt.programs.fori(5, inner, end)
        large = kt.programs.fori(2, lambda k, s: p[3](s) + x[k] * 0.1, np.concatenate([states[:6], y[6:]]))
        moved = kt.programs.fori(3, lambda k, s: (p[4](s[1]), s[0]), (differences, np.concatenate([y[2:], x[:2]])))
        return last, p[5](states), np.concatenate([differences, x]), large, moved

    return rows


@pytest.mark.parametrize("seed", range(16))
def test_rows_are_those_of_plain_arrays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, ROWS, 3))
    program = written_by(seed)
    assert_same(program, x, y)
    assert_differentiable(program, x, y)


@pytest.mark.parametrize("seed", range(16, 32))
def test_rows_that_loops_copy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All states in memory, and copied by loops wherever that can be."""
    monkeypatch.setattr(stored, "_FEW", 4)
    monkeypatch.setattr(stored, "_FEWEST_ROWS", 2)
    monkeypatch.setattr(loop_recording, "_MOST_IN_REGISTERS", 0)
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, ROWS, 3))
    program = written_by(seed)
    assert_same(program, x, y)
    assert_differentiable(program, x, y)


def test_second_derivatives() -> None:
    program = written_by(2).traced().program
    rng = np.random.default_rng(2)
    x, y, d, e = rng.normal(size=(4, ROWS * 3))
    weights = rng.normal(size=program.output_size)
    gradient = reverse_derivative(program, [0, 1])
    hessian = forward_derivative(gradient, [0, 1])
    products = interpret(hessian, x, y, weights, d, e)[len(gradient.outputs) + 1 :]
    step = 1e-5
    after = interpret(gradient, x + step * d, y + step * e, weights)[1:]
    before = interpret(gradient, x - step * d, y - step * e, weights)[1:]
    for product, a, b in zip(products, after, before, strict=True):
        np.testing.assert_allclose(product, (np.array(a) - np.array(b)) / (2.0 * step), rtol=1e-6, atol=1e-6)


def test_arrays_without_elements() -> None:
    @kt.program(x=3)
    def empty(x: Any) -> Any:
        end, (a, b) = kt.programs.scan(
            lambda s, r: (s, (s, r[1] * 2.0)), np.zeros((0, 2)), (np.zeros((4, 0)), np.ones(4) * x[0])
        )
        return (
            end,
            a,
            b,
            kt.programs.fori(2, lambda k, s: s, ()),
            kt.programs.fori(2, lambda k, s: (s[0], s[1] + x[k]), (end, 0)),
        )

    assert_same(empty, np.arange(3.0))
