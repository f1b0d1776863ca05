"""Motors act through the selection matrix: τ = Sᵀ u."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from tests.laws.reference import close, reference
from tests.strategies import State, law, states, trees


@st.composite
def actuated_trees(draw: st.DrawFn) -> tuple[kt.Model, State]:
    """Random trees with motors on some degrees of freedom of each joint, and a state of it."""
    robot = draw(trees(max_joints=5))
    own = [joint for joint in robot.joints.values() if joint.name != "root_joint" or not robot.floating_base]
    count = {joint.name: joint.kind.nv for joint in own}
    given = {name: draw(st.lists(st.booleans(), min_size=nv, max_size=nv)) for name, nv in count.items()}
    changed = robot.with_actuation(given)
    flags = [flag for name in robot.joints for flag in given.get(name, [False] * 6)]
    assert changed.actuated.tolist() == flags
    return changed, draw(states(changed))


@law(20)
@given(actuated_trees())
def test_motor_torques_act_where_there_are_motors_and_come_back(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    S = robot.selection_matrix
    np.testing.assert_array_equal(S @ S.T, np.eye(len(S)))
    np.testing.assert_array_equal(S.T @ S, np.diag(robot.actuated).astype(float))
    u = S @ s.tau
    tau = S.T @ u
    assert not tau[~robot.actuated].any()
    np.testing.assert_array_equal(S @ tau, u)
    robot.check_actuation(tau)
    close((S @ s.v) @ u, s.v @ tau)  # the motors' power


@law(20)
@given(actuated_trees())
def test_a_robot_moves_alike_whatever_is_said_of_its_motors(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    plain = kt.from_text(kt.to_text(robot))
    assert plain == robot
    everywhere = robot.with_actuation(
        {joint.name: True for joint in robot.joints.values() if joint.name != "root_joint" or not robot.floating_base}
    )
    close(reference(kt.rnea, robot, s.q, s.v, s.qdd), reference(kt.rnea, everywhere, s.q, s.v, s.qdd))


@law(10)
@given(actuated_trees())
def test_changes_keep_motors(case: tuple[kt.Model, State]) -> None:
    robot, _ = case
    for changed in (robot.scaled(1.5), robot.in_principal_axes(), kt.model.merge([robot], name="world")):
        np.testing.assert_array_equal(changed.actuated, robot.actuated)
