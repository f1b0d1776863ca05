"""`threads=` of the public functions and of compiled ones, and KINETREE_NUM_THREADS."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import batch_pieces as module
from kinetree.compiler import helper_threads
from tests import functions

ARM = kt.zoo.load("arm6")
RNG = np.random.default_rng(31)
COUNT = 1003
Q, V, TAU = RNG.normal(size=(3, COUNT, 6))
EXPECTED = kt.aba(kt.zoo.load("arm6"), Q, V, TAU, threads=1)  # not ARM: what is cut is settled with its first batch
FUNCTIONS = [*functions.FIXED.values(), kt.rollout]


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every batch of this file is large enough to be cut; the numbers of threads that calls were cut for.

    For all tests, since what is cut is settled when a function is compiled, and any of them may be the first.
    """
    seen: list[int] = []
    real = module._cut

    def cut(length: int, least: int, threads: int) -> list[slice]:
        seen.append(threads)
        return real(length, least, threads)

    monkeypatch.delenv("KINETREE_NUM_THREADS", raising=False)
    monkeypatch.setattr(module, "_PIECE", 1e-8)
    monkeypatch.setattr(module, "_cut", cut)
    return seen


def call(function: Any, *, threads: int | None, count: int = COUNT) -> np.ndarray:
    """A public function on the first samples."""
    values = {"q": Q, "v": V, "q0": Q, "q1": V}
    arguments = {
        name: values.get(name, np.resize(abs(TAU[:, : shape[0]]) / 10, (len(TAU), *shape)))[:count]
        for (name, _), shape in zip(function.definition.inputs, functions.shapes(ARM, function), strict=True)
    }
    if function is kt.rollout:
        arguments |= {"tau": np.stack([TAU[:count]] * 2, axis=1), "dt": np.full(count, 0.01)}
    result = function(ARM, **arguments, **functions.options_of(function, "tool"), threads=threads)
    return result if isinstance(result, np.ndarray) else np.concatenate([x.reshape(len(x), -1) for x in result], 1)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_wrong_number_of_threads_is_refused_in_words(function: Any) -> None:
    values: list[Any] = [0, -1, 1025, 1.5, 2.0, "2", True, [1], np.float64(1), 10**30]
    for value, count in product(values, (1, COUNT)):
        with pytest.raises(
            kt.errors.OptionError, match="threads must be a whole number from 1 to 1024, or None for KINETREE"
        ):
            call(function, threads=value, count=count)


@pytest.mark.parametrize("value", [0, "all", 2.5, False])
def test_a_compiled_function_refuses_it_too_for_one_sample_as_for_many(value: Any) -> None:
    f = kt.compile(ARM, kt.aba)
    for arguments in ((Q, V, TAU), (Q[0], V[0], TAU[0])):
        with pytest.raises(kt.errors.OptionError, match="threads must be a whole number from 1 to 1024"):
            f(*arguments, threads=value)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_function_gives_the_same_bits_on_any_number_of_threads(function: Any, limits: list[int]) -> None:
    expected = call(function, threads=1)
    assert not limits
    for threads in (2, 3, np.int64(4)):
        limits.clear()
        assert np.array_equal(call(function, threads=threads), expected)
        assert set(limits) == {threads}


@pytest.mark.parametrize("threads", [1, 2, None])
def test_one_sample_may_be_given_any_number_of_threads(threads: int | None) -> None:
    f = kt.compile(ARM, kt.aba)
    assert (f(Q[0], V[0], TAU[0], threads=threads) == EXPECTED[0]).all()
    out = np.empty(6)
    assert f(Q[0], V[0], TAU[0], threads=threads, out=out) is out
    assert (out == EXPECTED[0]).all()
    assert (kt.aba(ARM, Q[0], V[0], TAU[0], threads=threads) == EXPECTED[0]).all()


