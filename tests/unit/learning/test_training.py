"""Trainings: that policies get better, and that checkpoints hold all that the next iteration depends on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import DTypeError, NameNotFoundError, OptionError, SimulationWarning, TrajectoryFileError
from kinetree.learning import Environment, Run, TrainingInterrupted, load_run, train

torch = pytest.importorskip("torch")
SMALL: dict[str, Any] = {"worlds": 32, "horizon": 16, "hidden": (16,), "minibatches": 2, "epochs": 2}


def balanced(**options: Any) -> Environment:
    """A pole that stands upright on a cart, and soon would fall."""
    options = {"max_steps": 40, **options}

    def reset(key: Any) -> dict[str, Any]:
        return {"q": kt.random.uniform(key, 2, -0.1, 0.1)}

    return kt.learning.environment(
        kt.zoo.load("cart_pole"), name="balance", dt=0.02, contact=False, reset=reset, action=1, **options,
        control=lambda action: {"tau": np.stack([20.0 * action[0], 0.0])},
        observe=lambda q, v: np.concatenate([q, v]), reward=lambda q: {"alive": 1.0, "middle": -0.1 * q[0] ** 2},
        terminate=lambda q: np.cos(q[1]) < 0.9,
    )  # fmt: skip


@pytest.fixture(scope="module")
def env() -> Environment:
    return balanced()


def assert_same(a: Run, b: Run) -> None:
    np.testing.assert_array_equal(a.weights, b.weights)
    assert a.state.keys() == b.state.keys()
    for name, x in a.state.items():
        np.testing.assert_array_equal(x, b.state[name], err_msg=name)
    assert a.about == b.about


def test_ppo_learns_to_balance(env: Environment, tmp_path: Path) -> None:
    run = train(env, tmp_path, steps=25_000, worlds=64, horizon=16, hidden=(32,), minibatches=2, evaluate_every=0)
    returns = run.history["return"]
    assert np.nanmean(returns[-3:]) > 30.0 > 22.0 > np.nanmean(returns[:3])
    motion = run.play(32, seed=1)
    assert motion.recorded["reward"].sum(-1).mean() > 35.0


@pytest.mark.parametrize("algorithm", ["ppo", "ars"])
def test_a_continued_training_has_the_same_bits(algorithm: str, env: Environment, tmp_path: Path) -> None:
    settings = SMALL if algorithm == "ppo" else {"directions": 4, "best": 2}
    more: dict[str, Any] = {"algorithm": algorithm, "seed": 3, "evaluate_every": 0, **settings}
    whole = train(env, tmp_path / "a", steps=4 * 512, threads=1, **more)
    train(env, tmp_path / "b", steps=2 * 512, threads=2, **more)
    rest = train(balanced(), tmp_path / "b", steps=4 * 512, threads=2, resume=True, **more)
    assert_same(whole, rest)
    assert_same(whole, load_run(tmp_path / "b", env))
    assert list(whole.history) == list(rest.history)
    np.testing.assert_array_equal(whole.history["return"], rest.history["return"])
    assert not np.array_equal(whole.weights, train(env, tmp_path / "c", steps=4 * 512, **{**more, "seed": 4}).weights)


def test_ctrl_c_keeps_the_last_iteration(env: Environment, tmp_path: Path) -> None:
    def stop(figures: Mapping[str, float]) -> None:
        if figures["steps"] == 2 * 512:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(TrainingInterrupted, match=r"after 2 iterations, which are in .*resume=True") as stopped:
        train(env, tmp_path / "a", steps=4 * 512, progress=stop, **SMALL)
    assert_same(stopped.value.run, load_run(tmp_path / "a", env))
    rest = train(env, tmp_path / "a", steps=4 * 512, resume=True, **SMALL)
    assert_same(rest, train(env, tmp_path / "b", steps=4 * 512, **SMALL))


_KILLED = """
import sys

import kinetree as kt
from kinetree.learning import training

