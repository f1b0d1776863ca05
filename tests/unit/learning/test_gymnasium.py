"""Environments in Gymnasium, beside its own vector of single environments, to the bit; its checker and wrappers."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

import kinetree as kt
from kinetree.learning import Environment

CART = kt.zoo.load("cart_pole")
N = 4


def cart(**options: Any) -> Environment:
    """Episodes end after 12 steps, or sooner at the border."""
    return kt.environment(
        CART, dt=0.01, frame_skip=2, max_steps=12, action=([-20.0], [20.0]), contact=False, name="cart",
        control=lambda action: {"tau": np.concatenate([action, np.zeros(1)])},
        observe=lambda q, v: np.concatenate([q, v]),
        reward=lambda q, action: {"upright": np.cos(q[1]), "effort": -0.001 * action @ action},
        terminate=lambda q: abs(q[0]) > 0.1,
        reset=lambda key: {"q": kt.random.uniform(key, 2, -0.08, 0.08)},
        record=lambda q, v: {"place": q[0], "speeds": v},
        **options,
    )  # fmt: skip


ENV = cart()


def check_same(a: Any, b: Any, where: str) -> None:
    if isinstance(a, dict):
        assert {*a} == {*b}, where
        for name in a:
            check_same(a[name], b[name], f"{where} {name}")
        return
    assert (a.dtype, a.shape) == (b.dtype, b.shape), where
    if a.dtype == np.object_:
        assert [x is None for x in a] == [x is None for x in b], where
        a, b = (np.stack([x for x in y if x is not None]) for y in (a, b))
        assert a.dtype == b.dtype, where
    assert a.tobytes() == b.tobytes(), where


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_many_worlds_are_gymnasiums_vector_of_single_ones(mode: AutoresetMode, dtype: str) -> None:
    names = {AutoresetMode.SAME_STEP: "same_step", AutoresetMode.NEXT_STEP: "next_step"}
    theirs: Any = SyncVectorEnv([lambda: ENV.to_gymnasium(dtype=dtype)] * N, autoreset_mode=mode)
    ours = ENV.to_gymnasium([0] * N, autoreset=names.get(mode, "disabled"), dtype=dtype)
    assert ours.metadata["autoreset_mode"] is mode
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    check_same(theirs.reset(seed=7)[0], ours.reset(seed=[7 + i for i in range(N)])[0], "reset")
    draws, ends = np.random.default_rng(0), [0, 0]
    for k in range(50):
        actions = draws.uniform(-20.0, 20.0, (N, 1))
        expected, found = theirs.step(actions), ours.step(actions)
        for i in range(5):
            check_same(expected[i], found[i], f"{mode} {k} {i}")
        over = found[2] | found[3]
        ends = [ends[0] + found[2].sum(), ends[1] + found[3].sum()]
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(kt.errors.SimulationError, match=r"episode of world \d has ended"):
                ours.step(actions)
            first, second = ({"reset_mask": over.copy()} for _ in range(2))
            seed = [None, 3, None, 5] if k % 2 else None
            check_same(theirs.reset(seed=seed, options=first)[0], ours.reset(seed=seed, options=second)[0], "masked")
    assert min(ends) > 3
    check_same(theirs.reset()[0], ours.reset()[0], "the next episodes")


def test_worlds_are_those_of_the_environment() -> None:
    envs, worlds = ENV.to_gymnasium(range(2, 5)), ENV.reset(3, range(2, 5))
    first, infos = envs.reset(seed=3)
    assert np.array_equal(first, worlds.observation)
    assert infos == {}
    actions = np.ones((3, 1))
    seen, rewards, _, _, infos = envs.step(actions)
    worlds = ENV.step(worlds.state, actions)
    assert np.array_equal(seen, worlds.observation)
    assert np.array_equal(rewards, infos["reward_upright"] + infos["reward_effort"])
    envs.step(actions), envs.step(actions)
    assert np.array_equal(seen, worlds.observation)  # it is a copy


@pytest.mark.filterwarnings(
    "ignore:.*For Box action spaces, we recommend:UserWarning", "ignore:.*is -?infinity:UserWarning"
)
def test_its_checker_takes_a_task_by_its_name() -> None:
    env = gymnasium.make("kinetree.learning.adapters.gymnasium:kinetree/cart_pole", force=9.0, render_mode="rgb_array")
    check_env(env.unwrapped)
    assert env.unwrapped.render().shape == (360, 480, 3)
    many: Any = gymnasium.make_vec("kinetree/cart_pole", 3, autoreset="next_step", dtype="float32")
    assert (many.num_envs, many.observation_space.dtype) == (3, np.float32)
    assert many.spec.id == "kinetree/cart_pole"


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_its_wrappers_take_many_worlds(mode: str) -> None:
    many: Any = wrappers.RecordEpisodeStatistics(ENV.to_gymnasium(N, autoreset=mode))
    envs = many if mode == "same_step" else wrappers.NormalizeObservation(many)
    envs.reset(seed=0)
    for _ in range(24):
        _, _, terminated, truncated, infos = envs.step(np.ones((N, 1)))
        over = terminated | truncated
        if over.any():
            own = infos["final_info"] if mode == "same_step" else infos
            assert np.array_equal(infos["_episode"], over)
            assert np.allclose(infos["episode"]["r"][over], own["episode_return"][over])
            assert np.array_equal(infos["episode"]["l"][over], own["episode_length"][over])
    assert many.episode_count >= N


def test_settings_change_between_steps_and_pictures_are_of_each_world() -> None:
    env = cart_with_setting()
    envs = env.to_gymnasium(2, settings={"scale": 2.0}, render_mode="rgb_array")
    envs.reset(seed=0)
    assert (envs.step(np.zeros((2, 1)))[1] == 2.0).all()
    envs.unwrapped.settings["scale"] = np.array([3.0, 4.0])
    assert envs.step(np.zeros((2, 1)))[1].tolist() == [3.0, 4.0]
    pictures = envs.render()
    assert [x.shape for x in pictures] == [(360, 480, 3)] * 2


def cart_with_setting() -> Environment:
    return kt.environment(
        CART, dt=0.01, contact=False, settings={"scale": 1.0}, action=1, observe=lambda q: q,
        reward=lambda scale: scale, control=lambda action: {"tau": np.concatenate([action, np.zeros(1)])},
    )  # fmt: skip


def test_mistakes_are_said() -> None:
    one, many = ENV.to_gymnasium(), ENV.to_gymnasium(3)
    with pytest.raises(kt.errors.SimulationError, match="cart: call reset before the first step"):
        one.step(np.zeros(1))
    with pytest.raises(kt.errors.SimulationError, match="the first reset is of all worlds"):
        many.reset(seed=0, options={"reset_mask": np.array([True, False, False])})
    one.reset(), many.reset()
    with pytest.raises(kt.errors.ShapeError, match=r"actions have shape \(1,\), but \(3, 1\) is needed"):
        many.step(np.zeros(1))
    with pytest.raises(kt.errors.OptionError, match="no option 'mask'"):
        many.reset(options={"mask": np.ones(3, bool)})
    with pytest.raises(kt.errors.OptionError, match="reset_mask is an array"):
        many.reset(options={"reset_mask": np.ones(2, bool)})
    with pytest.raises(kt.errors.ShapeError, match="seed has 2 numbers"):
        many.reset(seed=[1, 2])
    with pytest.raises(kt.errors.OptionError, match=r"in float32 below 2\*\*24"):
        ENV.to_gymnasium(dtype="float32").reset(seed=2**24 + 1)
    with pytest.raises(kt.errors.OptionError, match="render_mode"):
        ENV.to_gymnasium(render_mode="human")
    while not one.step(np.zeros(1))[3]:
        pass
    with pytest.raises(kt.errors.SimulationError, match="the episode has ended"):
        one.step(np.zeros(1))


def test_a_missing_gymnasium_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gymnasium, "__version__", "1.0.0")
    with pytest.raises(kt.errors.MissingPackageError, match=r"env.to_gymnasium needs gymnasium 1\.1 or newer"):
        ENV.to_gymnasium()
