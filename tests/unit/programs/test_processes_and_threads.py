"""Programs in several threads and processes, in pickles, and as copies."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import multiprocessing
import os
import pickle
import threading
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.compiled import CompiledFunction
from tests.unit.programs.module_programs import ARM, Q, V, task


def numbers(results: Any) -> np.ndarray:
    """All results as one array."""
    return np.concatenate([np.ravel(x) for x in results])


def computed(q: np.ndarray) -> np.ndarray:
    return numbers(task(q, V))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_another_process_computes_with_a_program(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("the system cannot do that")
    samples = [Q, V, Q + V]
    expected = [computed(q) for q in samples]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later: a fork of a process with threads
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert np.array_equal(pool.map(computed, samples), expected)
            for q, x in zip(samples, pool.starmap(task, [(q, V, 2.0) for q in samples]), strict=True):
                assert np.array_equal(numbers(x), computed(q))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_forked_while_another_thread_traces_can_trace() -> None:
    inside, go_on = threading.Event(), threading.Event()

    @kt.program(q=2)
    def slow(q: Any) -> Any:
        inside.set()
        go_on.wait(20)
        return 2.0 * q

    tracing = threading.Thread(target=slow, args=(Q,))
    tracing.start()
    inside.wait(20)
    threading.Timer(0.05, go_on.set).start()  # a fork waits for whoever compiles
    child = os.fork()
    if not child:
        right = (kt.program(lambda q: 3.0 * q, q=2)(Q) == 3.0 * Q).all() and (slow(Q) == 2.0 * Q).all()
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    tracing.join()


def test_many_threads_that_call_a_program_first_trace_it_once() -> None:
    runs: list[int] = []

    @kt.program(q=2, v=2)
    def counted(q: Any, v: Any) -> Any:
        runs.append(threading.get_ident())
        return kt.crba(ARM, q) @ v

    start = threading.Barrier(6)

    def work(k: int) -> bool:
        start.wait()
        many, one = counted(np.stack([Q * k, V]), V), counted(Q * k, V)
        return bool((many[0] == one).all())

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))
    assert len(set(runs)) == 1
    assert len(runs) <= 2  # once for each form of the robot


def test_programs_that_are_traced_at_the_same_time_do_not_mix() -> None:
    start = threading.Barrier(4)

    def work(k: int) -> bool:
        def made(q: Any) -> Any:
            for _ in range(50):
                q = q + k * np.sin(q)
            return q + kt.gravity_forces(ARM, q)

        program = kt.program(made, q=2)
        start.wait()
        return bool(np.allclose(program(Q), made(Q), rtol=1e-12, atol=1e-12))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


class Controller:
    """Something with a method."""

    gain = 3.0

    def torque(self, q: Any) -> Any:
        return -self.gain * q

    def __call__(self, q: Any) -> Any:
        return self.gain + q


def nested(gain: float) -> kt.programs.Program:
    def inner(q: Any) -> Any:
        return gain * q

    return kt.program(inner, q=2)


HERE_ALONE = {
    "a method": lambda: kt.program(Controller().torque, q=2),
    "an object": lambda: kt.program(Controller(), q=2),
    "a partial": lambda: kt.program(functools.partial(lambda s, q, p: s * q - p, 2.0, p=1.0), q=2),
    "a lambda": lambda: kt.program(lambda q: 2.0 * q, q=2),
    "a nested function": lambda: nested(2.0),
}


@pytest.mark.parametrize("make", HERE_ALONE.values(), ids=HERE_ALONE)
def test_any_callable_can_be_a_program_and_says_why_it_is_not_pickled(make: Any) -> None:
    program = make()
    assert np.array_equal(program(Q), program.function(Q))
    assert copy.copy(program) is copy.deepcopy(program) is program
    for what in (program, program.compile()):
        with pytest.raises(TypeError, match=r"cannot be pickled, because it is not .* in a module, outside"):
            pickle.dumps(what)
    assert repr(program).startswith("<program ")
    assert list(inspect.signature(program).parameters) == ["q", "out", "threads"]


def test_functions_of_one_text_are_different_programs() -> None:
    two, three = nested(2.0), nested(3.0)
    assert np.array_equal(three(Q) - two(Q), 3.0 * Q - 2.0 * Q)
    assert two != three
    assert len({two, three, two}) == 2


def test_a_program_of_a_module_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(task)) is task
    assert copy.deepcopy({"a": task})["a"] is task
    assert np.array_equal(pickle.loads(pickle.dumps(task.compile()))(Q, V, 2.0), computed(Q))
    assert str(inspect.signature(task)) == "(q: 'Any', v: 'Any', gain: 'Any' = 2.0, *, out=None, threads=None)"
    assert task.__doc__ == "Gravity and a spring, and the energy."


def test_a_pickle_of_a_compiled_program_asks_for_the_same_optimisation(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(CompiledFunction, "optimize", lambda _, when: asked.append(when))
    for when in ("now", "quick"):
        pickled = pickle.dumps(task.compile(optimize=when))
        asked.clear()
        pickle.loads(pickled)
        assert asked == [when]


def test_programs_that_are_dropped_are_freed() -> None:
    def used() -> list[weakref.ref[Any]]:
        program = nested(5.0)
        for q in (Q, np.stack([Q, V]), Q.astype("f")):
            program(q)
        return [weakref.ref(x) for x in (program, program.function, program.compiled("float64"))]

    dropped = used()
    gc.collect()
    assert [x() for x in dropped] == [None] * 3
