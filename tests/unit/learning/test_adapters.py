"""Environments in PyTorch, JAX, Stable-Baselines3 and rsl_rl: the same numbers, in the form that each expects."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import kinetree as kt
from kinetree.learning import Environment

CART = kt.zoo.load("cart_pole")
N = 3
jax.config.update("jax_enable_x64", True)


def cart(**options: Any) -> Environment:
    """Episodes are cut off after 9 steps, and end there, too, where the pole leans to one side; or at the border."""
    return kt.environment(
        CART, dt=0.01, frame_skip=2, max_steps=9, action=([-20.0], [20.0]), contact=False, name="cart",
        clip_actions=True, control=lambda action: {"tau": np.concatenate([action, np.zeros(1)])},
        observe=lambda q, v: {"place": q, "speed": v},
        reward=lambda q, action, weight: {"upright": weight * np.cos(q[1]), "effort": -0.001 * action @ action},
        terminate=lambda q, step: (abs(q[0]) > 0.1) | ((step >= 9) & (q[1] > 0.0)), settings={"weight": 1.0},
        reset=lambda key: {"q": kt.random.uniform(key, 2, -0.08, 0.08)}, **options,
    )  # fmt: skip


ENV = cart()
ACTIONS = np.random.default_rng(0).uniform(-20.0, 20.0, (30, N, 1))


def test_tensors_share_the_memory_of_the_worlds() -> None:
    worlds, expected = ENV.to_torch(N), ENV.reset(3, N)
    with pytest.raises(kt.errors.SimulationError, match="call reset before the first step"):
        worlds.step()
    first = worlds.reset(seed=3)
    assert torch.equal(first.observation, torch.from_numpy(expected.observation))
    places = []
    for action in ACTIONS[:4]:
        worlds.action.numpy()[...] = action
        now, expected = worlds.step(), ENV.step(expected.state, action)
        assert now.state.data_ptr() == worlds.running.now.state.ctypes.data
        assert np.array_equal(now.numbers.numpy(), expected.numbers)
        assert np.array_equal(now.terminated.numpy(), expected.terminated)
        places.append(now.numbers.data_ptr())
    assert places[:2] == places[2:]  # two buffers in turn
    assert places[0] != places[1]
    worlds.settings["weight"] = 2.0
    doubled = worlds.step(torch.zeros(N, 1, dtype=torch.float64))
    assert np.array_equal(
        doubled.reward.numpy(), ENV.step(expected.state, np.zeros((N, 1)), settings={"weight": 2.0}).reward
    )
    before = worlds.worlds.observation.clone()
    after = worlds.reset(mask=torch.tensor([True, False, False])).observation
    assert (after == before).all(1).tolist() == [False, True, True]
    with pytest.raises(kt.errors.ShapeError, match=r"actions have shape \(1,\), but \(3, 1\)"):
        worlds.step(torch.zeros(1))


def test_baselines_see_ends_of_episodes() -> None:
    envs: Any = ENV.to_sb3(N)
    envs.seed(5)
    expected = ENV.reset(5, N)
    assert np.array_equal(envs.reset(), expected.observation)
    kinds = []
    for action in ACTIONS:
        seen, rewards, over, infos = envs.step(action)
        expected = ENV.step(expected.state, action)
        assert np.array_equal(seen, expected.observation)
        assert np.array_equal(rewards, expected.reward.astype(np.float32))
        assert np.array_equal(over, expected.terminated | expected.truncated)
        for i, info in enumerate(infos):
            assert bool(info) == over[i]
            if info:
                assert np.array_equal(info["terminal_observation"], expected.final_observation[i])
                assert info["TimeLimit.truncated"] == (expected.truncated[i] and not expected.terminated[i])
                assert info["episode"]["r"] == expected.episode_return[i]
                assert info["episode"]["l"] == expected.episode_length[i]
                kinds.append(info["TimeLimit.truncated"])
    assert {*kinds} == {True, False}
    assert not np.array_equal(envs.reset(), ENV.reset(5, N).observation)  # the next episodes
    with pytest.raises(kt.errors.OptionError, match="no method 'compute_reward'"):
        envs.env_method("compute_reward")
    with pytest.raises(kt.errors.OptionError, match="'settings' is set for all worlds"):
        envs.set_attr("settings", {}, indices=0)


def test_baselines_learn() -> None:
    envs = VecNormalize(ENV.to_sb3(8, dtype="float32"))
    learner = PPO("MlpPolicy", envs, n_steps=16, batch_size=64, n_epochs=1, seed=0, device="cpu")
    learner.learn(256)
    assert learner.ep_info_buffer
    assert learner.ep_info_buffer[-1]["l"] <= 9
    pictures: Any = ENV.to_sb3(2, render_mode="rgb_array")
    pictures.reset()
    assert pictures.render().shape == (720, 480, 3)
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        VecMonitor(pictures)


def test_rsl_rl_sees_time_outs_and_learns() -> None:
    from rsl_rl.runners import OnPolicyRunner  # takes seconds, in processes that do not run this test, too

    envs = ENV.to_rsl_rl(N, seed=5, groups={"policy": ["place", "speed"], "critic": ["speed"]})
    expected = ENV.reset(5, N)
    outs, both = 0, 0
    for action in ACTIONS:
        seen, rewards, over, extras = envs.step(torch.from_numpy(action))
        expected = ENV.step(expected.state, action)
        assert np.array_equal(seen["policy"].numpy(), expected.observation.astype(np.float32))
        assert np.array_equal(seen["critic"].numpy(), expected.observation[:, 2:].astype(np.float32))
        assert np.array_equal(rewards.numpy(), expected.reward.astype(np.float32))
        assert np.array_equal(over.numpy(), expected.terminated | expected.truncated)
        assert np.array_equal(extras["time_outs"].numpy(), expected.truncated & ~expected.terminated)
        assert np.isclose(extras["log"]["/reward/effort"], expected.recorded["effort"].mean())
        outs, both = outs + expected.truncated.sum(), both + (expected.truncated & expected.terminated).sum()
    assert outs > both > 0
    envs.episode_length_buf = torch.tensor([8, 0, 3])
    assert envs.episode_length_buf.tolist() == [8, 0, 3]
    assert envs.step(torch.zeros(N, 1))[2].tolist()[0] == 1
    with pytest.raises(kt.errors.NameNotFoundError, match="the observation has no part 'speeds'"):
        ENV.to_rsl_rl(N, groups={"policy": ["speeds"]})
    net = {"class_name": "MLPModel", "hidden_dims": [8]}
    actor = {**net, "distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}}
    groups = {"actor": ["policy"], "critic": ["policy", "critic"]}
    learner = OnPolicyRunner(
        envs,
        {"num_steps_per_env": 8, "save_interval": 9, "obs_groups": groups, "algorithm": {"class_name": "PPO"},
         "actor": actor, "critic": net},
    )  # fmt: skip
    learner.learn(2, init_at_random_ep_len=True)


def policy(weights: Any, observation: Any) -> Any:
    return 20.0 * np.tanh(weights.reshape(1, 4) @ observation)


def test_jax_scans_and_has_gradients() -> None:
    functions = ENV.to_jax()
    state, results = jax.jit(functions.reset)(seed=3.0, world=jnp.arange(float(N)))
    expected = ENV.reset(3, N)
    assert np.array_equal(state, expected.state)
    assert np.array_equal(results["observation"], expected.observation)
    end, rows = jax.lax.scan(functions.step, state, jnp.asarray(ACTIONS))
    for k, action in enumerate(ACTIONS):
        expected = ENV.step(expected.state, action)
        assert np.array_equal(rows["reward"][k], expected.reward)
        assert np.array_equal(rows["final_observation"][k], expected.final_observation)
    assert np.array_equal(end, expected.state)
    doubled = jax.vmap(lambda x, u: functions.step(x, u, weight=2.0))(end, jnp.zeros((N, 1)))[1]["reward"]
    assert np.array_equal(doubled, ENV.step(expected.state, np.zeros((N, 1)), settings={"weight": 2.0}).reward)

    first = ENV.reset(3, N)
    weights = np.random.default_rng(1).normal(size=(N, 4))

    def total(w: Any) -> Any:
        def one(now: Any, _: None) -> Any:
            x, seen = now
            x, found = functions.step(x, 20.0 * jnp.tanh(jnp.einsum("nk,nk->n", w, seen))[:, None])
            return (x, found["observation"]), found["reward"]

        return jax.lax.scan(one, (first.state, first.observation), length=4)[1].sum()

    assert np.allclose(jax.grad(total)(weights), gradient(first, weights), atol=1e-12)


def test_gradients_of_many_steps_are_those_of_autograd() -> None:
    first, weights = ENV.reset(3, N), np.random.default_rng(1).normal(size=(N, 4))
    unroll: Any = kt.interop.to_torch(ENV.unroll_program(policy, 4, 4))
    given = torch.from_numpy(weights).requires_grad_()
    weight = torch.ones((), dtype=torch.float64)
    found = unroll(torch.from_numpy(first.state), torch.from_numpy(first.observation), given, weight)
    found["episode_return"].sum().backward()
    assert given.grad is not None
    assert np.array_equal(given.grad.numpy(), gradient(first, weights))


def gradient(first: Any, weights: Any) -> Any:
    """By kinetree's own reverse mode."""
    unroll = ENV.unroll_program(policy, 4, 4)
    given = (first.state, first.observation, weights, 1.0)
    _, found = kt.vjp(unroll, given, {"episode_return": np.ones(N)}, wrt="weights")
    return found["weights"]


PACKAGES = {"gymnasium": "gymnasium", "sb3": "stable_baselines3", "rsl_rl": "rsl_rl", "torch": "torch", "jax": "jax"}


@pytest.mark.parametrize(("adapter", "package"), PACKAGES.items())
def test_a_missing_package_is_said(adapter: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    given = () if adapter == "jax" else (2,)
    with pytest.raises(kt.errors.MissingPackageError, match=rf"env.to_{adapter} needs {package}: pip install") as said:
        getattr(ENV, f"to_{adapter}")(*given)
    extras = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (extra,) = re.findall(r"'kinetree\[(.*)\]'", str(said.value))
    assert extra.replace("_", "-") in extras
