"""What vanishes while tracing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinetree.expr import Graph, Port, Program, Symbol, atan2, cos, less, maximum, select, sin, sqrt, trace


def inputs(count: int) -> list[Symbol]:
    graph = Graph()
    return [graph.input() for _ in range(count)]


def test_the_same_operation_is_one_symbol() -> None:
    x, y = inputs(2)
    assert x + y is y + x
    assert x * y is y * x
    assert sin(x) is sin(x)
    assert x - y is not y - x


def test_the_zeros_of_both_signs_are_one_constant() -> None:
    """Or which of them an operation has would depend on which was recorded first."""
    (x,) = inputs(1)
    for symbol in (maximum(x, -0.0), select(less(x, 1.0), -0.0, x), atan2(-0.0, x)):
        assert isinstance(symbol, Symbol)
        assert [math.copysign(1.0, a) for a in symbol.args if a == 0.0 and isinstance(a, float)] == [1.0]


def test_zeros_and_ones_vanish() -> None:
    (x,) = inputs(1)
    assert x + 0.0 is x
    assert x - 0.0 is x
    assert x * 1.0 is x
    assert x / 1.0 is x
    assert x * 0.0 == 0.0
    assert 0.0 / x == 0.0
    assert x - x == 0.0
    assert x / x == 1.0


def test_a_value_times_its_own_reciprocal_is_one() -> None:
    x, y = inputs(2)
    assert x * (1.0 / x) == 1.0
    assert (1.0 / x) * x == 1.0
    assert isinstance(y * (1.0 / x), Symbol)


def test_constants_fold() -> None:
    (x,) = inputs(1)
    assert 2.0 * (3.0 * x) is 6.0 * x
    assert sin(0.0) == 0.0
    assert select(less(1.0, 2.0), x, 5.0) is x
    assert atan2(1.0, 0.0) == math.pi / 2


def test_signs_move_outward_until_something_takes_them_in() -> None:
    x, y = inputs(2)
    minus_x = -x
    assert -minus_x is x
    assert x + (-y) is x - y
    assert (-x) * (-y) is x * y
    assert (-x) * y is -(x * y)
    assert x - y is -(y - x)
    assert sin(-x) is -sin(x)
    assert cos(-x) is cos(x)
    assert (-2.0) * x is -(2.0 * x)


def test_what_cancels_by_symmetry_vanishes() -> None:
    """v x v, the velocity product of a free joint."""
    x, y = inputs(2)
    assert x * y - y * x == 0.0
    assert (x - y) + (y - x) == 0.0


def test_numpy_numbers_are_numbers() -> None:
    (x,) = inputs(1)
    assert np.float64(2.0) * x is 2.0 * x
    assert x + np.float64(0.0) is x


def test_a_symbol_is_no_truth_and_no_number() -> None:
    (x,) = inputs(1)
    with pytest.raises(TypeError, match="may not branch"):
        bool(x)
    with pytest.raises(TypeError, match="not a number"):
        float(x)
    with pytest.raises(ZeroDivisionError, match="constant zero"):
        x / 0.0


def test_two_traces_do_not_mix() -> None:
    (x,), (y,) = inputs(1), inputs(1)
    with pytest.raises(ValueError, match="do not mix"):
        x + y
    with pytest.raises(TypeError, match="do not mix"):
        maximum(np.zeros(3), x)


def test_inputs_come_before_operations() -> None:
    graph = Graph()
    x = graph.input()
    sqrt(x)
    with pytest.raises(ValueError, match="inputs come first"):
        graph.input()


def counts(program: Program) -> dict[str, int]:
    return dict(program.operation_counts())


def program_of(function: object, size: int) -> Program:
    return trace(lambda x: [[function(*x)]], [Port("x", (size,))], [Port("y", ())])  # type: ignore[operator]


def test_a_sum_of_products_is_a_chain_of_multiply_adds() -> None:
    program = program_of(lambda a, b, c, d, e, f, g, h: (a * b + c * d) + (e * f + g * h), 8)
    assert counts(program) == {"mul": 1, "fma": 3}


def test_differences_of_products_need_no_negation() -> None:
    assert counts(program_of(lambda a, b, c: c - a * b, 3)) == {"fnma": 1}
    assert counts(program_of(lambda a, b: a * b - sqrt(a), 2)) == {"sqrt": 1, "fms": 1}


def test_a_product_that_someone_else_needs_is_computed_once() -> None:
    program = trace(lambda x: [[x[0] * x[1], x[0] * x[1] + x[2]]], [Port("x", (3,))], [Port("y", (2,))])
    assert counts(program) == {"mul": 1, "add": 1}


def test_a_product_that_only_sums_need_goes_into_each() -> None:
    program = trace(lambda x: [[x[0] * x[1] + x[2], x[0] * x[1] + x[3]]], [Port("x", (4,))], [Port("y", (2,))])
    assert counts(program) == {"fma": 2}


def test_what_nobody_needs_is_not_in_the_program() -> None:
    def function(x: list[Symbol]) -> list[list[Symbol]]:
        sin(x[1])
        return [[x[0]]]

    program = trace(function, [Port("x", (2,))], [Port("y", ())])
    assert counts(program) == {}
    assert program.results == (0,)


def test_results_must_fill_their_ports() -> None:
    with pytest.raises(ValueError, match="y has 2 numbers, but the function returned 1"):
        trace(lambda x: [[x[0]]], [Port("x", (1,))], [Port("y", (2,))])


def test_a_program_prints_itself() -> None:
    assert "%2 = mul(%0, %1)" in repr(program_of(lambda a, b: a * b, 2))
