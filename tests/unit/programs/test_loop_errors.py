"""What loops of programs refuse, and what they say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt

TABLE = np.arange(12.0).reshape(4, 3)


def traced(function: Callable[..., Any]) -> None:
    kt.program(function, x=3).traced()


def said(error: type[Exception], function: Callable[..., Any], *parts: str) -> None:
    """Assert that tracing a function of `x` raises an error that names this file and says these things."""
    with pytest.raises(error, match=re.escape(f"{__file__}:")) as caught:
        traced(function)
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in {caught.value}"


@pytest.mark.parametrize(
    "body",
    [
        lambda k, s, x: s + TABLE[k],
        lambda k, s, x: s + x[x[0].astype(int)],
        lambda k, s, x: s + np.stack([x, x])[:, k],
        lambda k, s, x: s + x[k : k + 1],
        lambda k, s, x: s + x[np.floor(s[0]).astype(int) + k],
        lambda k, s, x: s * sum(range(k)),
    ],
)
def test_an_index_that_cannot_be(body: Callable[..., Any]) -> None:
    said(kt.errors.ProgramError, lambda x: kt.programs.fori(3, lambda k, s: body(k, s, x), x), "kt.programs.scan")


def test_an_index_that_is_a_real_number() -> None:
    said(kt.errors.ShapeError, lambda x: kt.programs.fori(3, lambda k, s: s + x[k * 0.5], x), "only integers")


def test_indices_out_of_bounds() -> None:
    said(
        kt.errors.ShapeError,
        lambda x: kt.programs.fori(3, lambda k, s: s + x[k + 1], x),
        "index 3",
        "axis 0 with size 3",
    )
    said(
        kt.errors.ShapeError,
        lambda x: kt.programs.fori(3, lambda k, s: s + x[-k - 2], x),
        "index -4",
        "axis 0 with size 3",
    )

    def both(x: Any) -> Any:
        return kt.programs.fori(2, lambda i, s: kt.programs.fori(2, lambda j, t: t + x[i - j], s), x)

    said(kt.errors.ShapeError, both, "from -1 to 1", "% 3")


def test_branches_on_the_counter() -> None:
    said(kt.errors.ProgramError, lambda x: kt.programs.fori(3, lambda k, s: s if k == 1 else x, x), "np.where")


def test_a_state_that_changes() -> None:
    for state, after, parts in [
        (np.zeros(3), lambda s: s[:2], ("shape (3,)", "shape (2,)")),
        (0.0, lambda s: s + np.ones(2), ("shape ()", "shape (2,)")),
        (True, lambda s: s * 2.5, ("dtype bool", "dtype float64")),
        ({"a": 1.0, "b": 2.0}, lambda s: {"a": s["a"]}, ("a dict with 'a', 'b'", "a dict with 'a'")),
        ((1.0, 2.0), lambda s: s[0], ("a tuple of 2", "an array of shape ()")),
        ([1.0, np.zeros(2)], lambda s: [s[0], None], ("state[1]", "None")),
    ]:

        def looped(x: Any, state: Any = state, after: Any = after) -> Any:
            return kt.programs.fori(3, lambda k, s: after(s), state)

        said(kt.errors.ShapeError, looped, "kt.programs.fori", *parts)
        with pytest.raises(kt.errors.ShapeError):
            looped(np.zeros(3))


def test_the_number_of_iterations() -> None:
    said(
        kt.errors.ProgramError, lambda x: kt.programs.fori(x[0], lambda k, s: s, x), "depends on arguments", "np.where"
    )
    said(
        kt.errors.ProgramError,
        lambda x: kt.programs.fori(3, lambda i, s: kt.programs.fori(i, lambda k, s: s, s), x),
        "counter of a loop",
    )
    said(
        kt.errors.ProgramError, lambda x: kt.programs.scan(lambda s, r: (s, r), x, length=x.sum()), "length", "np.where"
    )
    for wrong in (-1, 2.5, True, "3", None, np.zeros(2)):
        with pytest.raises(kt.errors.OptionError, match="whole number from 0 on"):
            kt.programs.fori(wrong, lambda k, s: s, 0.0)  # type: ignore[arg-type]
    assert kt.programs.fori(np.int64(3), lambda k, s: s + k, 0) == 3.0


def test_rows_of_a_scan() -> None:
    said(
        kt.errors.ShapeError,
        lambda x: kt.programs.scan(lambda s, r: (s, r), x, (x, TABLE)),
        "rows[0] of shape (3,)",
        "(4, 3)",
    )
    said(kt.errors.ShapeError, lambda x: kt.programs.scan(lambda s, r: (s, r), x, x, length=4), "length is 4")
    said(
        kt.errors.ShapeError,
        lambda x: kt.programs.scan(lambda s, r: (s, r), x, {"a": 1.0}),
        "rows['a']",
        "one row per step",
    )
    said(kt.errors.OptionError, lambda x: kt.programs.scan(lambda s, r: (s, r), x, "abc"), "a str")
    with pytest.raises(kt.errors.OptionError, match="length="):
        kt.programs.scan(lambda s, r: (s, r), 0.0)


def test_what_a_step_of_a_scan_returns() -> None:
    for run in (traced, lambda f: f(np.zeros(3))):
        with pytest.raises(kt.errors.ProgramError, match="return state, output"):
            run(lambda x: kt.programs.scan(lambda s, r: s, x, x))
        with pytest.raises(kt.errors.ProgramError, match=r"output\[0\] of a step is a str"):
            run(lambda x: kt.programs.scan(lambda s, r: (s, ("text", r)), x, x))
        with pytest.raises(kt.errors.ProgramError, match=r"state holds a str at \[1\]"):
            run(lambda x: kt.programs.scan(lambda s, r: (s, r), (x, "text"), x))


def test_outputs_that_change_in_a_plain_run() -> None:
    with pytest.raises(kt.errors.ShapeError, match=r"shape \(2,\), and shape \(1,\) before"):
        kt.programs.scan(lambda s, r: (s + 1, np.zeros(int(s) + 1)), 0, length=3)
    with pytest.raises(kt.errors.ShapeError, match="another form"):
        kt.programs.scan(lambda s, r: (s + 1, None if s > 1 else s), 0, length=3)


def test_symbols_kept_from_a_body() -> None:
    kept: list[Any] = []

    def keeping(k: Any, s: Any) -> Any:
        kept[:] = [k, s, s * 2.0]
        return s + 1.0

    def run(x: Any, use: Callable[[Any], Any]) -> Any:
        last = kt.programs.fori(3, keeping, x)
        return use(x) + last

    uses: list[Callable[[Any], Any]] = [
        lambda x: kept[1],
        lambda x: kept[2] * x,
        lambda x: x * kept[0],
        lambda x: x[kept[0]],
        lambda x: kt.programs.fori(2, lambda k, s: s + kept[1], x),
        lambda x: kt.programs.fori(2, lambda k, s: s + kept[1][k], x),
        lambda x: kt.programs.fori(2, lambda k, s: s, kept[1]),
        lambda x: kt.programs.scan(lambda s, r: (s + r, None), x, kept[2])[0],
        lambda x: kt.programs.fori(2, lambda i, s: kt.programs.fori(2, lambda j, t: keeping(j, t), s) + kept[2], x),
    ]
    for use in uses:
        with pytest.raises(kt.errors.ProgramError, match="loop"):
            traced(lambda x, use=use: run(x, use))


def test_rows_in_memory_kept_from_a_body() -> None:
    kept: list[Any] = []

    def step(s: Any, row: Any) -> Any:
        kept[:] = [row]
        return s + row[0], row

    def run(x: Any) -> Any:
        kt.programs.scan(step, x[0], np.stack([x, 2.0 * x]))
        return kt.programs.scan(lambda s, r: (s + r, None), 0.0, kept[0])[0]

    with pytest.raises(kt.errors.ProgramError, match="loop"):
        traced(run)


def test_an_exception_in_a_body_is_the_users_own_and_leaves_nothing_behind() -> None:
    def body(k: Any, s: Any) -> Any:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        traced(lambda x: kt.programs.fori(3, body, x))

    def caught(x: Any) -> Any:
        try:
            x = kt.programs.fori(3, body, x)
        except RuntimeError:
            x = 2.0 * x
        return kt.programs.fori(3, lambda k, s: s + k, x)

    np.testing.assert_array_equal(kt.program(caught, x=3)(np.ones(3)), np.full(3, 5.0))


def test_a_state_of_a_trace_that_is_over() -> None:
    kept: list[Any] = []
    traced(lambda x: (kept.append(x), x)[1])
    with pytest.raises(kt.errors.ProgramError, match="live only"):
        kt.programs.fori(3, lambda k, s: s, kept[0])
    with pytest.raises(kt.errors.ProgramError):
        kt.programs.scan(lambda s, r: (s, r), 0.0, kept[0])
