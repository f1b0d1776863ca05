"""The limits of real robots as arrays, beside those that Pinocchio reads from the same file."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from tests.robots import each_robot_file, load_robot, robot_path


@pytest.mark.parametrize("file", each_robot_file())
def test_limits_are_those_of_pinocchio(file: str) -> None:
    robot = load_robot(file)
    model = pin.buildModelFromUrdf(str(robot_path(file)))
    for name, ours in robot.joints.items():
        theirs = model.joints[model.getJointId(name)]
        (v,), V = range(robot.nv)[ours.v_slice], theirs.idx_v
        if theirs.nq == 1:  # a continuous joint has two there
            (q,), Q = range(robot.nq)[ours.q_slice], theirs.idx_q
            assert robot.lower[q] == model.lowerPositionLimit[Q]
            assert robot.upper[q] == model.upperPositionLimit[Q]
            limits = (robot.velocity_limit[v], robot.effort_limit[v])
            assert limits == (model.velocityLimit[V], model.effortLimit[V])


def test_batches_of_random_configurations_lie_within_pinocchio_s_limits() -> None:
    robot = load_robot("ur5_robot")
    model = pin.buildModelFromUrdf(str(robot_path("ur5_robot")))
    q = robot.random(0, size=100)
    assert ((model.lowerPositionLimit <= q) & (q <= model.upperPositionLimit)).all()
    assert np.ptp(q, axis=0).min() > 0.8 * (model.upperPositionLimit - model.lowerPositionLimit).min()
