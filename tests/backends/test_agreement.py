"""The algorithm on plain floats, the interpreted program and the compiled kernel are one function.

A compiler sees operations, not joints: kernels are compiled for two robots, and for every kind of joint in
`test_every_joint.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from kinetree.compiler.requests import default_options
from kinetree.expr import interpret
from tests import functions
from tests.kernels import compiled_late
from tests.robots import GROUPS, group_of_joints, stork

COMPILED: dict[str, Callable[[], kt.Model]] = {
    "cart_pole": lambda: kt.zoo.load("cart_pole"),
    "stork": stork,
}
ROBOTS = COMPILED | {name: partial(group_of_joints, name) for name in GROUPS}
"""Of every kind of joint, but not in one robot: programs are compiled in time that grows almost with their square."""


@cache
def robot_of(name: str) -> kt.Model:
    return ROBOTS[name]()


def options_of(robot: kt.Model, function: Any) -> dict[str, Any]:
    return functions.options_of(function, list(robot.bodies)[-1], "local_world_aligned", "classical")


def on_floats(robot: kt.Model, function: Any, sample: Sequence[np.ndarray]) -> list[float]:
    """The textbook loop itself, with no compiler in sight."""
    options = {**default_options(function), **options_of(robot, function)}
    return [float(x) for x in on_numbers(function.definition, robot, [x.tolist() for x in sample], **options)]


def on_floats_and_interpreted(name: str, function: Any) -> tuple[Any, list[np.ndarray], Sequence[float]]:
    """A kernel that is not compiled yet, a batch, and what its last sample gives: the same on floats."""
    robot = robot_of(name)
    kernel = compiled_late(robot, function, **options_of(robot, function))
    batch = functions.samples(robot, function, 6, np.random.default_rng(4))
    sample = [x[5].ravel() for x in batch]
    numbers = functions.numbers_of(function, options_of(robot, function))
    (interpreted,) = interpret(kernel.__self__.program, *sample, *numbers)
    scale = max(1.0, float(np.abs(interpreted).max()))
    np.testing.assert_allclose(on_floats(robot, function, sample), interpreted, rtol=0, atol=1e-12 * scale)
    return kernel, batch, interpreted


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(("name", "function"), functions.on(COMPILED, floating=["stork"]))
def test_reference_interpreted_and_compiled_agree(name: str, function: Any) -> None:
    kernel, batch, interpreted = on_floats_and_interpreted(name, function)
    scale = max(1.0, float(np.abs(interpreted).max()))
    np.testing.assert_allclose(kernel(*batch)[5].ravel(), interpreted, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize(("name", "function"), functions.on(GROUPS, floating=[], sharing=["sharing joints"]))
def test_reference_and_interpreted_agree_for_every_kind_of_joint(name: str, function: Any) -> None:
    on_floats_and_interpreted(name, function)


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize("function", functions.EVERY.values(), ids=functions.EVERY)
def test_float32_is_float64_to_its_own_rounding(function: Any) -> None:
    robot = robot_of("stork")
    options = options_of(robot, function)
    batch = [x.astype(np.float32) for x in functions.samples(robot, function, 9, np.random.default_rng(4))]
    single = compiled_late(robot, function, dtype="float32", **options)(*batch)
    double = compiled_late(robot, function, **options)(*batch)
    assert single.dtype == np.float32
    scale = max(1.0, float(np.abs(double).max()))
    np.testing.assert_allclose(single, double, rtol=0, atol=2e-4 * scale)


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (3, 1, 2)])
@pytest.mark.parametrize("function", [kt.aba, kt.crba, kt.center_of_mass, kt.forward_kinematics])
def test_every_batch_shape_is_the_same_samples(function: Any, shape: tuple[int, ...]) -> None:
    robot = robot_of("stork")
    count = int(np.prod(shape))
    batch = functions.samples(robot, function, count, np.random.default_rng(4))
    flat = function(robot, *batch)
    shaped = function(robot, *(x.reshape(*shape, -1) for x in batch))
    assert (shaped.reshape(flat.shape) == flat).all()
