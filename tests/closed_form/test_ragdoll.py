"""A ragdoll on ball joints in empty space: nothing from outside acts on it, so its momentum stays as it was."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import body_momentum

Array = NDArray[np.float64]
SECONDS = 10.0


def flights(speeds: list[float], dt: float, seconds: float = SECONDS) -> tuple[kt.Model, Array]:
    """States [q, v] (motions, steps + 1, nq + nv) of the ragdoll, tumbling without gravity, each motion with every
    joint turning at up to so many radians a second."""
    robot = kt.zoo.load("ragdoll")
    rng = np.random.default_rng(4)
    q = np.tile(robot.integrate(robot.neutral(), rng.uniform(-0.5, 0.5, robot.nv)), (len(speeds), 1))
    v = np.outer(speeds, rng.uniform(-1.0, 1.0, robot.nv))
    tau = np.zeros((round(seconds / dt), robot.nv))
    states = kt.rollout(robot, q, v, tau, dt, integrator="rk4", parameters={"gravity": np.zeros(3)})
    return robot, np.concatenate([np.concatenate([q, v], axis=-1)[:, None], states], axis=1)


def momentum(robot: kt.Model, state: Array) -> Array:
    """[linear; angular about the world's origin]."""
    return body_momentum(robot, state[: robot.nq], state[robot.nq :])


def test_momentum_is_kept_to_1e_8_over_ten_seconds_of_a_millisecond_each() -> None:
    robot, (gentle, wild) = flights([0.7, 1.5], 1e-3)
    for states, is_wild in ((gentle, False), (wild, True)):
        begin = momentum(robot, states[0])
        # Limbs that whip about make errors of the fifth power of their speed: there it is 1e-8 of what there is.
        linear, angular = (float(np.linalg.norm(part)) if is_wild else 1.0 for part in (begin[:3], begin[3:]))
        for k in range(500, len(states), 500):
            error = momentum(robot, states[k]) - begin
            assert np.abs(error[:3]).max() < 1e-8 * linear
            assert np.abs(error[3:]).max() < 1e-8 * angular
        assert np.abs(begin).min() > 1.0
        assert np.abs(states[-1] - states[0]).max() > 1.0
        for part in robot.quaternions.values():
            assert abs(float(np.linalg.norm(states[-1, part])) - 1.0) < 1e-15


def test_the_error_falls_sixteen_fold_when_the_step_halves() -> None:
    errors = []
    for dt in (1 / 64, 1 / 128, 1 / 256):
        robot, (states,) = flights([2.0], dt, seconds=1.0)
        errors.append(np.abs(momentum(robot, states[-1]) - momentum(robot, states[0])).max())
    for coarse, fine in pairwise(errors):
        assert coarse / fine == pytest.approx(16.0, rel=0.15)
