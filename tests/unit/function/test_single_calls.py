"""One sample: through the bare function and through the public one, which answer and refuse alike."""

from __future__ import annotations

import gc
import math
import os
import pickle
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests import functions

ARM = kt.zoo.load("arm6")
QUADRUPED = kt.zoo.load("quadruped")
RNG = np.random.default_rng(41)
Q, V, TAU = RNG.normal(size=(3, 6))
EXPECTED = kt.aba(ARM, *(x[None] for x in (Q, V, TAU)))[0]
"""By way of a batch of one."""


Call = Callable[..., Any]


def public(robot: kt.Model, function: Any, **options: Any) -> Call:
    return lambda *arguments, **keywords: function(robot, *arguments, **options, **keywords)


def bare(robot: kt.Model, function: Any, **options: Any) -> Call:
    return kt.compile(robot, function, **options)


both_ways = pytest.mark.parametrize("way", [public, bare])
Way = Callable[..., Call]


def sample(robot: kt.Model, function: Any) -> list[np.ndarray]:
    return [x[0] for x in functions.samples(robot, function, 1, RNG)]


# -- results


@both_ways
@pytest.mark.parametrize("function", functions.FIXED.values(), ids=functions.FIXED)
def test_every_function_answers_for_one_sample_as_for_a_batch(function: Any, way: Way) -> None:
    if way is public and (function.definition.optional or not functions.gives_one_array(function)):
        way = bare  # what is named are views of what this gives
    options = functions.options_of(function, "tool")
    given = sample(ARM, function)
    expected = kt.compile(ARM, function, **options)(*(np.stack([x, x]) for x in given))[1]
    f = way(ARM, function, **options)
    result = f(*given)
    assert type(result) is (np.float64 if expected.ndim == 0 else np.ndarray)
    assert result.tobytes() == expected.tobytes()
    assert result.shape == expected.shape
    out = np.full(expected.shape, np.nan)
    assert f(*given, out=out) is out
    assert out.tobytes() == expected.tobytes()
    assert f(*given, out=None).tobytes() == expected.tobytes()


@both_ways
def test_a_number_comes_out_as_numpys_own(way: Way) -> None:
    energy = way(ARM, kt.kinetic_energy)(Q, V)
    assert type(energy) is np.float64
    assert energy == kt.kinetic_energy(ARM, Q[None], V[None])[0]
    assert type(way(ARM, kt.kinetic_energy)(Q.tolist(), V.tolist())) is np.float64
    single = kt.kinetic_energy(ARM, Q.astype("f"), V.astype("f"))
    assert type(single) is np.float32


def strided(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 3)[::3]


def read_only(x: np.ndarray) -> np.ndarray:
    return np.frombuffer(x.tobytes())


def unaligned(x: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"\0" + x.tobytes(), np.float64, x.size, 1)


class Named(np.ndarray):
    """A subclass."""


KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": np.ndarray.tolist,
    "tuple": lambda x: tuple(x.tolist()),
    "list of NumPy's numbers": list,
    "strided": strided,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "read-only": read_only,
    "unaligned": unaligned,
    "subclass": lambda x: x.view(Named),
    "other byte order": lambda x: x.astype(">f8"),
    "batch of one": lambda x: x[None],
}


@both_ways
@pytest.mark.parametrize("kind", KINDS)
def test_anything_that_is_an_array_of_the_numbers_is_taken(kind: str, way: Way) -> None:
    f = way(ARM, kt.aba)
    for k in range(3):
        given: list[Any] = [Q, V, TAU]
        given[k] = KINDS[kind](given[k])
        result = f(*given)
        assert type(result) is np.ndarray
        assert (result == EXPECTED).all()
        assert result.shape == ((1, 6) if kind == "batch of one" else (6,))


