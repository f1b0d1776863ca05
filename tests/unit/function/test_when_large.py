"""Functions whose kernels would be too long go another way for large robots, with the same result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.differentiation import derived, specialized
from kinetree.compiler.specialization import Specialization, too_large_to_write_out
from kinetree.expr import interpret
from tests.kernels import compiled_late
from tests.robots import every_joint

from .test_unroll import biped, chain

RNG = np.random.default_rng(31)
FUNCTIONS = [
    kt.dynamics.euler_lagrange,
    kt.dynamics.euler_lagrange_matrices,
    kt.dynamics.aba_derivatives,
    kt.dynamics.rnea_derivatives,
]
EACH = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
LONG = 20
"""Joints of a chain that is too long for each of them."""


def straight(function: Any, robot: kt.Model) -> Any:
    options = {name: check(robot, None) for name, check in function.definition.options.items()}
    return Specialization(function.definition, robot, options, (), (), True).program()


def arguments(function: Any, n: int) -> list[np.ndarray]:
    return [0.3 * RNG.normal(size=n) for _ in function.definition.inputs]


def stacked(function: Any, robot: kt.Model, arrays: list[np.ndarray]) -> np.ndarray:
    result = function(robot, *arrays)
    return np.stack(result) if isinstance(result, tuple) else result


@EACH
def test_small_robots_are_written_out_and_long_chains_are_not(function: Any) -> None:
    for robot in (chain(10), kt.zoo.load("quadruped"), kt.zoo.load("ragdoll"), every_joint()):
        assert not too_large_to_write_out(robot, function.definition)
    assert too_large_to_write_out(chain(LONG), function.definition)
    assert not too_large_to_write_out(chain(LONG))


@EACH
@pytest.mark.parametrize("robot", [chain(8), biped()], ids=lambda robot: robot.name)
def test_the_estimate_of_their_operations_is_about_right(function: Any, robot: kt.Model) -> None:
    deepest = max(len(robot.tree.supports(i)) for i, _ in robot.tree.outward)
    estimate = function.definition.strategy.effort(robot.tree) / deepest
    actual = straight(function, robot).operation_counts().total()
    assert 0.35 < estimate / actual < 2.0


@EACH
def test_it_is_the_same_either_way(function: Any) -> None:
    robot = chain(7)
    arrays = arguments(function, 7)
    expected = stacked(function, robot, arrays)
    found = compiled_late(robot, function, unroll=False)(*arrays)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())


def test_the_solution_from_jacobians_is_that_of_articulated_bodies_for_long_chains() -> None:
    robot = chain(LONG)
    q, v, tau = arguments(kt.dynamics.euler_lagrange, LONG)
    np.testing.assert_array_equal(kt.dynamics.euler_lagrange(robot, q, v, tau), kt.aba(robot, q, v, tau))
    M, C = kt.dynamics.euler_lagrange_matrices(robot, q, v)
    np.testing.assert_allclose(M, kt.crba(robot, q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(C @ v, kt.dynamics.coriolis_forces(robot, q, v), rtol=0.0, atol=1e-12 * np.abs(C).max())


@EACH
@pytest.mark.parametrize("mode", ["jvp", "vjp"])
def test_derivatives_are_those_of_what_large_robots_take(function: Any, mode: str) -> None:
    robot, definition = chain(3), function.definition
    names = tuple(name for name, _ in definition.inputs)
    arrays = arguments(function, 3)
    more = arguments(function, 3) if mode == "jvp" else [RNG.normal(size=definition.shape(robot, {})).ravel()]
    options = {name: check(robot, None) for name, check in definition.options.items()}
    found = []
    for unroll in (True, False):
        program = specialized(derived(definition, mode, names), robot, options, (), (), unroll).program()
        assert program.is_straight is unroll
        found.append(np.array(interpret(program, *(x.tolist() for x in [*arrays, *more]))[0]))
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-10 * np.abs(found[0]).max())


def test_a_long_chain_has_them_too() -> None:
    robot = chain(LONG)
    arrays = arguments(kt.dynamics.euler_lagrange_matrices, LONG)
    (M, _), (change, _) = kt.jvp(robot, kt.dynamics.euler_lagrange_matrices, arrays, {"q": arrays[1]})
    np.testing.assert_allclose(M, kt.crba(robot, arrays[0]), rtol=1e-12, atol=1e-12)
    C = kt.dynamics.euler_lagrange_matrices(robot, *arrays).C
    np.testing.assert_allclose(change, C + C.T, rtol=0.0, atol=1e-10 * np.abs(change).max())  # as M' - 2 C is skew


def test_a_derivative_is_too_long_before_its_function_is() -> None:
    robot, definition = chain(12), kt.dynamics.euler_lagrange.definition  # type: ignore[attr-defined]
    assert not too_large_to_write_out(robot, definition)
    gradient = derived(definition, "vjp", ("q",))
    assert too_large_to_write_out(robot, gradient)
    assert gradient.strategy.when_large.derivative.of is definition.strategy.when_large