training._BETWEEN_CHECKPOINTS = 0.0
kt.learning.train("cart_pole", sys.argv[1], options={"max_steps": 20}, steps=10**9, progress=lambda _: None, **%r)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_training_that_is_killed_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    settings = {**SMALL, "evaluate_every": 0}
    path = tmp_path / "killed" / "run.npz"
    with subprocess.Popen([sys.executable, "-c", _KILLED % settings, str(path.parent)], env=os.environ) as process:
        written: set[int] = set()
        while len(written) < 3:  # in the midst of writing as likely as not
            assert process.poll() is None
            time.sleep(0.001)
            if path.exists():
                written.add(path.stat().st_ino)
        process.kill()
    done = load_run(path.parent).about["iterations"]
    assert done >= 2
    more: dict[str, Any] = {"options": {"max_steps": 20}, "steps": (done + 2) * 512, **settings}
    rest = train("cart_pole", path.parent, resume=True, **more)
    assert_same(rest, train("cart_pole", tmp_path / "whole", **more))


def test_many_trainings(tmp_path: Path) -> None:
    done: list[tuple[int, int]] = []
    common: dict[str, Any] = {"options": {"max_steps": 20}, "steps": 1024, **SMALL}
    vary = {"clip": [0.1, 0.2], "seed": range(2)}
    runs = kt.learning.train_many(
        "cart_pole", tmp_path, vary=vary, progress=lambda *x: done.append(x), threads=1, **common
    )
    assert done == [(k, 4) for k in range(1, 5)]
    found = [(run.about["settings"]["clip"], run.about["seed"]) for run in runs]
    assert found == [(0.1, 0), (0.1, 1), (0.2, 0), (0.2, 1)]
    assert [run.folder.name for run in runs[:2]] == ["clip=0.1,seed=0", "clip=0.1,seed=1"]
    assert_same(runs[3], train("cart_pole", tmp_path / "alone", seed=1, clip=0.2, **common))
    with pytest.raises(OptionError, match="values that differ"):
        kt.learning.train_many("cart_pole", tmp_path, vary={"seed": [0, 0]}, **common)
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
        again = kt.learning.train_many("cart_pole", tmp_path / "there", vary=vary, scheduler=client, **common)
        for one, other in zip(runs, again, strict=True):
            assert_same(one, other)
        with pytest.raises(NameNotFoundError, match="PPO has no setting 'clop'"):
            kt.learning.train_many("cart_pole", tmp_path / "wrong", vary={"clop": [1]}, scheduler=client, **common)


def test_a_task_that_begins_badly_is_reported(tmp_path: Path) -> None:
    robot = kt.zoo.load("quadruped").on_ground()
    options: dict[str, Any] = {"observe": lambda q: q, "reward": lambda v: v[0], "action": 1, "dt": 0.01}
    options["control"] = lambda action: {"tau": np.zeros(robot.nv) * action[0]}

    def reset(key: Any) -> dict[str, Any]:
        return {"q": robot.neutral() + kt.random.uniform(key, (), -0.3, 0.3) * (np.arange(robot.nq) == 2)}

    low = kt.environment(robot, reset=reset, **options)
    with pytest.warns(
        SimulationWarning, match=r"quadruped: episodes begin with shapes inside each other in \d+ of 64 "
    ):
        train(low, tmp_path / "low", steps=1, worlds=8, horizon=4, minibatches=1, epochs=1, evaluate_every=0)
    over = kt.environment(
        robot, terminate=lambda q, limit: q[2] < limit, contact=False, settings={"limit": 9.0}, **options
    )
    with pytest.warns(SimulationWarning, match=r"terminate ends the episode where it begins.* in 64 of 64 worlds"):
        over.check()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        over.check(settings={"limit": -9.0})


def test_evaluations_are_motions(env: Environment, tmp_path: Path) -> None:
    run = train(env, tmp_path, steps=2 * 512, evaluate_every=2, **SMALL)
    motion = kt.load_trajectory(tmp_path / "evaluation_000002.npz")
    assert (motion.robot, motion.recorded["action"].shape[-1]) == ("cart_pole", 1)
    np.testing.assert_array_equal(motion.q, run.play().q)
    assert (tmp_path / "tensorboard").exists() or "tensorboard" not in sys.modules


