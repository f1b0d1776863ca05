"""Who computes the pieces, how many at once, and what happens when one fails."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.compiler import helper_threads as module
from kinetree.compiler.batch_pieces import call_in_pieces

X = np.arange(40.0)


class Watched:
    """Copies its argument, and knows who is at it."""

    def __init__(self, seconds: float = 0.004) -> None:
        self.seconds = seconds
        self.lock = threading.Lock()
        self.inside: set[int] = set()
        self.ever: set[int] = set()
        self.most = 0

    def __call__(self, x: np.ndarray, out: np.ndarray) -> None:
        me = threading.get_ident()
        with self.lock:
            self.inside.add(me)
            self.ever.add(me)
            self.most = max(self.most, len(self.inside))
        time.sleep(self.seconds)
        np.copyto(out, x)
        with self.lock:
            self.inside.remove(me)


def call(function: Any, threads: int, x: np.ndarray = X) -> Any:
    return call_in_pieces(function, [x], None, (0,), (), float, 1.0, threads)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_as_many_threads_as_allowed_compute_and_no_more(threads: int) -> None:
    function = Watched()
    for _ in range(3):
        assert (call(function, threads) == X).all()
    assert function.most == threads
    assert threading.get_ident() in function.ever


def test_helpers_serve_one_call_after_the_other() -> None:
    for _ in range(3):
        call(Watched(), 4)
    before = threading.active_count()
    for _ in range(10):
        call(Watched(0.001), 4)
    assert threading.active_count() == before


def test_helpers_that_come_when_there_is_no_room_any_more_do_not_join(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = module._Helpers._ask
    monkeypatch.setattr(module._Helpers, "_ask", lambda self, call, wanted: ask(self, call, wanted + 4))
    function = Watched()
    call(function, 3)
    assert function.most == 3


def test_callers_that_use_all_cores_get_no_helpers() -> None:
    function = Watched(0.002)
    both_in, helped = threading.Barrier(2), []
    begun: set[int] = set()

    def computes(x: np.ndarray, out: np.ndarray) -> None:
        me = threading.get_ident()
        if me not in callers:
            helped.append(len(begun))
        elif me not in begun:
            begun.add(me)
            both_in.wait(20)
        function(x, out)

    def work() -> None:
        callers.add(threading.get_ident())
        both_in.wait(20)
        assert (call(computes, 2) == X).all()

    callers: set[int] = set()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    # While both are in, a helper of the first may end its piece; when one has ended, the other may be helped again.
    assert function.most <= 3
    assert helped.count(2) <= 4


def test_a_helper_leaves_when_another_caller_comes() -> None:
    arrived, left = threading.Event(), threading.Event()
    helped_after = []

    def long_one(x: np.ndarray, out: np.ndarray) -> None:
        if threading.current_thread().name.startswith("kinetree"):
            if arrived.is_set():
                helped_after.append(x)
            arrived.wait(20)  # the first piece lasts until the second caller is in
        else:
            time.sleep(0.002)
        np.copyto(out, x)

    def short_one(x: np.ndarray, out: np.ndarray) -> None:
        arrived.set()
        left.wait(20)
        np.copyto(out, x)

    first = threading.Thread(target=lambda: (call(long_one, 2), left.set()))
    first.start()
    time.sleep(0.005)
    second = threading.Thread(target=lambda: call(short_one, 2))
    second.start()
    for thread in (first, second):
        thread.join(20)
        assert not thread.is_alive()
    assert helped_after == []


def test_many_threads_call_at_once_and_all_get_their_own_result() -> None:
    robot = kt.zoo.load("arm6")
    kernel = batch_function(kt.compile(robot, kt.aba).__self__.program)
    rng = np.random.default_rng(1)
    batches = [rng.normal(size=(3, 400 + k, 6)) for k in range(8)]
    expected = [kernel(*batch) for batch in batches]
    wrong = []

    def work(k: int) -> None:
        for threads in (None, 2, 3, 5) * 10:
            result = call_in_pieces(kernel, list(batches[k]), None, (1, 1, 1), (6,), float, 1.0, threads)
            if not (result == expected[k]).all():
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()
    assert wrong == []


@pytest.mark.parametrize("where", ["caller", "helper"])
def test_an_error_in_a_piece_reaches_the_caller_after_running_pieces_have_ended(where: str) -> None:
    begun, ended = [], []
    both_in = threading.Barrier(2)

    def fails(x: np.ndarray, out: np.ndarray) -> None:  # noqa: ARG001
        begun.append(x)
        both_in.wait(20)
        if (threading.current_thread().name == "kinetree helper") == (where == "helper"):
            raise LookupError("this piece is bad")
        time.sleep(0.05)
        ended.append(x)
        both_in.abort()

    with pytest.raises(LookupError, match="this piece is bad"):
        call(fails, 2)
    assert len(begun) == 2
    assert len(ended) == 1
    assert (call(Watched(), 2) == X).all()


def test_arrays_are_let_go_after_the_call() -> None:
    x = X.copy()
    call(Watched(), 3, x)
    gone = weakref.ref(x)
    del x
    for _ in range(1000):
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


def test_a_request_that_nobody_reads_keeps_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_helpers", module._Helpers())
    monkeypatch.setattr(module._Helpers, "_serve", lambda self: None)  # noqa: ARG005
    x = X.copy()
    assert (call(Watched(), 3, x) == X).all()
    gone = weakref.ref(x)
    del x
    assert gone() is None


# -- floating-point errors

BAD = np.ones(64)
BAD[3] = BAD[40] = 0.0
BAD[5] = BAD[60] = -1.0


def both(modes: dict[str, str]) -> list[tuple[list[tuple[str, str]], str]]:
    """What the caller sees of np.log(BAD), in one piece and in several."""
    seen = []
    for threads in (1, 3):
        error = ""
        with warnings.catch_warnings(record=True) as caught, np.errstate(**modes):  # type: ignore[arg-type]
            warnings.simplefilter("always")
            try:
                call(np.log, threads, BAD)
            except FloatingPointError as raised:
                error = str(raised)
        seen.append(([(w.category.__name__, str(w.message)) for w in caught], error))
    return seen


@pytest.mark.parametrize("divide", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("invalid", ["ignore", "warn", "raise"])
def test_warnings_and_errors_come_as_from_one_piece(divide: str, invalid: str) -> None:
    whole, split = both({"divide": divide, "invalid": invalid})
    assert split == whole
    assert (divide, invalid) == ("ignore", "ignore") or whole != ([], "")


def test_a_warning_is_an_error_where_warnings_are() -> None:
    with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
        call(np.log, 3, BAD)


def test_the_result_is_complete_when_the_error_comes() -> None:
    out = np.full(64, 7.0)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        call_in_pieces(np.log, [BAD], out, (0,), (), float, 1.0, 3)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, np.log(BAD))


def test_a_function_of_the_callers_hears_of_errors_once_a_call() -> None:
    heard = []
    with np.errstate(all="call", call=lambda kind, _: heard.append((kind, threading.current_thread().name))):
        call(np.log, 3, BAD)
    me = threading.current_thread().name
    assert heard == [("divide by zero", me), ("invalid value", me)]


def test_a_kernels_bad_samples_warn_as_they_do_in_one_piece() -> None:
    robot = kt.zoo.load("double_pendulum")
    kernel = batch_function(kt.compile(robot, kt.gravity_forces).__self__.program)
    q = np.ones((100, 2))
    q[70] = np.inf
    messages = []
    for threads in (1, 4):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call_in_pieces(kernel, [q], None, (1,), (2,), float, 1.0, threads)
        messages.append([str(w.message) for w in caught])
    assert messages[0] == messages[1]
