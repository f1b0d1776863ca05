"""From a function to a program: what is a result, what is fused, and how large it may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kinetree.expr import Graph, Port, Program, Symbol, interpret, less, less_equal, sin, trace


def program_of(function: Any, inputs: int, outputs: int) -> Program:
    return trace(lambda x: [function(*x)], [Port("x", (inputs,))], [Port("y", (outputs,))])


def test_an_integer_result_is_a_number_and_not_the_number_of_a_value() -> None:
    program = program_of(lambda a: [0, a, sum([]), np.int64(1), True], 1, 5)
    assert interpret(program, [5.0]) == ([0.0, 5.0, 0.0, 1.0, 1.0],)


def test_a_result_of_another_trace_is_refused() -> None:
    stranger = Graph().input()
    with pytest.raises(ValueError, match="two traces do not mix"):
        program_of(lambda _: [stranger], 1, 1)
    with pytest.raises(ValueError, match="two traces do not mix"):
        program_of(lambda _: [sin(stranger)], 1, 1)


def test_a_result_that_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError):
        program_of(lambda _: [None], 1, 1)


def test_constants_multiply_only_as_long_as_nothing_is_lost() -> None:
    x = Graph().input()
    assert (x * 1e200) * 1e200 is not x * math.inf
    program = program_of(lambda a: [a * 1e200 * 1e200, a * 1e-200 * 1e-200], 1, 2)
    assert interpret(program, [1e-300])[0][0] == pytest.approx(1e100)
    assert interpret(program, [1e300])[0][1] == pytest.approx(1e-100)


def test_division_by_minus_one_is_a_change_of_sign() -> None:
    x = Graph().input()
    assert x / -1.0 is -x
    assert (-x) / -1.0 is x


def test_inner_sums_are_flattened_into_one_chain() -> None:
    # a - (b - (c - d e)) = a - b + c - d e
    program = program_of(lambda a, b, c, d, e: [a - (b - (c - d * e))], 5, 1)
    assert dict(program.operation_counts()) == {"add": 1, "sub": 1, "fnma": 1}
    assert interpret(program, [1.0, 2.0, 3.0, 4.0, 5.0]) == ([1.0 - (2.0 - (3.0 - 20.0))],)


def test_a_sum_that_two_others_need_is_computed_once() -> None:
    program = program_of(lambda a, b, c, d: [(a + b) + c, (a + b) + d], 4, 2)
    assert program.operation_counts().total() == 3


def test_a_product_that_many_sums_need_is_computed_once() -> None:
    few = program_of(lambda a, b, *c: [a * b + x for x in c], 6, 4)
    many = program_of(lambda a, b, *c: [a * b + x for x in c], 7, 5)
    assert dict(few.operation_counts()) == {"fma": 4}
    assert dict(many.operation_counts()) == {"mul": 1, "add": 5}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_sum_of_only_negative_products_keeps_its_sign(sign: float) -> None:
    program = program_of(lambda a, b, c, d: [-(a * b) - c * d, sign * (-(a * b) + c * d)], 4, 2)
    assert interpret(program, [2.0, 3.0, 5.0, 7.0]) == ([-41.0, sign * 29.0],)


def test_a_very_long_chain_needs_no_recursion() -> None:
    def polynomial(x: Sequence[Symbol]) -> list[list[Any]]:
        total: Any = x[0]
        for k in range(30_000):
            total = total + x[1] * float(k + 2)
        for k in range(30_000):
            total = sin(total) * x[1] - float(k + 1)
        return [[total]]

    program = trace(polynomial, [Port("x", (2,))], [Port("y", ())])
    assert program.operation_counts()["sin"] == 30_000


def test_constants_and_inputs_may_be_results() -> None:
    program = program_of(lambda a, b: [b, 2.5, a, b], 2, 4)
    assert program.body.statements == ()
    assert interpret(program, [1.0, 7.0]) == ([7.0, 2.5, 1.0, 7.0],)


def test_comparisons_of_arrays_give_numbers_too() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
    assert (less_equal(a, b) - less(a, b)).tolist() == [0.0, 1.0, 0.0]