def test_an_episode_ends_where_the_task_ends_it(env: Environment) -> None:
    policy = kt.learning.mlp((4, 1))
    motion = kt.learning.play(env, policy, np.zeros(policy.size), 5, seed=2)
    worlds, lengths = env.reset(2, 5), np.zeros(5)
    going = np.ones(5, bool)
    while going.any():
        worlds = env.step(worlds.state, np.zeros((5, 1)))
        lengths += going
        going &= ~(worlds.terminated | worlds.truncated)
    assert len(set(lengths)) > 1
    np.testing.assert_allclose(motion.ended, lengths * env.dt)
    np.testing.assert_array_equal(np.count_nonzero(motion.recorded["reward"], axis=-1), lengths)
    assert motion.q.shape == (5, 1 + lengths.max(), 2)
    for k in range(5):
        n = int(lengths[k])
        is_down = np.cos(motion.q[k, :, 1]) < 0.9
        assert (is_down[n], is_down[n - 1]) == (n < env.max_steps, False)
        np.testing.assert_array_equal(motion.q[k, n:], np.broadcast_to(motion.q[k, n], motion.q[k, n:].shape))
        np.testing.assert_array_equal(motion.recorded["observation"][k, :n, :2], motion.q[k, :n])
    alone = kt.learning.play(env, policy, np.zeros(policy.size), seed=2)
    np.testing.assert_array_equal(alone.q, motion.q[0, : len(alone.time)])


def test_settings_of_a_task_are_those_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kinetree.learning.tasks import cart_pole

    monkeypatch.setattr(cart_pole, "TRAINING", {"ppo": {**SMALL, "steps": 600}, "ars": {"best": 1}}, raising=False)
    run = train("cart_pole", tmp_path, options={"max_steps": 20}, epochs=1, evaluate_every=0)
    assert (run.about["steps"], run.about["settings"]["worlds"], run.about["settings"]["epochs"]) == (1024, 32, 1)
    assert load_run(tmp_path).env.max_steps == 20
    more = train("cart_pole", tmp_path, options={"max_steps": 20}, steps=1500, epochs=1, resume=True)
    assert more.about["steps"] == 1536


def test_generalised_advantages_by_their_definition() -> None:
    from kinetree.learning.ppo import advantages

    rng = np.random.default_rng(0)
    N, T, gamma, trace = 3, 7, 0.9, 0.8
    reward, value, following = rng.normal(size=(3, N, T))
    is_over = rng.random((N, T)) < 0.3
    found = advantages(*map(torch.from_numpy, (reward, value, following, is_over)), gamma, trace)
    for n in range(N):
        for t in range(T):
            total, weight = 0.0, 1.0
            for k in range(t, T):
                total += weight * (reward[n, k] + gamma * following[n, k] - value[n, k])
                weight *= gamma * trace
                if is_over[n, k]:
                    break
            np.testing.assert_allclose(found[n, t], total, rtol=1e-6)


def test_what_follows_a_step_has_a_value_unless_the_task_ended_the_episode() -> None:
    from kinetree.learning.ppo import Learner
    from kinetree.learning.settings import PPO

    learner = Learner(balanced(max_steps=12), PPO(worlds=64, horizon=16, hidden=(16,)), seed=0)
    learner.iterate()
    rows, _ = learner._collect()
    with torch.no_grad():
        values, following = (x.numpy() for x in learner._values(rows))
        critic = learner._parts()[2].numpy().astype(float)

    def value(observation: Any) -> Any:
        return learner._critic(critic, (observation - learner._seen.mean) / learner._seen.std)[..., 0]

    np.testing.assert_allclose(values, value(rows["observation"]), atol=1e-4)
    has_ended, is_cut = rows["terminated"] > 0.0, (rows["truncated"] > 0.0) & (rows["terminated"] == 0.0)
    assert has_ended.any()
    assert is_cut.any()
    assert (following[has_ended] == 0.0).all()
    np.testing.assert_allclose(following[is_cut], value(rows["final_observation"])[is_cut], atol=1e-4)
    goes_on = ~(has_ended | is_cut)
    later = np.concatenate([rows["observation"][:, 1:], learner._worlds.observation[:, None]], axis=1)
    np.testing.assert_allclose(following[goes_on], value(later)[goes_on], atol=1e-4)
    assert np.abs(following - value(later))[~goes_on].min() > 1e-4


