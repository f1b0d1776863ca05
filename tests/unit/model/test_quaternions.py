"""Quaternions in q by the name of a joint or of the body that it moves."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt


@pytest.fixture
def robot() -> kt.Model:
    builder = kt.ModelBuilder("doll")
    ball = kt.solids.sphere(0.1, mass=1.0)
    for name in ("trunk", "leg", "foot", "arm", "hand", "toe"):
        builder.add_body(name, ball)
    builder.add_joint("knee", kt.Revolute([0, 1, 0]), "leg", "foot")
    builder.add_joint("hip", kt.joints.Spherical(), "trunk", "leg")
    builder.add_joint("arm", kt.joints.Composite([kt.Prismatic([1, 0, 0]), kt.joints.Spherical()]), "trunk", "arm")
    builder.add_joint("wrist", kt.joints.ExponentialMap(), "arm", "hand")
    builder.add_joint("glue", kt.Fixed(), "foot", "toe")
    return builder.build(floating_base=True)


def test_joints_and_bodies_have_the_quaternion_that_is_in_q(robot: kt.Model) -> None:
    q = np.arange(2.0 * robot.nq).reshape(2, robot.nq)
    for name, body in {"root_joint": "trunk", "hip": "leg"}.items():
        place = robot.quaternions[name]
        assert np.array_equal(robot.quaternion(q, name), q[:, place])
        assert np.array_equal(robot.quaternion(q, body), q[:, place])
    assert np.array_equal(robot.quaternion(q, "arm"), q[:, robot.quaternions["arm"]])
    robot.quaternion(q, "hip")[:] = 0.0
    assert robot.quaternion(q, "hip").any()


def test_a_quaternion_is_replaced_in_a_copy(robot: kt.Model) -> None:
    q = robot.random(0)
    before = q.copy()
    turns = np.random.default_rng(0).normal(size=(5, 1, 4))
    found = robot.with_quaternion(np.stack([q, q]), "leg", turns)
    assert np.array_equal(q, before)
    assert found.shape == (5, 2, robot.nq)
    assert np.array_equal(robot.quaternion(found, "hip"), np.broadcast_to(turns, (5, 2, 4)))
    others = np.ones(robot.nq, bool)
    others[robot.quaternions["hip"]] = False
    assert np.array_equal(found[..., others], np.broadcast_to(q[others], (5, 2, others.sum())))
    orientation = kt.frame_placement(robot, robot.with_quaternion(robot.neutral(), "trunk", turns[0, 0]), "trunk")
    assert np.allclose(orientation[:3, :3], kt.lie.convert(turns[0, 0], "quaternion", "matrix"), atol=1e-15)


def test_single_precision_stays_single_if_both_are(robot: kt.Model) -> None:
    q, turn = robot.neutral().astype(np.float32), np.ones(4, np.float32)
    assert robot.quaternion(q, "hip").dtype == np.float32
    assert robot.with_quaternion(q, "hip", turn).dtype == np.float32
    assert robot.with_quaternion(q, "hip", [0, 0, 0, 1]).dtype == np.float64
    assert robot.with_quaternion([0] * robot.nq, "hip", turn).dtype == np.float64


def test_what_has_no_quaternion_is_answered_with_what_has(robot: kt.Model) -> None:
    q = robot.neutral()
    have = r"those that have one: 'root_joint', 'hip', 'arm'"
    for name, message in {
        "knee": rf"joint 'knee' \(revolute about y\) has no quaternion in q; {have}",
        "hand": rf"joint 'wrist' \(exponential map\), which moves body 'hand', has no quaternion in q; {have}",
        "toe": rf"no joint moves body 'toe', which is fixed; {have}",
        "hipp": r"'doll' has no joint or body 'hipp': did you mean 'hip'",
    }.items():
        with pytest.raises(kt.errors.NameNotFoundError, match=message):
            robot.quaternion(q, name)
        with pytest.raises(kt.errors.NameNotFoundError, match=message):
            robot.with_quaternion(q, name, [0, 0, 0, 1])
    with pytest.raises(kt.errors.NameNotFoundError, match="given by its name, not 3"):
        robot.quaternion(q, 3)  # type: ignore[arg-type]
    arm = kt.zoo.load("arm6")
    with pytest.raises(kt.errors.NameNotFoundError, match="no joint of this robot has one"):
        arm.quaternion(arm.neutral(), next(iter(arm.joints)))


def test_wrong_arrays_are_refused(robot: kt.Model) -> None:
    q = robot.neutral()
    with pytest.raises(kt.errors.ShapeError, match=r"q has shape \(3,\), but 'doll' needs"):
        robot.quaternion(q[:3], "hip")
    with pytest.raises(kt.errors.ShapeError, match=r"quaternion has shape \(3,\), but a quaternion needs \(…, 4\)"):
        robot.with_quaternion(q, "hip", [0, 0, 1])
    with pytest.raises(
        kt.errors.ShapeError, match=r"leading axes do not broadcast together: q \(2,\), quaternion \(3,\)"
    ):
        robot.with_quaternion(np.stack([q, q]), "hip", np.ones((3, 4)))
    with pytest.raises(kt.errors.DTypeError, match="quaternion must be an array of real numbers"):
        robot.with_quaternion(q, "hip", ["a"] * 4)
    with pytest.raises(
        kt.errors.ConfigurationError, match=r"quaternion\[1\]: the quaternion of joint 'hip' .* is zero"
    ):
        robot.with_quaternion(q, "hip", [[0, 0, 0, 1], [0, 0, 0, 0]])
