"""Derivatives of inverse kinematics: how a solution moves with its target, as the implicit function theorem says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import Position, Posture, inverse_kinematics_program

ROBOT = kt.zoo.load("double_pendulum")
BOTH, HEIGHT = Position("tip", axes="xz"), Position("tip", axes="z")
Q = np.array([0.4, 0.9])
TARGET = kt.frame_placement(ROBOT, Q, "tip")[:3, 3]
FREE = np.full(2, -np.inf), np.full(2, np.inf)


def arguments(rows: int, **others: Any) -> dict[str, Any]:
    usual = {
        "q0": Q + 0.1, "target": TARGET, "lower": FREE[0], "upper": FREE[1], "weights": np.ones(rows),
        "tolerance": 1e-11, "starts": 3.0, "evaluations": 200.0, "shift": np.zeros(2),
    }  # fmt: skip
    return usual | others


def by(program: kt.programs.Program, wrt: Any, **given: Any) -> Any:
    return kt.jacobian(program, given, wrt=wrt)


@pytest.fixture(scope="module")
def both() -> kt.programs.Program:
    return inverse_kinematics_program(ROBOT, BOTH)


@pytest.fixture(scope="module")
def height() -> kt.programs.Program:
    return inverse_kinematics_program(ROBOT, HEIGHT)


def test_a_solution_follows_its_target(both: kt.programs.Program) -> None:
    given = arguments(2)
    found, slopes = both(**given), by(both, ("target", "q0", "weights"), **given)
    assert found.reached
    A = BOTH.jacobian(ROBOT, found.q, TARGET)
    np.testing.assert_allclose(slopes["target"].q[:, [0, 2]], np.linalg.inv(A), atol=1e-9)
    assert (slopes["target"].q[:, 1] == 0.0).all()
    np.testing.assert_allclose(slopes["target"].errors, 0.0, atol=1e-9)
    moved = [
        both(**arguments(2, target=TARGET + d, q0=found.q)).q for d in 1e-5 * np.array([np.eye(3), -np.eye(3)])[:, 2]
    ]
    np.testing.assert_allclose(slopes["target"].q[:, 2], (moved[0] - moved[1]) / 2e-5, atol=1e-7)
    for name in ("q0", "weights"):
        np.testing.assert_allclose(slopes[name].q, 0.0, atol=1e-9)


def test_forward_and_backward_agree_in_batches(both: kt.programs.Program) -> None:
    targets = TARGET + np.random.default_rng(0).uniform(-0.02, 0.02, (20, 3))
    given = arguments(2, target=targets)
    matrix = by(both, "target", **given).q
    _, along = kt.jvp(both, given, {"target": np.array([0.3, 0.1, -0.2])})
    np.testing.assert_allclose(along.q, matrix @ [0.3, 0.1, -0.2], atol=1e-12)
    weights = {"q": np.array([1.0, -2.0])}
    _, back = kt.vjp(both, given, [weights.get(name) for name in both(**given)._fields])
    np.testing.assert_allclose(back["target"], [1.0, -2.0] @ matrix, atol=1e-12)


def test_freedom_that_is_left_is_not_used(height: kt.programs.Program) -> None:
    """Of all motions of the joints that keep a point at its height, the shortest one is taken."""
    given = arguments(1)
    q, slope = height(**given).q, by(height, "target", **given).q
    np.testing.assert_allclose(slope[:, [2]], np.linalg.pinv(HEIGHT.jacobian(ROBOT, q, TARGET)), atol=1e-7)


def test_coordinates_at_a_limit_move_with_it(height: kt.programs.Program) -> None:
    lower = np.array([0.41, -np.inf])
    given = arguments(1, lower=lower, q0=[0.41, 1.1])
    found, slopes = height(**given), by(height, ("target", "lower"), **given)
    assert found.reached
    assert found.q[0] == lower[0]
    ((a, b),) = HEIGHT.jacobian(ROBOT, found.q, TARGET)
    np.testing.assert_allclose(slopes["target"].q[:, 2], [0.0, 1.0 / b], atol=1e-9)
    np.testing.assert_allclose(slopes["lower"].q[:, 0], [1.0, -a / b], atol=1e-9)
    np.testing.assert_allclose(slopes["lower"].q[:, 1], 0.0, atol=1e-9)


def test_they_are_finite_where_nothing_is_reached(both: kt.programs.Program) -> None:
    """Out of reach, and exactly stretched, where the derivatives of the errors have no full rank."""
    far = arguments(2, target=5.0 * TARGET)
    assert not both(**far).reached
    straight = kt.frame_placement(ROBOT, np.zeros(2), "tip")[:3, 3]
    at_the_end = arguments(2, target=straight, q0=np.zeros(2))
    assert both(**at_the_end).reached
    for given in (far, at_the_end):
        slope = by(both, "target", **given).q
        assert np.isfinite(slope).all()
        assert abs(slope).max() < 1e5


def test_lower_priorities_move_in_what_is_left() -> None:
    """A joint that is moved at will, while the other keeps the height."""
    elbow = Posture(["elbow"], priority=1)
    ik = inverse_kinematics_program(ROBOT, [HEIGHT, elbow])
    names = {"target": "target_0"}
    given = {names.get(name, name): x for name, x in arguments(2).items()} | {"target_1": Q}
    found, slopes = ik(**given), by(ik, ("target_0", "target_1"), **given)
    assert found.reached
    np.testing.assert_allclose(found.errors, 0.0, atol=1e-6)
    ((a, b),) = HEIGHT.jacobian(ROBOT, found.q, TARGET)
    np.testing.assert_allclose(slopes["target_1"].q[:, 1], [-b / a, 1.0], atol=1e-6)
    np.testing.assert_allclose(slopes["target_0"].q[:, 2], [1.0 / a, 0.0], atol=1e-6)


def test_second_derivatives_are_refused(both: kt.programs.Program) -> None:
    given, weights = arguments(2), (np.ones(2), None, None, None, None)
    with pytest.raises(kt.errors.OptionError, match="first derivatives only"):
        kt.hvp(both, given, weights, {"target": TARGET}, wrt="target")


def test_coordinates_at_an_upper_limit_move_with_it(height: kt.programs.Program) -> None:
    """The mirror image of a lower one: the height is even in q."""
    lower = arguments(1, lower=np.array([0.41, -np.inf]), q0=[0.41, 1.1])
    upper = arguments(1, upper=np.array([-0.41, np.inf]), q0=[-0.41, -1.1])
    assert height(**upper).q[0] == -0.41
    there, here = (by(height, ("target", name), **given) for name, given in (("lower", lower), ("upper", upper)))
    np.testing.assert_allclose(here["upper"].q, there["lower"].q, atol=1e-9)
    np.testing.assert_allclose(here["target"].q[:, 2], -there["target"].q[:, 2], atol=1e-9)


def test_where_tasks_contradict_each_other_a_solution_follows_their_weights() -> None:
    """A point between two targets: x = (w₁ x₁ + w₂ x₂) / (w₁ + w₂)."""
    ik = inverse_kinematics_program(ROBOT, [BOTH, BOTH])
    one, other, w = TARGET, TARGET + np.array([2e-3, 0.0, 1e-3]), np.array([3.0, 3.0, 1.0, 1.0])
    given = arguments(4, weights=w, target_0=one, target_1=other)
    del given["target"]
    q, slopes = ik(**given).q, by(ik, "weights", **given).q
    along = BOTH.jacobian(ROBOT, q, TARGET) @ slopes
    apart = (other - one)[[0, 2]]
    expected = np.outer(apart, [-w[2], w[0]]) / (w[0] + w[2]) ** 2  # by the weights of both, where these are alike
    np.testing.assert_allclose(along[:, :2].sum(axis=1), expected[:, 0], rtol=1e-2)
    np.testing.assert_allclose(along[:, 2:].sum(axis=1), expected[:, 1], rtol=1e-2)


def test_the_weight_of_a_task_that_is_alone_in_its_priority_changes_nothing() -> None:
    ik = inverse_kinematics_program(ROBOT, [HEIGHT, Posture(priority=1)])
    given = {"target_0" if name == "target" else name: x for name, x in arguments(3).items()} | {"target_1": Q + 0.2}
    light, heavy = ({**given, "weights": np.array([1.0, w, w])} for w in (1.0, 9.0))
    np.testing.assert_allclose(ik(**heavy).q, ik(**light).q, atol=1e-6)
    slopes = [by(ik, ("target_0", "target_1"), **x) for x in (light, heavy)]
    for name in slopes[0]:
        np.testing.assert_allclose(slopes[1][name].q, slopes[0][name].q, atol=1e-6)
