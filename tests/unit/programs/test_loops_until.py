"""Loops of programs that end early: each sample by itself, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.programs.looping import assert_same


@kt.program(x=())
def root(x: Any) -> Any:
    def step(_: Any, state: Any) -> Any:
        y, steps = state
        return 0.5 * (y + x / y), steps + 1

    return kt.programs.fori(50, step, (1.0, 0), until=lambda state: abs(state[0] * state[0] - x) <= 1e-12 * x)


@kt.program(x=3)
def sum_until(x: Any) -> Any:
    def step(k: Any, total: Any) -> Any:
        return total + kt.programs.fori(3, lambda j, inner: inner + x[j], 1.0 * k)

    return kt.programs.fori(range(10, 20), step, 0.0, until=lambda total: total > 40.0)


@kt.program(x=3)
def once(x: Any) -> Any:
    return kt.programs.fori(5, lambda _, y: y + x, x, until=lambda _: True), kt.programs.fori(
        0, lambda _, y: 2 * y, x, until=np.all
    )


@pytest.mark.parametrize("x", [2.0, 1e6, 1e-3])
def test_it_ends_where_pythons_loop_breaks(x: float) -> None:
    assert_same(root, np.float64(x))
    assert abs(root(x)[0] ** 2 - x) <= 1e-12 * x


def test_other_loops_and_the_counter_inside() -> None:
    assert_same(sum_until, np.array([1.0, 2.0, 3.0]))
    assert sum_until([1.0, 2.0, 3.0]) == (6 + 10) + (6 + 11) + (6 + 12)
    assert_same(once, np.array([1.0, 2.0, 3.0]))


def test_samples_end_by_themselves() -> None:
    x = np.geomspace(1e-3, 1e9, 37)
    y, steps = root(x)
    assert len(set(steps)) > 10
    for k in range(len(x)):
        alone = root(x[k])
        assert (alone[0], alone[1]) == (y[k], steps[k])


def test_forward_derivatives_follow_the_iterations() -> None:
    value, tangent = kt.jvp(root, (2.0,), {"x": 1.0})
    assert tangent[0] == pytest.approx(0.5 / value[0], rel=1e-12)


@pytest.mark.parametrize(
    ("body", "until", "error", "message"),
    [
        (lambda _, y: y, lambda y: y > 0, kt.errors.ShapeError, "until returned an array of shape (3,)"),
        (lambda _, y: y, lambda y: y[0], kt.errors.ShapeError, "it is one truth value"),
        (
            lambda _, y: y,
            True,
            kt.errors.OptionError,
            "until is a function of the state that says whether to end, not True",
        ),
        (
            lambda _, y: kt.programs.scan(lambda s, r: (s + r, s), 0.0, y)[1],
            lambda y: y[0] > 0,
            kt.errors.ProgramError,
            "a loop with until= contains a loop whose results are in memory",
        ),
    ],
)
def test_what_it_refuses(body: Any, until: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        kt.program(lambda x: kt.programs.fori(3, body, x, until=until), x=3).traced()
    assert message in str(caught.value)
    if error is not kt.errors.ProgramError:
        with pytest.raises(error):
            kt.programs.fori(3, body, np.ones(3), until=until)


def test_derivatives_are_forward() -> None:
    @kt.program(x=())
    def grown(x: Any) -> Any:
        return kt.programs.fori(10, lambda _, y: 0.5 * y + x, x, until=lambda y: y > 1.0)

    assert kt.jacobian(grown, (0.6,), wrt="x") == 0.5 * 1.5 + 1.0  # two steps
    with pytest.raises(kt.errors.ProgramError, match=r"kt.jvp and kt.jacobian differentiate forward"):
        kt.vjp(grown, (0.6,), 1.0)