@both_ways
def test_out_may_be_of_any_layout_and_may_lie_on_an_argument(way: Way) -> None:
    f = way(ARM, kt.aba)
    for out in (np.zeros(12)[::2], np.zeros(6)[::-1], np.zeros(49, np.uint8)[1:].view(np.float64)):
        assert f(Q, V, TAU, out=out) is out
        assert (out == EXPECTED).all()
    memory = np.concatenate([Q, V, TAU])
    out = memory[3:9]
    assert f(memory[:6], memory[6:12], memory[12:], out=out) is out
    assert (out == EXPECTED).all()


def test_float32_has_a_function_of_its_own() -> None:
    single = [x.astype(np.float32) for x in (Q, V, TAU)]
    f = kt.compile(ARM, kt.aba, dtype="float32")
    expected = f(*(x[None] for x in single))[0]
    for result in (f(*single), kt.aba(ARM, *single), f(*(x.tolist() for x in single))):
        assert result.dtype == np.float32
        assert (result == expected).all()


@both_ways
def test_results_are_new_each_time_and_belong_to_the_caller(way: Way) -> None:
    f = way(ARM, kt.aba)
    first, second = f(Q, V, TAU), f(2.0 * Q, V, TAU)
    assert first.flags.owndata
    assert first.flags.writeable
    assert not np.shares_memory(first, second)
    assert (first == EXPECTED).all()


# -- refusals

FULL = np.zeros((4, 6))


@both_ways
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((np.zeros(7), V, TAU), kt.errors.ShapeError, r"aba: q has shape \(7,\), but 'arm6' needs \(…, 6\)"),
        ((Q, V, np.zeros((6, 1))), kt.errors.ShapeError, r"aba: tau has shape \(6, 1\), but 'arm6' needs \(…, 6\)"),
        ((Q, 0.0, TAU), kt.errors.ShapeError, r"aba: v has shape \(\), but 'arm6' needs \(…, 6\)"),
        ((np.zeros(6, complex), V, TAU), kt.errors.DTypeError, r"q must be an array of real numbers .* complex128"),
        ((Q, V, "forward"), kt.errors.DTypeError, r"tau must be an array of real numbers of shape \(…, 6\)"),
        ((Q, [None] * 6, TAU), kt.errors.DTypeError, r"v must be an array of real numbers .* object"),
        ((Q, V, np.zeros(6, bool)), kt.errors.DTypeError, r"tau must be an array of real numbers .* bool"),
        ((Q, V, None), kt.errors.DTypeError, "tau must be an array of real numbers"),
        (
            (FULL, V, np.zeros((5, 6))),
            kt.errors.ShapeError,
            r"aba: the leading axes do not broadcast together: q \(4, 6\), v",
        ),
    ],
)
def test_an_argument_that_does_not_fit_is_refused_in_words(
    given: tuple[Any, ...], error: type[Exception], words: str, way: Way
) -> None:
    with pytest.raises(error, match=words):
        way(ARM, kt.aba)(*given)


