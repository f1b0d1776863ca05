"""A call cut into pieces gives what the call in one piece gives, to the last bit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.compiler.batch_pieces import call_in_pieces, several_in_pieces
from tests.strategies import law

ROBOT = kt.zoo.load("double_pendulum")
N = ROBOT.nv
KERNELS = {
    kt.aba: ((1, 1, 1), (N,)),
    kt.crba: ((1,), (N, N)),
    kt.kinetic_energy: ((1, 1), ()),
    kt.gravity_forces: ((1,), (N,)),
}
LARGE = 1.0  # seconds a sample, as the caller says: whatever can be cut is


@cache
def kernel_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return batch_function(kt.compile(ROBOT, function).__self__.program)


@st.composite
def batches(draw: st.DrawFn, count: int) -> list[np.ndarray]:
    """Arguments (…, N) whose leading axes broadcast; views with odd strides and orders among them."""
    whole = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 7, 70]), max_size=4).filter(lambda s: math.prod(s) < 5000))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    arrays = []
    for _ in range(count):
        own = [n if draw(st.integers(0, 3)) else 1 for n in whole[draw(st.integers(0, len(whole))) :]]
        step = draw(st.sampled_from([1, -1, 2, -3]))
        x = rng.normal(size=(*(abs(step) * n for n in own), N))
        x = np.asarray(x, order=draw(st.sampled_from(["C", "F"])))  # type: ignore[call-overload]
        arrays.append(x[tuple(slice(None, None, step) for _ in own)])
    return arrays


@law(150)
@given(st.data())
@pytest.mark.parametrize("function", KERNELS)
def test_any_split_equals_the_whole(function: Callable[..., Any], data: st.DataObject) -> None:
    core_in, core_out = KERNELS[function]
    kernel = kernel_of(function)
    arrays = data.draw(batches(len(core_in)))
    expected = kernel(*arrays)
    threads = data.draw(st.integers(1, 7))
    result = call_in_pieces(kernel, arrays, None, core_in, core_out, float, LARGE, threads)
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)
    reused = np.full(expected.shape[::-1], np.nan).T
    if reused.size:
        assert call_in_pieces(kernel, arrays, reused, core_in, core_out, float, LARGE, threads) is reused
        np.testing.assert_array_equal(reused, expected)


def pieces_of(batch: tuple[int, ...], threads: int, work: float = LARGE) -> list[tuple[int, ...]]:
    """The shapes of the pieces of a batch, the largest first."""
    shapes = []

    def note(x: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        shapes.append(x.shape)
        return x if out is None else np.copyto(out, x) or out

    call_in_pieces(note, [np.zeros(batch)], None, (0,), (), float, work, threads)
    return sorted(shapes, reverse=True)


@pytest.mark.parametrize(
    ("batch", "shapes"),
    [
        ((20,), [(5,), (4,), (3,), (2,), (2,), (1,), (1,), (1,), (1,)]),
        ((3, 20, 2), [(3, n, 2) for n in (5, 4, 3, 2, 2, 1, 1, 1, 1)]),
        ((4, 4), [(1, 4)] * 4),
        ((1, 1, 3), [(1, 1, 1)] * 3),
        ((1,), [(1,)]),
        ((), [()]),
        ((5, 0), [(5, 0)]),
    ],
)
def test_the_longest_axis_is_cut_into_smaller_and_smaller_pieces(batch: tuple[int, ...], shapes: Any) -> None:
    assert pieces_of(batch, 2) == shapes


def test_long_pieces_end_where_groups_of_samples_do() -> None:
    shapes = pieces_of((5001,), 2)
    assert shapes[:3] == [(1280,), (960,), (704,)]
    assert sum(n for (n,) in shapes) == 5001


def test_no_piece_is_too_small_to_be_worth_a_thread() -> None:
    assert pieces_of((1000,), 4, work=1e-7) == [(1000,)]
    assert pieces_of((1000,), 4, work=2.01e-7) == [(502,), (498,)]
    assert pieces_of((1000,), 2, work=1e-6) == [(256,), (192,), (184,), (144,), (112,), (112,)]


def test_what_is_the_same_for_all_samples_goes_to_each_piece_whole() -> None:
    seen = []

    def add(*arrays: np.ndarray, out: np.ndarray) -> None:
        seen.append([x.shape for x in arrays])
        np.copyto(out, sum(arrays))

    arrays = [np.arange(16.0)[:, None], np.ones((1, 3)), np.ones(3), np.array(1.0)]
    result = call_in_pieces(add, arrays, None, (0,) * 4, (), float, LARGE, 2)
    assert [shapes[1:] for shapes in seen] == [[(1, 3), (3,), ()]] * len(seen)
    assert sum(shapes[0][0] for shapes in seen) == 16
    assert len(seen) > 2
    assert (result == sum(arrays)).all()


@pytest.mark.parametrize("shift", [0, 1, -1, 3])
def test_a_result_that_overlaps_an_argument_is_what_it_would_be_elsewhere(shift: int) -> None:
    kernel = kernel_of(kt.gravity_forces)
    memory = np.random.default_rng(0).normal(size=(906, N))
    q, out = memory[3:903], memory[3 + shift : 903 + shift]
    expected = kernel(q.copy())
    call_in_pieces(kernel, [q], out, (1,), (N,), float, LARGE, 3)
    np.testing.assert_array_equal(out, expected)


def test_a_result_whose_samples_share_memory_is_written_in_the_usual_order() -> None:
    def slow_at_first(x: np.ndarray, out: np.ndarray) -> None:
        time.sleep(0.1 if x[-1] < 63.0 else 0.0)
        np.copyto(out, x)

    last = np.zeros(1)
    out = np.lib.stride_tricks.as_strided(last, (64,), (0,))
    call_in_pieces(slow_at_first, [np.arange(64.0)], out, (0,), (), float, LARGE, 8)
    assert last == 63.0


@pytest.mark.parametrize(
    ("strides", "is_apart"),
    [((24, 8), True), ((32, 8), True), ((-24, 8), True), ((8, 3200), True), ((24, -8), True), ((48, 16), True),
     ((0, 8), False), ((8, 8), False), ((16, 8), False), ((-16, 8), False), ((24, 0), False), ((8, 3192), False),
     ((24, 4), False), ((20, 8), False), ((23, 8), False)],
    ids=str,
)  # fmt: skip
def test_only_a_result_whose_numbers_are_all_apart_is_written_in_pieces(
    strides: tuple[int, int], *, is_apart: bool
) -> None:
    calls = []

    def copied(x: np.ndarray, out: np.ndarray) -> None:
        calls.append(len(x))
        np.copyto(out, x)

    memory, x = np.zeros(60_000, np.uint8), np.random.default_rng(0).normal(size=(400, 3))
    start = memory[30_000:].view(np.float64)
    out = np.lib.stride_tricks.as_strided(start, (400, 3), strides)
    expected_memory = np.zeros_like(memory)
    expected = np.lib.stride_tricks.as_strided(expected_memory[30_000:].view(np.float64), (400, 3), strides)
    np.copyto(expected, x)
    call_in_pieces(copied, [x], out, (1,), (3,), float, LARGE, 2)
    assert (len(calls) > 1) == is_apart
    assert (memory == expected_memory).all()


def test_leading_axes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        call_in_pieces(np.add, [np.ones(3), np.ones(4)], None, (0, 0), (), float, LARGE, 2)
    with pytest.raises(ValueError, match="broadcast"):
        call_in_pieces(np.add, [np.ones(3), np.ones(3)], np.ones(4), (0, 0), (), float, LARGE, 2)


def test_a_new_result_has_the_dtype_asked_for() -> None:
    x = np.ones(100, np.float32)
    assert call_in_pieces(np.positive, [x], None, (0,), (), np.float32, LARGE, 2).dtype == np.float32


@pytest.mark.parametrize("threads", ["1", "3"])
def test_several_results_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("KINETREE_NUM_THREADS", threads)
    x, y = np.linspace(-3.0, 3.0, 700).reshape(7, 1, 100), np.array([[0.0], [2.0]])  # some are divided by zero
    with np.errstate(all="ignore"):
        expected = np.divmod(x, y)
    found = several_in_pieces(np.divmod, [x, y], (0, 0), [(), ()], float, LARGE)
    assert [z.shape for z in found] == [(7, 2, 100)] * 2
    for z, its in zip(found, expected, strict=True):
        np.testing.assert_array_equal(z, its)
    (alone,) = several_in_pieces(np.exp, [x], (0,), [()], float, LARGE)
    np.testing.assert_array_equal(alone, np.exp(x))
