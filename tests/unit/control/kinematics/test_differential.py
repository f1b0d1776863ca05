"""Differential inverse kinematics: limits hold, priorities are strict, and nothing is NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import Pose, Position, Posture, differential_inverse_kinematics

ARM = kt.zoo.load("arm7")
Q = np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.8, 0.0])
TOOL = Pose("tool")
GOAL = kt.frame_placement(ARM, Q + 0.2, "tool")
DT = 0.01


def test_it_is_the_newton_step_where_no_limit_is_near() -> None:
    found = differential_inverse_kinematics(ARM, TOOL, GOAL, Q, DT, gain=0.01)
    A, e = -TOOL.error_jacobian(ARM, Q, GOAL), TOOL.error(ARM, Q, GOAL)
    np.testing.assert_allclose(found.v * DT, np.linalg.pinv(A) @ (0.01 * e), rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.left[0], 0.99 * e, rtol=0, atol=1e-7)
    assert found.solved


def test_limits_of_velocity_and_position_hold() -> None:
    speeds, upper = np.full(7, 0.5), ARM.upper.copy()
    upper[1] = Q[1] + 0.001
    q = np.stack([Q, Q, Q])
    q[2, 3] = ARM.upper[3] + 0.02  # outside: it returns
    found = differential_inverse_kinematics(ARM, TOOL, GOAL, q, DT, upper=upper, velocity_limit=speeds)
    assert found.solved.all()
    assert (found.v[0] == found.v[1]).all()
    assert (abs(found.v) <= 0.5 * (1 + 1e-12)).all()
    assert (q + DT * found.v <= np.maximum(upper, q - DT * speeds) + 1e-12).all()
    assert found.v[2, 3] == pytest.approx(-0.5)
    assert abs(abs(found.v[0]).max() - 0.5) < 1e-9
    speeds[:] = 0.0
    assert (differential_inverse_kinematics(ARM, TOOL, GOAL, Q, DT, velocity_limit=speeds).v == 0.0).all()


def test_a_lower_priority_takes_nothing_from_those_before() -> None:
    rest, hand = np.zeros(7), Position("tool")
    place, speeds = GOAL[:3, 3], np.full(7, 2.0)
    alone = differential_inverse_kinematics(ARM, hand, place, Q, DT, gain=0.1, velocity_limit=speeds)
    tasks = [hand, Posture(priority=1), Posture([next(iter(ARM.joints))], priority=2)]
    both = differential_inverse_kinematics(ARM, tasks, [place, rest, rest], Q, DT, gain=0.1, velocity_limit=speeds)
    np.testing.assert_allclose(both.left[0], alone.left[0], rtol=0, atol=1e-9)
    assert np.linalg.norm(both.left[1]) < np.linalg.norm(alone.v * DT - (rest - Q))
    assert (abs(both.v) <= 2.0 + 1e-9).all()


def test_nan_gives_no_velocity() -> None:
    goals = np.stack([GOAL, GOAL])
    goals[0, 1, 3] = np.nan
    found = differential_inverse_kinematics(ARM, TOOL, goals, Q, DT)
    assert found.solved.tolist() == [False, True]
    assert (found.v[0] == 0.0).all()
    assert np.isfinite(found.v).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dt": 0.0}, kt.errors.OptionError, "dt must be a positive number of seconds, not 0.0"),
        ({"q": None}, kt.errors.DTypeError, "q must be an array of real numbers"),
        (
            {"velocity_limit": np.ones((2, 7)), "q": np.tile(Q, (3, 1))},
            kt.errors.ShapeError,
            "q (3,), velocity_limit (2,)",
        ),
        (
            {"gain": 1.5},
            kt.errors.OptionError,
            "gain is the part of the errors that goes within dt, at most 1, not 1.5",
        ),
        ({"damping": -1.0}, kt.errors.OptionError, "damping must be a number from 0 on"),
        ({"velocity_limit": [1.0]}, kt.errors.ShapeError, "velocity_limit has shape (1,)"),
        ({"velocity_limit": -np.ones(7)}, kt.errors.OptionError, "not negative, inf for no limit"),
    ],
)
def test_what_it_refuses(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        differential_inverse_kinematics(ARM, TOOL, GOAL, **({"q": Q, "dt": DT} | options))
    assert message in str(caught.value)