@both_ways
@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.empty(7), kt.errors.ShapeError, r"aba: out has shape \(7,\), but the result has \(6,\)"),
        (np.empty((1, 6)), kt.errors.ShapeError, r"aba: out has shape \(1, 6\), but the result has \(6,\)"),
        (np.empty(6, np.float32), kt.errors.DTypeError, "aba: out has dtype float32, but the result is float64"),
        (np.empty(6, ">f8"), kt.errors.DTypeError, "aba: out has dtype >f8, but the result is float64"),
        ([0.0] * 6, kt.errors.DTypeError, "aba: out must be a NumPy array, not list"),
        (False, kt.errors.DTypeError, "aba: out must be a NumPy array, not bool"),
        (read_only(Q), kt.errors.ShapeError, "aba: out is read-only"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_in_words(out: Any, error: type[Exception], words: str, way: Way) -> None:
    with pytest.raises(error, match=words):
        way(ARM, kt.aba)(Q, V, TAU, out=out)


def test_the_bare_function_says_what_it_takes() -> None:
    f = kt.compile(ARM, kt.aba)
    for given in ((), (Q,), (Q, V), (Q, V, TAU, TAU)):
        with pytest.raises(kt.errors.DTypeError, match=rf"aba takes 3 arrays \(q, v, tau\), not {len(given)}"):
            f(*given)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tau'"):
        f(Q, V, tau=TAU)
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        f(Q, V, TAU, where=True)
    assert "see kinetree.aba" in str(f.__doc__)
    assert f.__name__ == "aba"


def zero_quaternion(length: float) -> tuple[np.ndarray, np.ndarray]:
    q = QUADRUPED.neutral()
    q[3:7] *= length
    return q, np.ones(QUADRUPED.nv)


@both_ways
@pytest.mark.parametrize("length", [0.0, -0.0])
def test_a_zero_quaternion_is_refused(length: float, way: Way) -> None:
    q, v = zero_quaternion(length)
    f = way(QUADRUPED, kt.aba)
    out = np.full(QUADRUPED.nv, 7.0)
    for keywords in ({}, {"out": out}):
        with pytest.raises(kt.errors.ConfigurationError, match=r"q: the quaternion of joint 'root_joint' .* is zero"):
            f(q, v, v, **keywords)
    assert (out == 7.0).all()


@both_ways
@pytest.mark.parametrize("length", [1e-3, 1e-100, 1e100, 3.0, -1.0])
def test_a_quaternion_of_any_other_length_is_taken(length: float, way: Way) -> None:
    q, v = zero_quaternion(length)
    f = way(QUADRUPED, kt.aba)
    np.testing.assert_allclose(f(q, v, v), f(*zero_quaternion(1.0), v), rtol=1e-9)
    assert (f(q, v, v) == f(q[None], v, v)[0]).all()


def test_a_zero_quaternion_among_parameters_is_refused() -> None:
    name = next(n for n in ARM.parameter_names if n.endswith(".placement"))
    f = kt.compile(ARM, kt.aba, parameters=[name])
    with pytest.raises(kt.errors.ConfigurationError, match=r"placement: the quaternion of body 'tool' .* is zero"):
        f(Q, V, TAU, np.zeros(7))
    with pytest.raises(kt.errors.ConfigurationError, match=r"placement: the quaternion of body 'tool' .* is zero"):
        kt.aba(ARM, Q, V, TAU, parameters={name: np.zeros(7)})


# -- what is not finite


@both_ways
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_comes_out_as_in_a_batch(value: float, way: Way) -> None:
    tau = TAU.copy()
    tau[2] = value
    f = way(ARM, kt.aba)
    with np.errstate(invalid="ignore"):
        result, batch = f(Q, V, tau), f(Q[None], V, tau)[0]
    assert not np.isfinite(result).all()
    np.testing.assert_array_equal(result, batch)
    with warnings.catch_warnings():  # errors of one call are not reported by the next
        warnings.simplefilter("error")
        assert (f(Q[None], V, TAU)[0] == EXPECTED).all()
        assert np.isfinite(np.add(Q, V)).all()


@both_ways
def test_a_quaternion_that_is_no_number_is_not_taken_for_zero(way: Way) -> None:
    q, v = zero_quaternion(1.0)
    q[4] = math.nan
    with np.errstate(invalid="ignore"):
        assert np.isnan(way(QUADRUPED, kt.aba)(q, v, v)).any()


# -- threads, processes and lives


@both_ways
def test_first_use_from_many_threads_compiles_once_and_answers_all(way: Way) -> None:
    robot, start = kt.zoo.load("arm6"), threading.Barrier(8)

    def work(k: int) -> tuple[bool, int]:
        start.wait()
        f = way(robot, kt.aba)
        first = f(Q, V, TAU) if k % 2 else f(Q[None], V, TAU)[0]
        again = f(Q, V, TAU)
        return bool((first == EXPECTED).all() and (again == EXPECTED).all()), id(kt.compile(robot, kt.aba))

    with ThreadPoolExecutor(8) as pool:
        right, compiled = zip(*pool.map(work, range(8)), strict=True)
    assert all(right)
    assert len(set(compiled)) == 1


def output_of(script: str) -> str:
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120, env=os.environ
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_child_forked_while_another_thread_compiles_can_compile_and_call() -> None:
    script = """
import os, signal, threading, time, warnings
import numpy as np
import kinetree as kt
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later: a fork of a process with threads
os.environ["KINETREE_CACHE"] = "off"
arm, small = kt.zoo.load("arm6"), kt.zoo.load("double_pendulum")
def compile_all():
    for function in (kt.aba, kt.rnea, kt.inverse_dynamics, kt.crba, kt.gravity_forces):
        kt.compile(arm, function)
        function(arm, *np.zeros((len(function.definition.inputs), 2, 6)))
thread = threading.Thread(target=compile_all)
thread.start()
for k in range(4):
    time.sleep(0.02)
    child = os.fork()
    if not child:
        signal.alarm(20)
        q, v, tau = np.full((3, 2), 0.1 * k)
        right = (kt.aba(small, q, v, tau) == kt.aba(small, np.stack([q, q]), v, tau)).all()
        kt.rnea(arm, *np.zeros((3, 6)))
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
thread.join()
print("four children")
"""
    assert output_of(script) == "four children"


def test_a_robot_that_was_pickled_answers_the_same() -> None:
    kt.aba(ARM, Q, V, TAU)  # what was compiled for it does not go along
    twin = pickle.loads(pickle.dumps(ARM))
    assert (kt.aba(twin, Q, V, TAU) == EXPECTED).all()
    assert (kt.compile(twin, kt.aba)(Q, V, TAU) == EXPECTED).all()
    assert kt.compile(twin, kt.aba) is not kt.compile(ARM, kt.aba)


def test_a_robot_that_came_from_another_process_answers_the_same() -> None:
    script = """
import pickle, sys
import kinetree as kt
robot = kt.zoo.load("arm6")
kt.compile(robot, kt.aba)
print(pickle.dumps(robot).hex())
"""
    robot = pickle.loads(bytes.fromhex(output_of(script)))
    assert (kt.aba(robot, Q, V, TAU) == EXPECTED).all()


def test_a_dropped_robot_takes_its_functions_along() -> None:
    robot = kt.zoo.load("cart_pole")
    f = kt.compile(robot, kt.aba)
    f(np.zeros(2), np.zeros(2), np.zeros(2))
    f(np.zeros((3, 2)), np.zeros(2), np.zeros(2))
    gone = [weakref.ref(x) for x in (f, f.__self__, robot)]  # type: ignore[attr-defined]
    del robot, f
    gc.collect()
    assert [x() for x in gone] == [None, None, None]


def test_a_function_outlives_its_robot_as_long_as_it_is_held() -> None:
    robot = kt.zoo.load("cart_pole")
    zeros = np.zeros(2)
    expected = kt.aba(robot, zeros, zeros, zeros + 1.0)
    f = kt.compile(robot, kt.aba)
    gone = weakref.ref(robot)
    del robot
    gc.collect()
    assert gone() is None
    assert (f(zeros, zeros, zeros + 1.0) == expected).all()
    assert (f(zeros[None], zeros, zeros + 1.0) == expected).all()  # compiled only now
    with pytest.raises(kt.errors.ShapeError, match="'cart_pole' needs"):
        f(np.zeros(3), zeros, zeros)
    held = weakref.ref(f.__self__)  # type: ignore[attr-defined]
    del f
    gc.collect()
    assert held() is None


def test_many_robots_leave_no_memory_behind() -> None:
    q = np.zeros(2)
    gone = []
    for _ in range(5):
        robot = kt.zoo.load("cart_pole")
        kt.aba(robot, q, q, q)
        gone.append(weakref.ref(kt.compile(robot, kt.aba).__self__))  # type: ignore[attr-defined]
        del robot
    gc.collect()
    assert [x() for x in gone] == [None] * 5
