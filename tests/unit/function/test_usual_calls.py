"""Usual calls, which go straight to the machine code, and all others, which do not."""

from __future__ import annotations

import gc
import inspect
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler import usual_calls
from tests import functions

ROBOT = kt.zoo.load("arm6")
PLAIN = {name: f for name, f in functions.EVERY.items() if hasattr(f, "__wrapped__")}


def arrays_of(function: Any) -> list[np.ndarray]:
    return [x[0] for x in functions.samples(ROBOT, function, 1, np.random.default_rng(3))]


def test_functions_without_required_options_have_them() -> None:
    assert len(PLAIN) > 30
    for name, function in functions.EVERY.items():
        parameters = inspect.signature(function).parameters.values()
        required = [p.name for p in parameters if p.default is p.empty]
        takes_arrays_alone = required == ["robot", *(port for port, _ in function.definition.inputs)]
        if takes_arrays_alone and functions.gives_one_array(function):
            assert name in PLAIN or name == "euler_lagrange", name


@pytest.mark.parametrize("name", PLAIN)
def test_they_are_the_function(name: str) -> None:
    function: Any = PLAIN[name]
    arrays = arrays_of(function)
    expected = function.__wrapped__(ROBOT, *arrays)
    np.testing.assert_array_equal(function(ROBOT, *arrays), expected)
    np.testing.assert_array_equal(function(ROBOT, *(x[None] for x in arrays))[0], expected)
    named = dict(zip([port for port, _ in function.definition.inputs], arrays, strict=True))
    np.testing.assert_array_equal(function(ROBOT, **named), expected)
    out = np.empty_like(expected)
    if out.shape:
        assert function(ROBOT, *arrays, out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert function(ROBOT, *(x.astype(np.float32) for x in arrays)).dtype == np.float32
    np.testing.assert_array_equal(function(ROBOT, *(x.tolist() for x in arrays)), expected)


def test_options_are_not_forgotten() -> None:
    q, v, tau = arrays_of(kt.aba)
    usual = kt.aba(ROBOT, q, v, tau)
    for options in (
        {"passive": True},
        {"f_ext": {"tool": np.ones(6)}},
        {"parameters": {"gravity": [0.0, 0.0, 0.0]}},
    ):
        assert np.abs(kt.aba(ROBOT, q, v, tau, **options) - usual).max() > 1e-3
    assert np.abs(kt.aba(ROBOT, q, v, tau, {"tool": np.ones(6)}) - usual).max() > 1e-3
    np.testing.assert_array_equal(kt.aba(ROBOT, q, v, tau, threads=1), usual)


def test_mistakes_are_answered_as_before() -> None:
    q, v, tau = arrays_of(kt.aba)
    kt.aba(ROBOT, q, v, tau)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'tau'"):
        kt.aba(ROBOT, q, v)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'torque'"):
        kt.aba(ROBOT, q, v, tau, torque=1)  # type: ignore[call-arg]
    with pytest.raises(kt.errors.ShapeError, match="tau has shape"):
        kt.aba(ROBOT, q, v, tau[:3])
    with pytest.raises(kt.errors.DTypeError, match="must be a robot"):
        kt.aba("arm6", q, v, tau)  # type: ignore[arg-type]


def test_a_function_shows_its_own_signature() -> None:
    assert list(inspect.signature(kt.rnea).parameters)[:5] == ["robot", "q", "v", "qdd", "f_ext"]
    assert kt.rnea.__name__ == "rnea"
    assert "Inverse dynamics" in (kt.rnea.__doc__ or "")


def test_a_dropped_robot_is_forgotten() -> None:
    robot = kt.zoo.load("cart_pole")
    kt.crba(robot, robot.neutral())
    kernels, key = usual_calls.usual[kt.crba.definition], id(robot)  # type: ignore[attr-defined]
    assert key in kernels
    del robot
    gc.collect()
    assert key not in kernels
