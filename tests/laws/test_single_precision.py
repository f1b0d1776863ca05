"""float32 results equal those of float64 except for a few roundings, whose size docs/float32.md gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ROUNDING = 2.0**-24
LARGEST: dict[Callable[..., Any], float] = {
    kt.rnea: 60,
    kt.bias_forces: 50,
    kt.gravity_forces: 30,
    kt.crba: 20,
    kt.aba: 250,
    kt.forward_kinematics: 25,
    kt.frame_jacobian: 30,
    kt.kinematics.frame_velocity: 35,
    kt.kinetic_energy: 15,
    kt.potential_energy: 12,
    kt.center_of_mass: 25,
    kt.integrate: 20,
    kt.difference: 20,
}
"""The largest error in roundings; three to four times that of the worst robot of the zoo."""
ILL_CONDITIONED = {("humanoid", kt.aba): 1600}
"""In units that make its diagonal one, its mass matrix has a condition of 800; those of the others 20 or less."""
STATES = 2000


@cache
def states_of(name: str) -> tuple[kt.Model, np.ndarray, np.ndarray]:
    """A robot, two configurations and three rates of each sample, in single precision."""
    robot, rng = kt.zoo.load(name), np.random.default_rng(32)
    q = np.stack([robot.random(rng) for _ in range(2 * STATES)]).reshape(2, STATES, robot.nq)
    return robot, q.astype(np.float32), rng.normal(size=(3, STATES, robot.nv)).astype(np.float32)


def errors_of(name: str, function: Callable[..., Any]) -> np.ndarray:
    """Each sample's largest error, in roundings of its largest entry (of all samples', if it has only one)."""
    robot, *states = states_of(name)
    options = {"frame": list(robot.bodies)[-1], "expressed_in": "local_world_aligned"}
    definition = function.definition  # type: ignore[attr-defined]
    options = {option: options[option] for option in definition.options if option in options}
    configurations, rates = map(iter, states)
    single = [next(configurations if size == "nq" else rates) for _, size in definition.inputs]
    result = function(robot, *single, **options).reshape(STATES, -1)
    assert result.dtype == np.float32
    exact = function(robot, *(x.astype(np.float64) for x in single), **options).reshape(STATES, -1)
    size = np.abs(exact).max(axis=1) if exact.shape[1] > 1 else np.abs(exact).max()
    return np.abs(result - exact).max(axis=1) / size / ROUNDING  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["arm7", "cart_pole", "quadruped"])
@pytest.mark.parametrize("function", LARGEST, ids=lambda f: f.__name__)
def test_float32_is_float64_but_for_a_few_roundings(name: str, function: Callable[..., Any]) -> None:
    errors = errors_of(name, function)
    assert np.median(errors) < (20 if (name, function) in ILL_CONDITIONED else 6)
    assert errors.max() < ILL_CONDITIONED.get((name, function), LARGEST[function])


@pytest.mark.parametrize("name", kt.zoo.names())
def test_float32_results_are_computed_in_float32(name: str) -> None:
    """A kernel that went through float64 on the way would be exact to half a rounding."""
    assert errors_of(name, kt.aba).max() > 0.6
