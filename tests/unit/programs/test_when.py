"""Steps of programs that are left out where no sample needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt


@kt.program(x=3, limit=())
def halved(x: Any, limit: Any) -> Any:
    def step(state: dict[str, Any]) -> dict[str, Any]:
        return {"x": 0.5 * state["x"], "count": state["count"] + 1.0}

    return kt.programs.when(np.max(x) > limit, step, {"x": x, "count": 0.0})


def test_samples_that_need_it_take_it_and_others_do_not() -> None:
    x = np.random.default_rng(0).normal(size=(37, 3))
    found = halved(x, 1.0)
    needed = x.max(axis=1) > 1.0
    assert 0 < needed.sum() < 37
    assert np.array_equal(found["x"], np.where(needed[:, None], 0.5 * x, x))
    assert np.array_equal(found["count"], needed)
    for k in range(37):  # alone as in a batch, and as Python's own
        assert np.array_equal(halved(x[k], 1.0)["x"], found["x"][k])
        assert np.array_equal(halved.function(x[k], 1.0)["x"], found["x"][k])


def test_it_is_left_out_where_no_sample_needs_it() -> None:
    def loads(many: int) -> Any:
        def step(x: Any) -> Any:
            for _ in range(many):
                x = np.sin(x) + 0.1
            return x

        return kt.program(lambda x: kt.programs.when(x > 0.0, step, x), x=())

    statements = [str(type(s).__name__) for s in loads(3).traced().program.body.all_statements()]
    assert "Loop" in statements
    with np.errstate(all="raise"):  # it is not computed: a logarithm of nothing would say so
        rooted = kt.program(lambda x: kt.programs.when(x > 0.0, np.log, x), x=())
        assert np.array_equal(rooted(np.zeros(64)), np.zeros(64))


def test_its_derivatives_are_those_of_what_is_taken() -> None:
    program = kt.program(lambda x: kt.programs.when(x[0] > 0.0, lambda y: y * y, x), x=2)
    x = np.array([[2.0, 3.0], [-2.0, 3.0]])
    _, gradient = kt.vjp(program, (x,), np.ones((2, 2)))
    assert np.array_equal(gradient["x"], [[4.0, 6.0], [1.0, 1.0]])
    _, change = kt.jvp(program, (x,), {"x": np.ones((2, 2))})
    assert np.array_equal(change, [[4.0, 6.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (lambda x: kt.programs.when(x, lambda y: y, x), kt.errors.ShapeError, "the condition is an array of shape"),
        (lambda x: kt.programs.when(x[0] > 0, lambda y: y[:2], x), kt.errors.ShapeError, r"with shape \(2,\)"),
        (
            lambda x: kt.programs.when(x[0] > 0, lambda y: kt.programs.scan(lambda s, r: (s, r), 0.0, y)[1], x),
            kt.errors.ProgramError, "kt.programs.when: the step contains a loop whose results are in memory",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_named(body: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.program(body, x=3).traced()
