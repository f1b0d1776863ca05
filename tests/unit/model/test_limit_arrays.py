"""Limits as arrays in the order of q and v, and random configurations within them."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.robots import every_joint, load_robot
from tests.unit.model.bodies import ball

INF = math.inf


def limited(kind: kt.joints.JointKind, number: float) -> kt.model.Limits:
    nq, nv = kind.nq, kind.nv
    return kt.model.Limits((-number,) * nq, (2 * number,) * nq, (3 * number,) * nv, (4 * number,) * nv)


def robot_of(kinds: dict[str, kt.joints.JointKind], **more: Any) -> kt.ModelBuilder:
    """A star of these joints, the k-th with limits of k + 1."""
    builder = kt.ModelBuilder("star")
    builder.add_body("base")
    for k, (name, kind) in enumerate(kinds.items()):
        builder.add_body(f"body of {name}", ball())
        own = {"limits": limited(kind, k + 1.0)} | more.get(name, {})
        builder.add_joint(name, kind, "base", f"body of {name}", **own)
    return builder


X = kt.Prismatic([1, 0, 0])


def test_limits_are_in_the_order_of_q_and_v_and_quaternions_have_none() -> None:
    robot = robot_of(
        {"slide": X, "free": kt.Free(), "ball": kt.joints.Spherical(), "turn": kt.Revolute([0, 0, 1])}
    ).build()
    assert robot.lower.tolist() == [-1, -2, -2, -2, *[-INF] * 8, -4]
    assert robot.upper.tolist() == [2, 4, 4, 4, *[INF] * 8, 8]
    assert robot.velocity_limit.tolist() == [3, *[6] * 6, 9, 9, 9, 12]
    assert robot.effort_limit.tolist() == [4, *[8] * 6, 12, 12, 12, 16]


def test_a_floating_base_and_joints_without_limits_are_infinite() -> None:
    robot = kt.zoo.load("quadruped")
    assert np.isinf(robot.lower[:7]).all()
    assert np.isinf(robot.effort_limit[:6]).all()
    assert np.isfinite(robot.effort_limit[6:]).all()


def test_limits_are_those_of_the_joints_of_a_real_robot() -> None:
    robot = load_robot("panda", mimic=True)
    for joint in robot.joints.values():
        if joint.has_coordinates:
            assert (robot.lower[joint.q_slice].item(), robot.upper[joint.q_slice].item()) == (
                *joint.limits.lower,
                *joint.limits.upper,
            )
            assert robot.velocity_limit[joint.v_slice].tolist() == list(joint.limits.velocity)
            assert robot.effort_limit[joint.v_slice].tolist() == list(joint.limits.effort)


def test_limits_of_followers_are_ignored() -> None:
    robot = robot_of(
        {"lead": X, "after": X}, after={"mimic": kt.model.Mimic("lead"), "limits": limited(X, 0.1)}
    ).build()
    assert (robot.lower.tolist(), robot.upper.tolist(), robot.effort_limit.tolist()) == ([-1], [2], [4])


def test_a_coupling_has_the_limits_that_its_joints_place_on_one_coordinate_alone() -> None:
    builder = robot_of({"a": X, "b": X, "c": X})
    builder.add_coupling("pair", ["a", "b"], [[2.0], [-1.0]], offset=[0.5, 0.0], coordinates=["z"])
    robot = builder.build()
    # a: -1 <= 2 z + 0.5 <= 2; b: -2 <= -z <= 4.
    assert robot.lower.tolist() == [-0.75, -3]
    assert robot.upper.tolist() == [0.75, 6]
    assert robot.velocity_limit.tolist() == [1.5, 9]
    # At the effort limit of the coupling no joint's motor is clipped, beyond it one is.
    v = np.zeros(robot.nv)
    for factor, same in ((0.999, True), (1.001, False)):
        tau = factor * robot.effort_limit * [1, 0]
        assert np.allclose(kt.dynamics.limited_forces(robot, tau, v), tau, rtol=1e-9) == same


def test_limits_that_bind_two_coordinates_together_are_not_in_the_arrays() -> None:
    builder = robot_of({"left": X, "right": X})
    builder.add_coupling("wrist", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    robot = builder.build()
    for array in (robot.lower, robot.upper, robot.velocity_limit, robot.effort_limit):
        assert np.isinf(array).all()


def test_the_arrays_are_read_only_and_survive_a_pickle() -> None:
    robot = kt.zoo.load("arm6")
    with pytest.raises(ValueError, match="read-only"):
        robot.lower[0] = 0.0
    again = pickle.loads(pickle.dumps(robot))
    assert (again.upper == robot.upper).all()


@pytest.mark.parametrize(("size", "shape"), [(5, (5,)), ((2, 3), (2, 3)), ([4], (4,)), ((), ()), (0, (0,))])
def test_random_takes_a_size(size: Any, shape: tuple[int, ...]) -> None:
    robot = every_joint()
    q = robot.random(0, size=size)
    assert q.shape == (*shape, robot.nq)
    assert (q == robot.random(np.random.default_rng(0), size=np.int64(5) if size == 5 else size)).all()
    if q.size:
        robot.check_configuration(q)


def test_random_batches_have_the_distribution_of_single_configurations() -> None:
    robot = robot_of(
        {"slide": X, "free": kt.Free(), "ball": kt.joints.Spherical(), "map": kt.joints.ExponentialMap()}
    ).build()
    batch, rng = robot.random(0, size=4000), np.random.default_rng(1)
    singles = np.array([robot.random(rng) for _ in range(4000)])
    assert ((robot.lower <= batch) & (batch <= robot.upper)).all()
    assert np.allclose(batch.mean(0), singles.mean(0), atol=0.15)
    assert np.allclose(batch.std(0), singles.std(0), atol=0.1)
    assert np.allclose(np.linalg.norm(batch[:, 4:8], axis=-1), 1.0)
    assert len(np.unique(batch[:, 0])) == 4000


def test_random_keeps_to_the_limits_of_couplings() -> None:
    builder = robot_of({"a": X, "b": X}, b={"limits": limited(X, 0.01)})
    builder.add_coupling("pair", ["a", "b"], [[0.5], [0.5]], coordinates=["z"])
    robot = builder.build()
    q = robot.random(0, size=200)
    assert ((robot.lower <= q) & (q <= robot.upper)).all()
    assert all(robot.lower <= robot.random(k) <= robot.upper for k in range(20))


def test_a_robot_without_coordinates_has_empty_arrays() -> None:
    builder = kt.ModelBuilder("stone")
    builder.add_body("stone", ball())
    robot = builder.build()
    assert robot.lower.shape == robot.effort_limit.shape == (0,)
    assert robot.random(0, size=3).shape == (3, 0)


@pytest.mark.parametrize("size", [-1, 2.5, "7", True, (2, -1), (2, "a"), {"a": 1}])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="size is how many"):
        kt.zoo.load("arm6").random(0, size=size)
