"""Plain functions as machine code compute what Python computes, to the last bit."""

from __future__ import annotations

import ast
import gc
from math import floor, sqrt
from typing import NamedTuple

import numpy as np
import pytest

from kinetree.codegen.loops.compiled import compiled, prepared
from kinetree.codegen.loops.instructions import Unknown
from kinetree.codegen.loops.kinds import Bytes, Floats, Indices, Singles
from kinetree.codegen.loops.translate import module_text
from kinetree.source_code import syntax_tree

THIRD = 3


def sum_and_difference(a: float, b: float) -> tuple[float, float]:
    return a + b, a - b


def is_between(x: float, low: float, high: float) -> bool:
    return not (x < low or x > high)


def first_above(x: Floats, least: float) -> int:
    for k in range(len(x)):
        if x[k] > least:
            return k
    return -1


@compiled
def everything(x: Floats, whole: Indices, out: Floats, short: Singles, table: Floats, bytes: Bytes, c: float) -> None:
    for i in range(len(x)):
        if (is_between(x[i], -0.5, 2.0) and (x[i] > 0.5 or i % 2 == 1)) or x[i] == 3.0:
            p, q = sum_and_difference(x[i], c)
            out[i] = sqrt(p * p + q * q) if p > 1.0 else float(floor(x[i] * 10.0))
        elif i == 5:
            continue
        else:
            out[i] = THIRD * max(x[i], 0.25, c) - (i - 4) // THIRD
        k = 0
        while k < 5:
            k += 1
            if k == 2:
                break
        short[i] = out[i] / 3.0
        out[i] += k + float(short[i]) + min(i, 3) + abs(x[i]) + int(x[i]) + int(whole[i]) + (-7) % (i + 1)
        table[i % 4, i // 4 % 3] -= -x[i]
        bytes[i] = i
    for _ in range(3, 7, 2):
        out[0] += first_above(x, c) + total(*sum_and_difference(c, 1.0))


def total(a: float, b: float) -> float:
    return a + b


def arguments() -> list[object]:
    x = np.random.default_rng(0).normal(size=40) * 2.0
    x[7] = 3.0
    return [
        x,
        np.arange(-20, 20, dtype=np.int32),
        np.zeros(40),
        np.zeros(40, np.float32),
        np.zeros((4, 3)),
        np.zeros(40, np.uint8),
        0.3,
    ]


def test_a_text_is_parsed_while_another_thread_parses() -> None:
    """A finalizer parses in the midst of a collection, as another thread may, which confuses CPython 3.11.7."""

    class Parsing:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            ast.parse("0")

    usual = gc.get_threshold()
    gc.set_threshold(100)
    try:
        for _ in range(5):
            Parsing()
            assert len(syntax_tree("x = 1\n" * 300).body) == 300
            assert gc.isenabled()
    finally:
        gc.set_threshold(*usual)


def test_machine_code_computes_what_python_computes() -> None:
    made, meant = arguments(), arguments()
    everything(*made)
    everything.__wrapped__(*meant)  # type: ignore[attr-defined]
    for a, b in zip(made, meant, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


class Line(NamedTuple):
    x: Floats
    above: Floats
    is_used: bool
    slope: float
    y: Floats


class Lines(NamedTuple):
    first: Line
    is_shifted: bool
    counts: Indices
    second: Line


def put(line: Line, k: int, offset: float) -> None:
    """Some fields are not used here, and so not passed."""
    line.y[k] = line.slope * line.x[k] + offset


def sum_of(x: Floats) -> float:
    total = 0.0
    for k in range(len(x)):
        total += x[k]
    return total


@compiled
def fill(lines: Lines, offset: float, last: Line) -> None:
    for k in range(len(lines.first.x)):
        put(lines.first, k, offset if lines.is_shifted else 0.0)
        put(lines.second, k, lines.first.y[k])
        lines.counts[k] = int(lines.counts[k]) + k
    if last.is_used:
        last.y[0] -= last.slope * sum_of(lines.second.y) + sum_of(last.above)


def lines_to_fill() -> tuple[Lines, float, Line]:
    x = np.linspace(-1.0, 2.0, 7)
    first, second, last = (Line(a * x, a + x, True, a, np.full(7, a)) for a in (0.3, -1.7, 0.9))
    return Lines(first, True, np.arange(7, dtype=np.int32), second), 0.1, last


def test_records_are_their_fields() -> None:
    made, meant = lines_to_fill(), lines_to_fill()
    fill(*made)
    fill.__wrapped__(*meant)  # type: ignore[attr-defined]
    for a, b in ((made[0].first, meant[0].first), (made[0].second, meant[0].second), (made[2], meant[2])):
        np.testing.assert_array_equal(a.y, b.y)
    np.testing.assert_array_equal(made[0].counts, meant[0].counts)
    assert len({float(line.y[0]) for line in (made[0].first, made[0].second, made[2])}) == 3


def test_a_prepared_call_sees_what_the_arrays_of_a_record_hold_then() -> None:
    given, meant = lines_to_fill(), lines_to_fill()
    call = prepared(fill, *given)
    given[0].first.x[:] = meant[0].first.x[:] = 4.0
    call()
    fill(*meant)
    np.testing.assert_array_equal(given[0].second.y, meant[0].second.y)


def with_a_changed_number(line: Line) -> None:
    line.slope = 1.0  # type: ignore[misc]


def with_a_changed_record(line: Line) -> None:
    line = 1.0  # type: ignore[assignment]  # noqa: F841


def with_another_record(line: Line) -> None:
    fill(line, 0.0, line)


def with_an_unknown_field(line: Line) -> None:
    y = line.length  # type: ignore[attr-defined]  # noqa: F841


def without_a_record(x: float) -> None:
    put(x, 0, 0.0)  # type: ignore[arg-type]


def calling_itself(x: float) -> float:
    return calling_itself(x - 1.0) if x > 0.0 else x


def test_a_record_has_numbers_and_arrays_only() -> None:
    with pytest.raises(TypeError, match="'list' is not float, int, bool, a kind of arrays, or a NamedTuple of these"):
        module_text(_of_a_list, "x86_64-unknown-linux-gnu")


def _of_a_list(x: list) -> None:  # type: ignore[type-arg]
    pass


def unknown_name(x: float) -> None:
    y = x + nothing_of_this_name  # type: ignore[name-defined] # noqa: F821, F841


def narrow(x: Singles) -> None:
    y = x[0] * 2.0  # noqa: F841


def of_two_types(x: float) -> None:
    y = 1
    y = x  # type: ignore[assignment] # noqa: F841


def in_a_list(x: float) -> None:
    y = [x]  # noqa: F841


def downward(x: float) -> None:
    for _ in range(3, 0, -1):
        total(x, x)


def with_an_else(x: float) -> None:
    while x > 0.0:
        x -= 1.0
    else:
        total(x, x)


def with_two_targets(x: float) -> None:
    y = x = 1.0  # noqa: F841


def by_keyword(x: float) -> None:
    total(x, b=x)


def with_too_few(x: float) -> None:
    total(x)  # type: ignore[call-arg]


def with_too_many(x: float) -> None:
    total(x, x, x)  # type: ignore[call-arg]


def with_another_array(x: Singles) -> None:
    first_above(x, 0.0)  # type: ignore[arg-type]


def without_an_array(x: float) -> None:
    first_above(x, 0.0)  # type: ignore[arg-type]


def length_of_a_number(x: float) -> None:
    len(x)  # type: ignore[arg-type]


def by_its_module(x: float) -> None:
    np.floor(x)


REFUSED = [
    unknown_name, narrow, of_two_types, in_a_list, downward, with_an_else, with_two_targets, by_keyword, with_too_few,
    with_too_many, with_another_array, without_an_array, length_of_a_number, by_its_module,
    with_a_changed_number, with_a_changed_record, with_another_record, with_an_unknown_field, without_a_record,
    calling_itself,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED)
def test_anything_else_is_refused_by_its_line(function: object) -> None:
    with pytest.raises(Unknown, match=f"{function.__name__}, line"):  # type: ignore[attr-defined]
        module_text(function, "x86_64-unknown-linux-gnu")  # type: ignore[arg-type]


@compiled
def chosen(x: Floats, out: Floats) -> None:
    for i in range(len(x)):
        out[i] = ((1.0 if x[i] > 1.0 else 2.0) if x[i] > 0.0 else 3.0) if (x[i] < 2.0 if i > 1 else True) else 4.0


def test_choices_within_choices() -> None:
    x, made, meant = np.linspace(-1.0, 3.0, 9), np.zeros(9), np.zeros(9)
    chosen(x, made)
    chosen.__wrapped__(x, meant)  # type: ignore[attr-defined]
    assert set(meant) == {1.0, 2.0, 3.0, 4.0}
    np.testing.assert_array_equal(made, meant)


def test_results_of_what_is_called_from_outside_are_refused() -> None:
    with pytest.raises(TypeError, match="total has results, but functions called from outside"):
        compiled(total)(1.0, 2.0)


def test_an_array_of_another_kind_is_refused() -> None:
    given = arguments()
    given[0] = np.zeros(40, np.float32)
    with pytest.raises(TypeError, match="float64 in C order"):
        everything(*given)
