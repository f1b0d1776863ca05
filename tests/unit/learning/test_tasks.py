"""Tasks that come with kinetree: those of gymnasium beside gymnasium, and the others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.interop import Layout
from kinetree.learning.tasks.derived import Derived

IDS = {
    "hopper": "Hopper-v5", "half_cheetah": "HalfCheetah-v5", "walker": "Walker2d-v5", "ant": "Ant-v5",
    "humanoid": "Humanoid-v5", "reacher": "Reacher-v5",
}  # fmt: skip
STEPS = 15
"""The half-cheetah is chaotic: later, differences of rounding are above 1e-9 in MuJoCo beside itself, too."""
MOST = [*(name for name in IDS if name != "humanoid"), pytest.param("humanoid", marks=pytest.mark.deep)]
"""The humanoid takes long to compile."""


def solved(name: str, **options: Any) -> Any:
    """Gymnasium's environment, whose contacts are solved to rounding."""
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("mujoco")
    env = gymnasium.make(IDS[name], **options).unwrapped
    env.model.opt.tolerance, env.model.opt.iterations = 0.0, 500
    env.model.opt.ls_tolerance, env.model.opt.ls_iterations = 1e-14, 200
    return env


def started(env: kt.learning.Environment, theirs: Any) -> Any:
    """One world in the state in which gymnasium's episode begins."""
    worlds = env.reset(worlds=1)
    now, (q, v) = env.parts_of_state(worlds.state), (theirs.data.qpos, theirs.data.qvel)
    layout = Layout(env.robot, "mujoco")
    now["q"][0], now["v"][0] = layout.q_from(q), layout.v_from(q, v)
    now.get("at_q", now["q"])[...], now.get("at_v", now["v"])[...] = now["q"], now["v"]
    if "x" in now:
        torso, center = now["q"][0, 0], kt.center_of_mass(env.robot, now["q"][0])[0]
        now["x"][...] = torso if env.name == "ant" else center
    return worlds


@pytest.mark.parametrize("name", MOST)
def test_steps_are_those_of_gymnasium(name: str) -> None:
    theirs, env = solved(name), kt.learning.task(name)
    theirs.reset(seed=1)
    worlds, rng = started(env, theirs), np.random.default_rng(1)
    assert (env.action_low == theirs.model.actuator_ctrlrange[:, 0]).all()
    assert (env.action_high == theirs.model.actuator_ctrlrange[:, 1]).all()
    forces = [0.0]
    for _ in range(STEPS):
        action = rng.uniform(env.action_low, env.action_high)
        seen, reward, is_over, _, _ = theirs.step(action)
        worlds = env.step(worlds.state, action[None])
        assert np.allclose(worlds.final_observation[0], seen, rtol=1e-12, atol=1e-9)
        assert np.allclose(worlds.reward, reward, rtol=0, atol=1e-9)
        assert worlds.terminated[0] == is_over
        forces.append(np.abs(theirs.data.cfrc_ext).max())
        if is_over:
            break
    assert name == "reacher" or max(forces) > 1.0  # something has touched the ground


@pytest.mark.parametrize("name", IDS)
def test_episodes_begin_as_those_of_gymnasium(name: str) -> None:
    stats = pytest.importorskip("scipy.stats")
    theirs = solved(name)
    theirs.reset(seed=0)
    seen = np.array([theirs.reset()[0] for _ in range(400)])
    own = kt.learning.task(name).reset(seed=0, worlds=4000).observation
    assert np.allclose(own.min(axis=0), seen.min(axis=0), rtol=0.2, atol=0.2)
    for k in np.flatnonzero(np.ptp(own, axis=0) > 1e-9):
        assert stats.ks_2samp(own[:, k], seen[:, k]).pvalue > 1e-5, k
    still = np.ptp(own, axis=0) <= 1e-9
    assert np.allclose(own[0, still], seen[0, still], rtol=0, atol=1e-9)


