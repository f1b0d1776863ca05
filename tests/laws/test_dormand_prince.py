"""The order of the pair of Dormand and Prince on the configuration manifold, of its error and of its interpolation."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import algorithms
from tests.closed_form.machines import hanging_body
from tests.laws.test_integrator_orders import ragdoll

Array = np.ndarray[Any, Any]


def stone() -> kt.Model:
    """A free body under gravity."""
    builder = kt.ModelBuilder("stone")
    builder.add_body("world")
    builder.add_body("stone", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("free", kt.Free(), "world", "stone")
    return builder.build()


ROBOTS = {"a free body": stone(), "a ball joint": hanging_body(), "a floating tree": ragdoll()}


class Motion:
    """Steps of the algorithm itself, on floats, from the same start for every length."""

    def __init__(self, robot: kt.Model) -> None:
        rng = np.random.default_rng(0)
        self.robot, self.nv, self._tree = robot, robot.nv, robot.tree
        self.q, self.v = list(robot.random(rng)), [4.0 * x for x in rng.normal(size=robot.nv)]
        self._loads = algorithms.Loads(self._tree.split([0.1] * robot.nv, "forces"))

    def step(self, h: float, theta: float | None = None) -> float:
        """Take a step, or begin one and go a fraction of it; the largest error that it reports."""
        tree, nv, start = self._tree, self.nv, self._tree.split(self.q, "nq")
        w = tree.joined(algorithms.fixed_velocity(tree, start, tree.split(self.v, "nv"))[1:], "nv")

        def state(y: Any, *, recharts: bool) -> tuple[Any, Any]:
            d, w = tree.split(y[:nv], "nv"), tree.split(y[nv:], "nv")
            return algorithms.displaced_state(tree, start, d, w, recharts=recharts)

        def rate(_: float, y: Any) -> list[Any]:
            d = tree.split(y[:nv], "nv")
            found = algorithms.displacement_rates(tree, start, d, *state(y, recharts=False), self._loads)
            return [*tree.joined(found.d[1:], "nv"), *tree.joined(found.w[1:], "nv")]

        y = [*(0.0 for _ in w), *w]
        step = algorithms.dormand_prince_step(rate, y, h)
        after = step.y if theta is None else algorithms.dormand_prince_between(y, step.rates, h, theta)
        q, v = state(after, recharts=True)
        self.q, self.v = tree.joined(q[1:], "nq"), tree.joined(v[1:], "nv")
        return max(map(abs, step.error))


def run(name: str, steps: int, theta: float | None = None, duration: float = 0.1) -> tuple[Array, Array, float]:
    """The state after a tenth of a second; with θ after that part of a single step of a duration."""
    motion = Motion(ROBOTS[name])
    if theta is not None:
        error = motion.step(duration, theta)
    else:
        error, *_ = [motion.step(duration / steps) for _ in range(steps)]
    return np.array(motion.q), np.array(motion.v), error


def apart(name: str, a: Any, b: Any) -> float:
    return float(np.linalg.norm([*ROBOTS[name].difference(a[0], b[0]), *(a[1] - b[1])]))


@cache
def exact(name: str) -> tuple[Array, Array, float]:
    return run(name, 32)


@pytest.mark.parametrize("name", ROBOTS)
def test_halving_the_step_shows_order_five_and_an_error_of_order_five(name: str) -> None:
    coarse, fine = (run(name, steps) for steps in (4, 8))
    observed = math.log2(apart(name, coarse, exact(name)) / apart(name, fine, exact(name)))
    assert 4.8 < observed < 6.2  # terms of the next order still count
    assert math.log2(coarse[2] / fine[2]) == pytest.approx(5.0, abs=0.1)


def test_between_the_ends_a_step_is_of_order_four() -> None:
    name, errors = "a floating tree", []
    for h in (0.02, 0.01):
        middle = run(name, 1, 0.6, h)
        errors.append(apart(name, middle, run(name, 4, None, 0.6 * h)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(5.0, abs=0.4)  # of one step


def test_the_interpolation_ends_where_the_step_does_with_its_rate() -> None:
    rates = [[float(x)] for x in np.random.default_rng(1).normal(size=7)]
    calls = iter(rates)
    step = algorithms.dormand_prince_step(lambda _t, _y: next(calls), [0.3], 0.7)
    (end,) = algorithms.dormand_prince_between([0.3], rates, 0.7, 1.0)
    assert end == pytest.approx(step.y[0], abs=1e-14)
    small = 1e-6
    for theta, rate in ((0.0, rates[0][0]), (1.0, rates[-1][0])):
        ahead, back = (algorithms.dormand_prince_between([0.3], rates, 0.7, theta + s * small)[0] for s in (1.0, -1.0))
        assert (ahead - back) / (2.0 * small * 0.7) == pytest.approx(rate, abs=1e-8)
