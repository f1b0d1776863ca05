"""Where searches start: everywhere within the limits, and turned to all sides where there are none."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.control import LookAt, Position, inverse_kinematics
from kinetree.control.kinematics.coordinates import Coordinates


def ball_arm() -> kt.Model:
    """A shoulder that turns in all directions, an elbow, and a hand that rolls."""
    builder = kt.ModelBuilder("ball_arm")
    for name in ("base", "upper", "lower", "hand"):
        builder.add_body(name, kt.solids.cylinder(0.03, 0.3, density=500.0, placement=kt.lie.placement((0, 0, 0.15))))
    bent, rolled = (
        kt.model.Limits(lower=(a,), upper=(b,), velocity=(9.0,), effort=(9.0,)) for a, b in ((0.5, 1.5), (-1, 1))
    )
    at_the_end = kt.lie.placement((0, 0, 0.3))
    builder.add_joint("shoulder", kt.joints.Spherical(), "base", "upper", at_the_end)
    builder.add_joint("elbow", kt.Revolute([0, 1, 0]), "upper", "lower", at_the_end, limits=bent)
    builder.add_joint("roll", kt.Revolute([0, 0, 1]), "lower", "hand", at_the_end, limits=rolled)
    return builder.build()


ROBOT = ball_arm()


def test_starts_are_spread_evenly() -> None:
    at = Coordinates(ROBOT)
    assert at.drawn == 5
    shift = np.random.default_rng(0).random(5)
    q = np.array([at.start(k, ROBOT.neutral(), ROBOT.lower, ROBOT.upper, shift) for k in range(4000)])
    assert (q[:, 4:] >= ROBOT.lower[4:]).all()
    assert (q[:, 4:] <= ROBOT.upper[4:]).all()
    counts = np.histogram2d(q[:, 4], q[:, 5], bins=4)[0]
    np.testing.assert_allclose(counts, 250.0, atol=15.0)
    np.testing.assert_allclose(np.linalg.norm(q[:, :4], axis=1), 1.0)
    R = kt.frame_placement(ROBOT, q, "upper")[:, :3, :3]
    np.testing.assert_allclose(R.mean(axis=0), 0.0, atol=0.01)  # as of a rotation that is uniform
    np.testing.assert_allclose((R**2).mean(axis=0), 1.0 / 3.0, atol=0.01)


def test_a_free_joint_starts_where_it_is() -> None:
    robot = kt.zoo.load("quadruped")
    at, q0 = Coordinates(robot), robot.random(0)
    q = at.start(3.0, q0, robot.lower, robot.upper, np.zeros(at.drawn))
    assert at.drawn == 12
    assert (q[:7] == q0[:7]).all()
    assert (q[7:] != q0[7:]).all()


def test_other_attitudes_of_a_ball_joint_are_tried() -> None:
    tasks = [Position("hand", at=[0.1, 0.1, 0.3]), LookAt("hand")]
    goals = [np.stack([task.present(ROBOT, q) for q in ROBOT.random(0, size=100)]) for task in tasks]
    found = inverse_kinematics(ROBOT, tasks, goals)
    assert found.reached.all()
    assert (found.starts > 1).any()
