"""The humanoid G1 on its feet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt

FEET = ["left_ankle_roll_link", "right_ankle_roll_link"]
EXACT: dict[str, Any] = {"noise": {}, "push": None, "randomize": {}}


@pytest.fixture(scope="module")
def env() -> kt.learning.Environment:
    pytest.importorskip("pinocchio")  # beside which the robot's files are installed
    return kt.learning.task("g1_walk", autoreset="disabled", **EXACT)


def test_an_episode_begins_standing(env: kt.learning.Environment) -> None:
    worlds = env.reset(seed=1, worlds=200)
    state = env.parts_of_state(worlds.state)
    corners = kt.forward_kinematics(env.robot, state["q"], frames=FEET)[..., :3, :] @ [
        [-0.05, 0.12, -0.05, 0.12],
        [0.025, 0.03, -0.025, -0.03],
        [-0.035, -0.035, -0.035, -0.035],  # of the spheres' lowest points
        [1.0, 1.0, 1.0, 1.0],
    ]
    assert abs(corners[:, :, 2]).max() < 0.04
    assert abs(np.median(corners[:, :, 2]) - 0.01) < 0.002
    yaw = np.arctan2(state["q"][:, 5], state["q"][:, 6])
    assert np.ptp(2.0 * yaw) > 6.0
    low, high = [-0.5, -0.3, -0.8], [1.0, 0.3, 0.8]
    command = state["command"]
    assert ((command >= low) & (command <= high)).all()
    assert 0.03 < (command == 0.0).all(axis=1).mean() < 0.2


def test_rewards_and_observations_are_those_of_the_state(env: kt.learning.Environment) -> None:
    worlds = env.reset(seed=2, worlds=50)
    actions = np.random.default_rng(2).uniform(-0.5, 0.5, (20, 50, 12))
    for action in actions:
        worlds = env.step(worlds.state, action)
    state, shapes = env.parts_of_state(worlds.state), env.observation_parts
    ends = np.cumsum([x[0] for x in shapes.values()])
    seen = dict(zip(shapes, np.split(worlds.observation, ends[:-1], axis=1), strict=True))
    q, v, command = state["q"], state["v"], state["command"]
    R = kt.forward_kinematics(env.robot, q, frames=["pelvis"])[:, 0, :3, :3]
    assert np.allclose(seen["down"], -R[:, 2], rtol=0, atol=1e-12)
    assert np.allclose(np.concatenate([seen["velocity"], seen["rates"], 20.0 * seen["speeds"]], axis=1), v)
    assert (seen["last"] == actions[-1]).all()
    assert np.allclose(worlds.recorded["upright"], -0.04 * (R[:, 2, :2] ** 2).sum(axis=1))
    error = ((command[:, :2] - v[:, :2]) ** 2).sum(axis=1)
    assert np.allclose(worlds.recorded["velocity"], 0.02 * (np.exp(-error / 0.5) + np.exp(-error / 0.1)))
    speeds = kt.kinematics.body_velocities(env.robot, q, v, frames=FEET, expressed_in="local_world_aligned")
    lifting = np.sin(2.0 * np.pi * (state["phase"][:, None] + [0.0, 0.5])) * (command != 0.0).any(axis=1)[:, None]
    slips = ((lifting <= 0.0) * (speeds[:, :, :2] ** 2).sum(axis=2)).sum(axis=1)
    assert np.allclose(worlds.recorded["slip"], -0.002 * slips)
    smooth = ((actions[-1] - 2.0 * actions[-2] + actions[-3]) ** 2).sum(axis=1)
    assert np.allclose(worlds.recorded["smoothness"], -2e-4 * smooth)
    assert np.allclose(sum(worlds.recorded.values()), worlds.reward)


def test_worlds_stay_sound_and_end_lying(env: kt.learning.Environment) -> None:
    rng, worlds, lengths = np.random.default_rng(3), env.reset(seed=3, worlds=64), np.zeros(64)
    for _ in range(150):
        worlds = env.step(worlds.state, rng.uniform(-2.0, 2.0, (64, 12)))
        assert not worlds.fault.any()
        assert abs(worlds.observation).max() < 50.0
        lengths += ~worlds.terminated
    assert (lengths > 15).all()
    assert worlds.terminated.mean() > 0.9
    worlds = env.restart(worlds, worlds.terminated)
    assert not env.step(worlds.state, np.zeros((64, 12))).terminated.any()


def test_the_servos_hold_a_robot_that_hangs(env: kt.learning.Environment) -> None:
    robot = env.robot.with_gravity((0.0, 0.0, 0.0))
    q = env.parts_of_state(env.reset(seed=4).state)["q"].copy()
    q[2] += 1.0
    home = kt.rollout(robot, q, np.zeros(18), None, 0.005, ctrl=np.tile(q[7:] + 0.1, (400, 1)))[-1]
    assert np.allclose(home[7:19], q[7:] + 0.1, rtol=0, atol=1e-3)


def test_a_robot_that_stands_has_no_commands() -> None:
    pytest.importorskip("pinocchio")
    env = kt.learning.task("g1_stand", moving="all")
    assert env.action_size == 29
    assert env.name == "g1_stand"
    worlds = env.reset(seed=0, worlds=20)
    assert (env.parts_of_state(worlds.state)["command"] == 0.0).all()
    with pytest.raises(kt.errors.OptionError, match="moving"):
        kt.learning.task("g1_stand", moving="arms")
