"""Quaternions without a direction in batches: kernels look at them on the way, and errors name the sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.calls import _kernels
from kinetree.compiler.compiled import CompiledFunction

Array = NDArray[Any]
COUNT = 203


def fresh() -> kt.Model:
    """A robot of its own, so that nothing has been seen of its kernels."""
    return kt.zoo.load("ragdoll")


def batch(robot: kt.Model, dtype: Any = np.float64) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    q = np.stack([robot.random(rng) for _ in range(COUNT)])
    return q.astype(dtype), rng.normal(size=(COUNT, robot.nv)).astype(dtype)


def compiled(robot: kt.Model, function: Any) -> CompiledFunction:
    found: CompiledFunction = kt.compile(robot, function).__self__
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("place", [0, 100, COUNT - 1])
def test_a_zero_quaternion_is_an_error_wherever_it_stands(place: int, threads: int, dtype: Any) -> None:
    robot = fresh()
    q, v = batch(robot, dtype)
    good = kt.integrate(robot, q, v, threads=threads)
    part = list(robot.quaternions.values())[4]
    bad = q.copy()
    bad[place, part] = 0.0
    for _ in range(2):
        with pytest.raises(kt.errors.ConfigurationError, match=rf"q\[{place}\]: the quaternion of joint 'left_hip'"):
            kt.integrate(robot, bad, v, threads=threads)
    np.testing.assert_array_equal(kt.integrate(robot, q, v, threads=threads), good)


@pytest.mark.parametrize("threads", [1, None])
@pytest.mark.parametrize("function", [kt.integrate, kt.rollout])
def test_every_quaternion_of_the_robot_is_looked_at(function: Any, threads: int | None) -> None:
    """Each part of it: one number that is not zero gives it a direction."""
    robot = fresh()
    q, v = batch(robot)
    given = (v,) if function is kt.integrate else (v, np.zeros((1, robot.nv)), 1e-3)
    function(robot, q, *given)
    (kernel,) = (x for x in set(_kernels[id(robot)].values()) if x._flags is not None)
    for name, part in robot.quaternions.items():
        odd = q.copy()
        odd[101, part] = 0.0
        with pytest.raises(kt.errors.ConfigurationError, match=rf"q\[101\]: the quaternion of joint {name!r}"):
            function(robot, odd, *given, threads=threads)
        assert list(kernel._flags) == [1, 0]
        kernel._flags[0] = 0
        for number in range(4):
            odd[101, part.start + number] = 0.5
            function(robot, odd, *given, threads=threads)
            odd[101, part] = 0.0
        assert list(kernel._flags) == [0, 0]


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_no_number_stays_in_its_sample(number: float) -> None:
    robot = fresh()
    q, v = batch(robot)
    good = kt.integrate(robot, q, v)
    odd = q.copy()
    odd[17, 4] = number
    for _ in range(2):
        with np.errstate(invalid="ignore"):
            found = kt.integrate(robot, odd, v)
        assert np.isnan(found[17]).any()
        np.testing.assert_array_equal(np.delete(found, 17, axis=0), np.delete(good, 17, axis=0))
    np.testing.assert_array_equal(kt.integrate(robot, q, v), good)


def test_a_quaternion_in_doubt_that_has_a_direction_is_taken() -> None:
    robot = fresh()
    q, v = batch(robot)
    part = next(iter(robot.quaternions.values()))
    q[50, part] *= 1.8e-154 / np.linalg.norm(q[50, part])  # its square is hardly a normal number
    found = kt.integrate(robot, q, v)
    q[50, part] /= np.linalg.norm(q[50, part])
    np.testing.assert_allclose(found, kt.integrate(robot, q, v), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_odd", [False, True])
def test_a_result_may_take_the_place_of_the_argument(is_odd: bool) -> None:
    """Also where the kernel stops on the way and begins once more."""
    robot = fresh()
    q, v = batch(robot)
    if is_odd:
        q[150, 3] = np.nan
    with np.errstate(invalid="ignore"):
        expected = kt.integrate(fresh(), q, v)
        kt.integrate(robot, q, v, out=q)
    np.testing.assert_array_equal(q, expected)


def test_only_what_was_in_doubt_once_is_judged_before_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = fresh()
    q, v = batch(robot)
    function = compiled(robot, kt.integrate)
    judged: list[int] = []
    monkeypatch.setattr(function._arguments, "check_quaternions", lambda arrays: judged.append(len(arrays)))
    function(q, v)
    assert judged == []
    q[3, 3] = np.nan
    with np.errstate(invalid="ignore"):
        function(q, v)
    assert len(judged) == 1
    function(q[10:], v[10:])
    assert len(judged) == 2
