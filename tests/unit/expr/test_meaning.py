"""Floats, symbols, arrays and compiled code agree on what every operation means."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.expr import OPS, Port, functions, interpret, trace
from kinetree.expr.symbol import apply
from tests.strategies import law

BINARY = ["add", "sub", "mul", "div", "min", "max", "lt", "le", "eq", "atan2"]
UNARY = ["neg", "sqrt", "sin", "cos", "exp", "log", "tanh", "abs", "floor"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 3.7, -2.25, 1e-310, 1e300, math.inf, -math.inf, math.nan]
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
}


def on_anything(op: str) -> Callable[..., Any]:
    names = {"min": "minimum", "max": "maximum", "abs": "absolute", "lt": "less", "le": "less_equal", "eq": "equal"}
    return OPERATORS.get(op) or getattr(functions, names.get(op, op))


@pytest.mark.parametrize("op", BINARY + UNARY)
def test_compiled_code_does_what_the_table_says_for_special_values_too(op: str) -> None:
    arity = OPS[op].arity
    program = trace(lambda x: [[on_anything(op)(*x)]], [Port("x", (arity,))], [Port("y", ())])
    values = SPECIAL if arity == 1 else [(a, b) for a in SPECIAL for b in SPECIAL]
    x = np.array(values).reshape(-1, arity)
    with np.errstate(all="ignore"):
        y = batch_function(program)(x)
    expected = [interpret(program, row)[0][0] for row in x.tolist()]
    np.testing.assert_allclose(y, expected, rtol=1e-15, atol=0.0)


@pytest.mark.parametrize("op", BINARY + UNARY)
def test_arrays_taken_elementwise_mean_the_same(op: str) -> None:
    arity = OPS[op].arity
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 2.0, size=(arity, 5))
    y = on_anything(op)(*x)
    expected = [OPS[op].evaluate(*(float(a[k]) for a in x)) for k in range(5)]
    np.testing.assert_allclose(y, expected, rtol=1e-15)


def test_select_takes_the_first_arm_where_the_condition_holds() -> None:
    program = trace(
        lambda x: [[functions.select(functions.less(x[0], 1.0), x[1], x[2])]], [Port("x", (3,))], [Port("y", ())]
    )
    kernel = batch_function(program)
    assert kernel(np.array([[0.0, 5.0, 7.0], [1.0, 5.0, 7.0]])).tolist() == [5.0, 7.0]
    assert interpret(program, [0.0, 5.0, 7.0]) == ([5.0],)


def test_a_multiply_add_rounds_once() -> None:
    a = 1.0 + 2.0**-30
    assert OPS["fma"].evaluate(a, a, -1.0) == 2.0**-29 + 2.0**-60
    assert OPS["fma"].evaluate(1e200, 1e200, 1.0) == math.inf
    assert math.isnan(OPS["fma"].evaluate(math.inf, 0.0, 1.0))


@st.composite
def expressions(draw: st.DrawFn) -> tuple[list[tuple[str, tuple[int, ...]]], list[float]]:
    """Operations on earlier values, and four inputs."""
    steps = []
    for k in range(draw(st.integers(1, 25))):
        op = draw(st.sampled_from(["add", "sub", "mul", "neg", "sin", "cos", "tanh", "min", "max", "lt", "select"]))
        steps.append((op, tuple(draw(st.integers(0, 3 + k)) for _ in range(OPS[op].arity))))
    return steps, draw(st.lists(st.floats(-2.0, 2.0), min_size=4, max_size=4))


def run(steps: list[tuple[str, tuple[int, ...]]], x: Any) -> list[Any]:
    values = list(x)
    for op, args in steps:
        chosen = [values[a] for a in args]
        values.append(OPERATORS[op](*chosen) if op in OPERATORS else apply(op, *chosen))
    return values[4:]


@law(80)
@given(expressions())
def test_any_expression_means_the_same_in_floats_interpreted_and_compiled(
    case: tuple[list[tuple[str, tuple[int, ...]]], list[float]],
) -> None:
    steps, x = case
    # A comparison of values that differ by rounding may fall either way; such cases show nothing.
    expected = run(steps, x)
    nudged = run(steps, [v * (1 + 1e-13) + 1e-14 for v in x])
    if not np.allclose(expected, nudged, rtol=1e-9, atol=1e-9):
        return
    program = trace(lambda s: [run(steps, s)], [Port("x", (4,))], [Port("y", (len(steps),))])
    (interpreted,) = interpret(program, x)
    compiled = batch_function(program)(np.array(x))
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(interpreted, expected, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(compiled, interpreted, rtol=1e-12, atol=1e-12 * scale)


def test_interpret_refuses_what_does_not_fit() -> None:
    program = trace(lambda x: [[x[0]]], [Port("x", (2,))], [Port("y", ())], name="f")
    with pytest.raises(TypeError, match="f takes 1 arguments, not 2"):
        interpret(program, [1.0, 2.0], [3.0])
    with pytest.raises(ValueError, match="x needs 2 numbers, not 1"):
        interpret(program, [1.0])