def test_the_environment_says_how_many_and_is_read_each_time(
    limits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for threads in (2, 3, 5):
        monkeypatch.setenv("KINETREE_NUM_THREADS", str(threads))
        assert (kt.aba(ARM, Q, V, TAU) == EXPECTED).all()
    assert limits == [2, 3, 5]
    kt.aba(ARM, Q, V, TAU, threads=4)  # what a call says goes first
    assert limits == [2, 3, 5, 4]


def test_with_one_thread_in_the_environment_no_other_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> None:
        raise AssertionError("a helper was asked")

    monkeypatch.setattr(helper_threads._helpers, "run", run)
    monkeypatch.setenv("KINETREE_NUM_THREADS", "1")
    assert (kt.aba(ARM, Q, V, TAU) == EXPECTED).all()
    with pytest.raises(AssertionError, match="a helper was asked"):
        kt.aba(ARM, Q, V, TAU, threads=2)


@pytest.mark.parametrize("text", ["0", "-2", "two", "1.5", "9999", "٣x"])
def test_a_wrong_number_in_the_environment_is_refused_by_its_name(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_NUM_THREADS", text)
    with pytest.raises(
        kt.errors.OptionError, match="KINETREE_NUM_THREADS must be a whole number of threads from 1 to 1024"
    ):
        kt.aba(ARM, Q, V, TAU)
    assert (kt.aba(ARM, Q[0], V[0], TAU[0]) == EXPECTED[0]).all()  # nobody asked how many


@pytest.mark.parametrize("layout", ["strided", "backwards", "Fortran", "an argument"])
def test_pieces_are_written_where_they_belong(layout: str, limits: list[int]) -> None:
    tau = TAU.copy()
    out = {
        "strided": np.zeros((COUNT, 2, 6))[:, 0],
        "backwards": np.zeros((COUNT, 6))[::-1, ::-1],
        "Fortran": np.zeros((COUNT, 6), order="F"),
        "an argument": tau,
    }[layout]
    assert kt.aba(ARM, Q, V, tau, out=out, threads=3) is out
    assert (out == EXPECTED).all()
    assert limits


def test_errors_are_the_same_on_several_threads() -> None:
    with pytest.raises(
        kt.errors.ShapeError, match=r"aba: the leading axes do not broadcast together: q \(1003, 6\), v \(5, 6"
    ):
        kt.aba(ARM, Q, V[:5], TAU, threads=2)
    with pytest.raises(kt.errors.ShapeError, match=r"out has shape \(5, 6\), but the result has \(1003, 6\)"):
        kt.aba(ARM, Q, V, TAU, threads=2, out=np.empty((5, 6)))
    with pytest.raises(kt.errors.DTypeError, match=r"aba takes 3 arrays \(q, v, tau\), not 2"):
        kt.compile(ARM, kt.aba)(Q, V, threads=2)


def test_nan_is_reported_once_as_on_one_thread() -> None:
    q = Q.copy()
    q[17, 2] = q[900, 3] = np.inf
    for threads in (1, 3):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in aba") as warned:
            result = kt.aba(ARM, q, V, TAU, threads=threads)
        assert len(warned) == 1
        fine = ~np.isin(np.arange(COUNT), (17, 900))
        assert (result[fine] == EXPECTED[fine]).all()


@pytest.mark.parametrize("prepare", [lambda: ARM, lambda: kt.zoo.load("arm6")], ids=["compiled before", "at first use"])
def test_many_callers_at_once_each_get_their_own_answer(prepare: Callable[[], kt.Model]) -> None:
    robot, start = prepare(), threading.Barrier(6)

    def work(k: int) -> bool:
        start.wait()
        for turn in range(12):
            part = slice(7 * k + turn, COUNT - 11 * turn)
            result = kt.aba(robot, Q[part], V[part], TAU[part], threads=1 + (k + turn) % 4)
            one = kt.aba(robot, Q[k], V[k], TAU[k])
            if not ((result == EXPECTED[part]).all() and (one == EXPECTED[k]).all()):
                return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))
