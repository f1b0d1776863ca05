"""The order of each integrator on a tree with a free base and a spherical joint, and what the midpoint rule keeps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms

Array = np.ndarray[Any, Any]
Step = Callable[..., Any]


def ragdoll() -> kt.Model:
    """A free body with a limb on a ball joint and another one on a hinge."""
    builder = kt.ModelBuilder("ragdoll", gravity=(0.0, 0.0, 0.0))
    builder.add_body("world")
    for name in ("trunk", "arm", "leg"):
        builder.add_body(name, kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("base", kt.Free(), "world", "trunk")
    builder.add_joint("ball", kt.Spherical(), "trunk", "arm", kt.placement((0.1, 0.2, 0.3)))
    builder.add_joint("hinge", kt.Revolute([0, 1, 1]), "trunk", "leg", kt.placement((-0.1, 0.0, 0.3)))
    return builder.build()


ROBOT = ragdoll()
METHODS: dict[str, Step] = {
    name: partial(algorithms.step, ROBOT.tree, method) for name, method in algorithms.INTEGRATORS.items()
}
METHODS["midpoint"] = partial(algorithms.midpoint_step, ROBOT.tree)


def moving() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return ROBOT.random(rng), rng.normal(size=ROBOT.nv)


def run(step: Step, steps: int) -> tuple[Array, Array]:
    """The state after a tenth of a second; the algorithm itself."""
    tree, (q, v) = ROBOT.tree, (list(x) for x in moving())
    loads = algorithms.Loads(tree.split([0.1] * ROBOT.nv, "forces"))
    for _ in range(steps):
        end = step(tree.split(q, "nq"), tree.split(v, "nv"), 0.1 / steps, loads)
        q, v = tree.joined(end.q, "nq"), tree.joined(end.v, "nv")
    return np.array(q), np.array(v)


def apart(a: tuple[Array, Array], b: tuple[Array, Array]) -> float:
    return float(np.linalg.norm([*ROBOT.difference(a[0], b[0]), *(a[1] - b[1])]))


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("symplectic_euler", 1),
        ("semi_implicit_euler", 1),
        ("implicitfast", 1),
        ("discrete", 1),
        ("midpoint", 2),
        ("rk4", 4),
    ],
)
def test_halving_the_step_shows_the_order(name: str, order: int) -> None:
    exact = run(METHODS["rk4"], 64)
    errors = [apart(run(METHODS[name], steps), exact) for steps in (4, 8)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_the_midpoint_rule_keeps_momentum_and_bounds_the_error_of_the_energy() -> None:
    q, v = moving()
    states = kt.rollout(ROBOT, q, v, np.zeros((20_000, ROBOT.nv)), 0.01, integrator="midpoint")
    q_k, v_k = np.split(states[99::100], [ROBOT.nq], axis=-1)
    momentum = kt.momentum(ROBOT, q, v)
    np.testing.assert_allclose(kt.momentum(ROBOT, q_k, v_k), np.broadcast_to(momentum, (200, 6)), rtol=0, atol=1e-8)
    energy = kt.kinetic_energy(ROBOT, q_k, v_k) / kt.kinetic_energy(ROBOT, q, v) - 1.0
    assert abs(energy).max() < 5e-3
    early, late = energy[:100], energy[100:]
    assert abs(early.mean() - late.mean()) < 0.3 * np.std(energy)


def test_the_error_of_the_midpoint_rule_is_reported() -> None:
    tree, (q, v) = ROBOT.tree, (list(x) for x in moving())
    loads = algorithms.Loads(tree.split([0.0] * ROBOT.nv, "forces"))
    errors = [METHODS["midpoint"](tree.split(q, "nq"), tree.split(v, "nv"), h, loads).error for h in (0.01, 1.0)]
    assert errors[0] < 1e-12 < errors[1]


def test_a_free_body_that_spins_keeps_its_linear_momentum_with_every_integrator() -> None:
    """Velocities are added in axes that do not turn, so not even Euler's method curves the path."""
    robot = kt.ModelBuilder("stone", gravity=(0.0, 0.0, 0.0))
    robot.add_body("world")
    robot.add_body("stone", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    robot.add_joint("free", kt.Free(), "world", "stone")
    stone = robot.build()
    v = np.array([1.0, 2.0, 3.0, 4.0, -5.0, 6.0])
    for integrator in ("semi_implicit_euler", "implicitfast", "discrete", "midpoint", "rk4"):
        states = kt.rollout(stone, stone.neutral(), v, np.zeros((50, 6)), 0.01, integrator=integrator)  # type: ignore[arg-type]
        np.testing.assert_allclose(states[-1, :3], 0.5 * v[:3], rtol=0, atol=1e-13)
