"""Exciting motions: exact derivatives, limits that are kept, and lower condition numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification import exciting_trajectory
from kinetree.identification.excitation.fourier import FourierTrajectory
from kinetree.identification.excitation.limits import bounds_of
from kinetree.identification.excitation.problem import Problem, condition_number, criterion
from kinetree.identification.excitation.search import descend

from .motions import PENDULUM

SPEED = {"velocity_limit": 4.0}


def test_a_fourier_series_knows_its_derivatives(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    motion = FourierTrajectory(PENDULUM, 5.0, np.array([0.3, -0.2]), *rng.normal(size=(2, 2, 4)))
    t = np.linspace(0.0, 5.0, 50)
    here, ahead, back = motion.at(t), motion.at(t + 1e-6), motion.at(t - 1e-6)
    assert np.allclose((ahead.q - back.q) / 2e-6, here.v, atol=1e-6)
    assert np.allclose((ahead.v - back.v) / 2e-6, here.qdd, atol=1e-6)
    assert np.allclose(motion.at(t + 5.0).q, here.q)
    assert motion.at(0.0).q.shape == (2,)
    path = motion.save(tmp_path / "wave", rate=10.0, periods=2)
    table = np.genfromtxt(path, delimiter=",", names=True)
    assert len(table) == 101
    assert path.read_text().startswith(f"time,q.{PENDULUM.q_names[0]},")
    with pytest.raises(kt.errors.OptionError, match="rate must be"):
        motion.save(tmp_path / "wave", rate=0.0)
    with pytest.raises(kt.errors.OptionError, match="periods must be"):
        motion.save(tmp_path / "wave", periods=0)


@pytest.mark.parametrize("kind", ["condition", "determinant"])
def test_a_criterion_knows_its_derivative(kind: str) -> None:
    rng = np.random.default_rng(1)
    W, step = rng.normal(size=(6, 2, 4)), rng.normal(size=(6, 2, 4))
    value, slope = criterion(kind, W)
    change = criterion(kind, W + 1e-6 * step)[0] - criterion(kind, W - 1e-6 * step)[0]
    assert change / 2e-6 == pytest.approx((slope * step).sum(), rel=1e-6)
    if kind == "condition":
        assert np.log(condition_number(W)) <= value <= np.log(condition_number(W)) + np.log(4.0) / 4.0
    assert criterion(kind, np.zeros((6, 2, 4)))[0] == np.inf


@pytest.mark.parametrize("drives", [False, True])
def test_a_problem_knows_its_derivative(drives: bool) -> None:
    @kt.program(q=PENDULUM)
    def height(q):  # type: ignore[no-untyped-def]
        return kt.frame_placement(PENDULUM, q, "tip")[2:3, 3] + 5.0

    base = kt.identification.base_parameters(PENDULUM, drives=drives)
    bounds = bounds_of(PENDULUM, {"velocity": 4.0, "acceleration": 40.0, "effort": 60.0}, 0.05)
    problem = Problem(PENDULUM, base, "condition", 6.0, 3, height, bounds)
    rng = np.random.default_rng(2)
    x = problem.random(rng)
    assert np.allclose(problem.trajectory(x).at(0.0).v, 0.0, atol=1e-12)
    assert np.allclose(problem.trajectory(x).at(0.0).qdd, 0.0, atol=1e-12)
    _, slope = problem.value(x, 0.1)
    step = rng.normal(size=x.size)
    change = problem.value(x + 1e-6 * step, 0.1)[0] - problem.value(x - 1e-6 * step, 0.1)[0]
    assert change / 2e-6 == pytest.approx(slope @ step, rel=1e-5)


def test_a_search_keeps_the_limits_and_gains() -> None:
    found = exciting_trajectory(PENDULUM, **SPEED, effort_limit=40.0, starts=2, steps=40)
    start = exciting_trajectory(PENDULUM, **SPEED, effort_limit=40.0, starts=2, steps=1)
    assert found.condition < 0.7 * start.condition
    fine = found.trajectory.at(np.linspace(0.0, 10.0, 3000))
    assert abs(fine.v).max() <= 4.0
    assert abs(kt.rnea(PENDULUM, *fine)).max() <= 40.0
    assert max(found.used) <= 1.0
    assert np.allclose([fine.v[0], fine.v[-1]], 0.0, atol=1e-9)
    again = exciting_trajectory(PENDULUM, **SPEED, effort_limit=40.0, starts=2, steps=40)
    assert np.array_equal(again.trajectory.sines, found.trajectory.sines)
    by_volume = exciting_trajectory(PENDULUM, **SPEED, effort_limit=40.0, starts=1, steps=40, criterion="determinant")
    assert by_volume.condition > 0.99 * found.condition


def test_what_must_stay_positive_does() -> None:
    @kt.program(q=PENDULUM)
    def below(q):  # type: ignore[no-untyped-def]
        return 0.3 - kt.frame_placement(PENDULUM, q, "tip")[2:3, 3]

    found = exciting_trajectory(
        PENDULUM, **SPEED, starts=1, steps=20, keep_positive=below, position_limit=[[-1, -1], [1, 1]]
    )
    fine = found.trajectory.at(np.linspace(0.0, 10.0, 500))
    assert (kt.frame_placement(PENDULUM, fine.q, "tip")[:, 2, 3] < 0.3).all()


def test_wrong_options_are_reported() -> None:
    wrong = {
        "harmonics": (1, "from 2 to 100"), "starts": (0, "starts must be"), "steps": (1.5, "steps must be"),
        "period": (0.0, "period must be"), "margin": (1.0, "margin must be"),
        "criterion": ("trace", "'condition' or 'determinant'"), "effort_limit": (1e-3, "none of 200 random motions"),
        "position_limit": ([[0.0, 0.0], [0.0, 1.0]], "positions of shoulder leave no range of motion"),
        "rng": ("a", "rng must be a NumPy generator"), "keep_positive": (3, "must be a program of q"),
        "base": (3, "a result of kt.identification.base_parameters"), "velocity_limit": (0.0,
            "must be positive numbers"),
    }  # fmt: skip
    for name, (value, sentence) in wrong.items():
        with pytest.raises(kt.errors.OptionError, match=sentence):
            exciting_trajectory(PENDULUM, **(SPEED | {name: value}))
    with pytest.raises(kt.errors.OptionError, match="no limit of the velocity"):
        exciting_trajectory(PENDULUM)
    with pytest.raises(kt.errors.ShapeError, match="velocity_limit has shape"):
        exciting_trajectory(PENDULUM, velocity_limit=[1.0, 1.0, 1.0])
    with pytest.raises(kt.errors.LogError, match="must have a fixed base"):
        exciting_trajectory(kt.zoo.load("quadruped"))


def test_descent_finds_a_minimum_beside_a_wall() -> None:
    def bowl(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x[0] <= 0.5:
            return np.inf, x
        wall = -1e-3 * np.log(x[0] - 0.5)
        return float(x @ x + wall), 2.0 * x - np.array([1e-3 / (x[0] - 0.5), 0.0])

    assert np.allclose(descend(bowl, np.array([2.0, 3.0]), 100, 1e-12), [0.501, 0.0], atol=1e-3)


def test_half_of_the_margin_is_left_at_either_end() -> None:
    robot = kt.zoo.load("arm6")
    bounds, span = bounds_of(robot, {}, 0.1), robot.upper - robot.lower
    np.testing.assert_allclose(bounds.q[0], robot.lower + 0.05 * span)
    np.testing.assert_allclose(bounds.q[1], robot.upper - 0.05 * span)
    np.testing.assert_allclose(bounds.v[1], 0.9 * robot.velocity_limit)
