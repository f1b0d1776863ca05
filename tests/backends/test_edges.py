"""Where formulas divide by a length or an angle: at rest, hardly moving, turned by half, and pushed from outside.

Warnings are errors here: a kernel that overflows or divides by zero in an arm it then discards would be noticed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import interpret
from tests import functions
from tests.backends.test_agreement import robot_of
from tests.kernels import compiled_late

pytestmark = pytest.mark.usefixtures("code")

ROBOTS = ["cart_pole", "stork"]
"""Their kernels are those of `test_agreement.py`."""
STATES = ["at rest", "hardly moving", "half a turn apart", "fast"]
SPEEDS = {"at rest": 0.0, "hardly moving": 1e-25, "half a turn apart": 1.0, "fast": 1e3}


def batch_of(robot: kt.Model, function: Any, state: str) -> list[np.ndarray]:
    """Seven equal samples of a state."""
    rng = np.random.default_rng(9)
    arguments: list[np.ndarray] = []
    for (_, size), shape in zip(function.definition.inputs, functions.shapes(robot, function), strict=True):
        if size != "nq":
            x = SPEEDS[state] * rng.normal(size=shape)
        else:
            x = robot.neutral()
            if state == "half a turn apart" and arguments:
                for quaternion in robot.quaternions.values():
                    x[quaternion] = [1.0, 0.0, 0.0, 0.0]
        arguments.append(np.tile(x, (7, *[1] * x.ndim)))
    return arguments


@pytest.mark.parametrize(("name", "function"), functions.on(ROBOTS, floating=["stork"]))
def test_the_edges_of_formulas_are_finite_quiet_and_the_same(name: str, function: Any) -> None:
    robot = robot_of(name)
    options = functions.options_of(function, list(robot.bodies)[-1], "local_world_aligned", "classical")
    double = compiled_late(robot, function, **options)
    single = compiled_late(robot, function, dtype="float32", **options)
    numbers = functions.numbers_of(function, options)
    for state in STATES:
        batch = batch_of(robot, function, state)
        result = double(*batch)
        (expected,) = interpret(double.__self__.program, *(x[0].ravel() for x in batch), *numbers)
        scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
        assert np.isfinite(expected).all(), state
        np.testing.assert_allclose(result[0].ravel(), expected, rtol=0, atol=1e-12 * scale, err_msg=state)
        assert (result == result[0]).all(), state
        np.testing.assert_allclose(single(*batch), result, rtol=0, atol=2e-4 * scale, err_msg=state)


@pytest.mark.parametrize("function", [kt.aba, kt.rnea, kt.bias_forces], ids=lambda f: f.__name__)
def test_external_forces_reach_every_backend(function: Any) -> None:
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(10)
    frames = [robot.root, list(robot.frames)[-1], list(robot.bodies)[-1]]
    kernel = compiled_late(robot, function, f_ext=frames)
    batch = functions.samples(robot, function, 5, rng)
    forces = [rng.normal(size=(5, 6)) for _ in frames]
    result = kernel(*batch, *forces)
    for k in range(5):
        (expected,) = interpret(kernel.__self__.program, *(x[k] for x in (*batch, *forces)))
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(result[k], expected, rtol=0, atol=1e-12 * scale)
    free = function(robot, *batch)
    assert (np.abs(result - free).max(axis=-1) > 1e-3).all()