OPTIONS: dict[str, dict[str, Any]] = {
    "hopper": {"healthy_state_range": (-3.0, 3.0), "forward_reward_weight": 2.0, "healthy_reward": 0.5},
    "half_cheetah": {"ctrl_cost_weight": 1.0, "exclude_current_positions_from_observation": False},
    "walker": {"terminate_when_unhealthy": False, "healthy_z_range": (1.2, 2.0), "frame_skip": 2},
    "ant": {"contact_force_range": (-2.0, 3.0), "contact_cost_weight": 0.1, "include_cfrc_ext_in_observation": False},
    "humanoid": {
        "include_cinert_in_observation": False, "include_cvel_in_observation": False,
        "include_qfrc_actuator_in_observation": False, "contact_cost_range": (0.1, 0.2),
    },
    "reacher": {"reward_dist_weight": 2.0, "reward_control_weight": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("name", MOST)
def test_options_are_those_of_gymnasium(name: str) -> None:
    theirs, env = solved(name, **OPTIONS[name]), kt.learning.task(name, **OPTIONS[name])
    theirs.reset(seed=2)
    worlds, rng = started(env, theirs), np.random.default_rng(2)
    for _ in range(10):
        action = rng.uniform(env.action_low, env.action_high)
        seen, reward, is_over, _, _ = theirs.step(action)
        worlds = env.step(worlds.state, action[None])
        assert np.allclose(worlds.final_observation[0], seen, rtol=1e-12, atol=1e-9)
        assert np.allclose(worlds.reward, reward, rtol=0, atol=1e-9)
        assert worlds.terminated[0] == is_over
        if is_over:
            break


def test_derived_quantities_feel_parameters() -> None:
    robot = kt.load("ant", source="gymnasium")
    derived, q, v = Derived(robot), robot.neutral(), np.ones(robot.nv)
    q[2] = 0.15  # the torso slides on the ground
    assert derived.inertias(q, {"body.torso.mass": 7.0})[0, 9] == 7.0
    pulls = []
    for friction in (0.1, 1.0):
        own = {f"shape.{geom}.friction": np.full(3, friction) for geom in ("floor", "torso_geom")}
        qdd = kt.contact_dynamics(robot, q, v, np.zeros(robot.nv), parameters=own).qdd
        _, _, _, x, y, z = derived.contact_wrenches(q, v, qdd, own)[0]
        pulls.append(np.hypot(x, y) / z)
    assert pulls[0] < 0.15 < 0.3 < pulls[1]


def test_a_pole_is_swung_up() -> None:
    env = kt.learning.task("cart_pole")
    worlds = env.reset(seed=3, worlds=4)
    assert np.allclose(worlds.observation[:, 1], -1.0, atol=0.02)
    for _ in range(200):  # towards where the pole falls, until it is above the cart; then the cart stops
        _, cosine, _, speed, rate = worlds.observation.T
        pump = np.where(rate * cosine > 0.0, 0.5, -0.5)
        action = np.clip(np.where(cosine > 0.5, -0.2 * speed, pump), -1.0, 1.0)
        worlds = env.step(worlds.state, action[:, None])
        assert ((worlds.reward >= 0.0) & (worlds.reward <= 1.0)).all()


def test_a_cart_that_leaves_its_rail_ends_the_episode() -> None:
    env = kt.learning.task("cart_pole", autoreset="disabled")
    worlds = env.reset(seed=3, worlds=1)
    while not worlds.terminated[0]:
        worlds = env.step(worlds.state, np.ones((1, 1)))
    assert worlds.observation[0, 0] >= 2.4
    assert worlds.episode_length[0] < 60


def test_a_task_that_there_is_not() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match="'hoper'; the tasks are 'cart_pole', 'reacher', 'hopper'"):
        kt.learning.task("hoper")


def test_an_update_may_take_where_forces_were_evaluated() -> None:
    robot = kt.zoo.load("cart_pole")
    given: dict[str, Any] = {
        "observe": lambda at: at, "reward": lambda q: q[0], "memory": {"at": 6},
        "update": lambda evaluated: {"at": np.concatenate(evaluated)},
    }  # fmt: skip
    env = kt.environment(robot, **given, dt=0.01, frame_skip=3, integrator="rk4", contact=False)
    worlds = env.reset(worlds=1)
    env.parts_of_state(worlds.state)["q"][...] = [0.1, 0.5]
    worlds = env.step(worlds.state, np.array([[2.0, 0.0]]))
    tau = np.tile([2.0, 0.0], (3, 1))
    found = kt.rollout(
        robot, [0.1, 0.5], np.zeros(2), tau, 0.01, integrator="rk4", passive=True, report="evaluated", divide=False
    )
    assert (worlds.final_observation[0] == np.concatenate([x[-1] for x in found[1:]])).all()
    with pytest.raises(kt.errors.NameNotFoundError, match="update takes 'evaluated'"):
        kt.environment(robot, **given, physics=lambda q: {"q": q}, action=1, dt=0.01)


@pytest.mark.parametrize("name", kt.learning.tasks.NAMES)
def test_episodes_begin_well(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", kt.errors.SimulationWarning)
        env = kt.learning.task(name)
        env.check()
    assert env.name == name  # by which its trainings know it
