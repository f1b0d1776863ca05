"""Simulations under external forces: constant, or a row per step, with their work accounted for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt

ROBOT = kt.zoo.load("quadruped")
Q = ROBOT.neutral()
PUSH = kt.dynamics.ForceOn("trunk", "local_world_aligned")


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_known_torques_and_a_controller_are_pushed_alike_and_energy_balances(integrator: Any) -> None:
    rows = np.zeros((60, 6))
    rows[20:40] = [30.0, 5.0, 0.0, 0.1, 0.0, 0.05]  # a push in the middle
    forces: Any = {PUSH: rows, "hind_left_foot": [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]}
    settings: Any = {"q": Q, "duration": 0.06, "integrator": integrator, "f_ext": forces}
    held = kt.simulate(ROBOT, **settings)
    called = kt.simulate(ROBOT, tau=lambda _t, _q, _v: np.zeros(ROBOT.nv), **settings)
    for field in ("q", "v", "work", "dissipated"):
        np.testing.assert_allclose(getattr(called, field), getattr(held, field), rtol=0, atol=1e-12)
    assert abs(held.work[-1]) > 0.01
    assert np.abs(held.balance_error).max() < (1e-7 if integrator == "rk4" else 0.05)
    free = kt.simulate(ROBOT, q=Q, duration=0.06, integrator=integrator, f_ext={"hind_left_foot": [0, 0, 3, 0, 0, 0]})
    np.testing.assert_allclose(free.q[:21], held.q[:21], rtol=0, atol=1e-13)
    assert np.abs(free.q[21] - held.q[21]).max() > 1e-6


def test_a_constant_push_is_that_of_a_rollout() -> None:
    w = np.array([5.0, 1.0, -2.0, 0.1, 0.2, 0.3])
    motion = kt.simulate(ROBOT, q=Q, duration=0.02, passive=False, integrator="semi_implicit_euler", f_ext={PUSH: w})
    states = kt.rollout(ROBOT, Q, np.zeros(ROBOT.nv), np.zeros((20, ROBOT.nv)), 1e-3, {PUSH: w})
    np.testing.assert_allclose(np.hstack([motion.q, motion.v])[1:], states, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("f_ext", "error", "message"),
    [
        ([1.0], kt.errors.DTypeError, "f_ext must be a dict from frame names"),
        ({"trunc": np.zeros(6)}, kt.errors.NameNotFoundError, "no frame 'trunc': did you mean 'trunk'"),
        (
            {"trunk": np.zeros((5, 6))},
            kt.errors.ShapeError,
            r"f_ext\['trunk'\] has shape \(5, 6\), but a motion of 10 steps",
        ),
        ({"trunk": [np.nan] * 6}, kt.errors.ConfigurationError, r"f_ext\['trunk'\] must be finite"),
        ({PUSH: "up"}, kt.errors.DTypeError, r"f_ext\[ForceOn\('trunk', 'local_world_aligned'\)\]"),
    ],
)
def test_wrong_forces_are_refused_in_words(f_ext: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.simulate(ROBOT, duration=0.01, f_ext=f_ext)