def test_the_kernel_samples_the_policy_that_is_learned(env: Environment) -> None:
    from kinetree.learning.ppo import Learner, forward
    from kinetree.learning.settings import PPO

    learner = Learner(env, PPO(worlds=64, horizon=16, hidden=(16,), mirror=lambda x, a: (-x, -a)), seed=0)
    learner.iterate()
    rows, _ = learner._collect()
    x = learner._normal(rows["observation"])
    with torch.no_grad():
        actor, log_std, _ = learner._parts()
        mean = forward(learner._actor, "tanh", actor, x).numpy()
    np.testing.assert_allclose(mean, rows["mean"], atol=1e-5)
    noise = (rows["sample"] - rows["mean"]) / np.exp(log_std.detach().numpy())
    assert (abs(noise.mean()), abs(noise.std() - 1.0)) < (0.1, 0.1)
    np.testing.assert_allclose(mean, learner.policy(learner.weights, rows["observation"]), atol=1e-5)
    image, samples, means = learner._mirrored(rows)
    signs = (image[:, 0] - learner._normal(-rows["observation"]).reshape(-1, 4)[:, 0]).abs() < 1e-6
    assert 0.3 < signs.float().mean() < 0.7
    expected = np.where(signs[:, None], -rows["sample"].reshape(-1, 1), rows["sample"].reshape(-1, 1))
    np.testing.assert_allclose(samples, expected, rtol=1e-6)
    np.testing.assert_allclose(
        samples - means, np.where(signs[:, None], -1, 1) * (rows["sample"] - rows["mean"]).reshape(-1, 1), atol=1e-5
    )


def test_moments_are_those_of_all_rows() -> None:
    from kinetree.learning.moments import Moments

    rows = np.random.default_rng(0).normal(3.0, 2.0, (100, 2))
    moments = Moments(2)
    for part in np.split(rows, [10, 11, 60]):
        moments.add(part)
    np.testing.assert_allclose(moments.mean, rows.mean(0))
    np.testing.assert_allclose(moments.std, rows.std(0) + 1e-2)


def test_other_trainings_and_damaged_files_are_refused(env: Environment, tmp_path: Path) -> None:
    train(env, tmp_path, steps=512, **SMALL)
    with pytest.raises(OptionError, match=r"there is a training of balance in .* already: give resume=True"):
        train(env, tmp_path, steps=512, **SMALL)
    with pytest.raises(OptionError, match=r"has worlds 32, and this one 64"):
        train(env, tmp_path, steps=512, resume=True, **{**SMALL, "worlds": 64})
    with pytest.raises(OptionError, match=r"the task balance is not the one whose training is in .*another folder"):
        train(balanced(push=kt.learning.Push(every=1.0, speed=0.1)), tmp_path, steps=512, resume=True, **SMALL)
    with pytest.raises(OptionError, match=r"is a training of balance.* of 4 numbers.* this is cart_pole, with 5 and 1"):
        load_run(tmp_path, kt.learning.task("cart_pole"))
    with pytest.raises(OptionError, match=r"training of 'balance', and does not say how to make it: give env="):
        load_run(tmp_path)
    with pytest.raises(NameNotFoundError, match=r"PPO has no setting 'horizn': .*horizon"):
        train(env, tmp_path / "new", horizn=3)
    for wrong in ({"worlds": 0}, {"horizon": "long"}, {"clip": "much"}, {"worlds": 1, "horizon": 1}):
        with pytest.raises((OptionError, DTypeError), match="PPO: "):
            train(env, tmp_path / "new", **wrong)
    with pytest.raises(OptionError, match="ARS: best is at most directions, 2, not 3"):
        train(env, tmp_path / "new", algorithm="ars", directions=2, best=3)
    with pytest.raises(OptionError, match="autoreset"):
        train(balanced(autoreset="disabled"), tmp_path / "new", **SMALL)
    with pytest.raises(TrajectoryFileError, match="there is no training in"):
        load_run(tmp_path / "nothing", env)
    file = tmp_path / "run.npz"
    whole = file.read_bytes()
    for content in (b"", whole[:1000], b"PK\x03\x04" + bytes(100)):
        file.write_bytes(content)
        with pytest.raises(TrajectoryFileError, match="does not hold a training of kinetree, or is damaged"):
            load_run(tmp_path, env)
    np.savez(file, header=np.array(json.dumps({"version": 99})), policy=np.array([{"a": 1}], object))
    with pytest.raises(TrajectoryFileError):
        load_run(tmp_path, env)
