"""Tasks beside gymnasium: the same steps from the same state, then returns of many episodes of the same policies.

    python benchmarks/learning_returns.py [--episodes 1000] [--steps 100] [--only NAME ...]

Each policy is a clipped linear function of the observation with random weights, or random actions. From gymnasium's own
initial state, printed are the largest differences of observation and reward in that many steps, with episodes that go
on after a fall; the first step whose observation differs by more than 1e-9, here and in MuJoCo beside itself, one
unit of rounding away; and the largest difference of single steps from gymnasium's state. There MuJoCo solves contacts
to rounding. Then come returns and lengths of episodes, with gymnasium's settings as they are, and the p-values of the
Kolmogorov-Smirnov test: that of equal distributions is uniform between 0 and 1.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
from scipy.stats import ks_2samp

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.interop import Layout
from kinetree.learning import Environment

IDS = {
    "reacher": "Reacher-v5", "hopper": "Hopper-v5", "half_cheetah": "HalfCheetah-v5", "walker": "Walker2d-v5",
    "ant": "Ant-v5", "humanoid": "Humanoid-v5",
}  # fmt: skip
FALLS = ("hopper", "walker", "ant", "humanoid")
"""Tasks whose episodes end when the robot falls."""
SAME = 1e-9
POLICIES = 2
NEWTON = 2
"""The number of MuJoCo's most exact solver; gymnasium's humanoid has another one."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--only", nargs="+", choices=IDS, default=[*IDS])
    given = parser.parse_args()
    print("| task | actions | observation | reward | first above 1e-9 | of MuJoCo itself | single steps |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for name in given.only:
        for seed in range(POLICIES):
            for kind in ("random", "linear"):
                print(beside(name, seed, kind, given.steps), flush=True)
    print("\n| task | policy | return, kinetree | gymnasium | p | length | gymnasium | p | µs per step | gymnasium |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in given.only:
        for seed in range(POLICIES):
            print(returns(name, seed, given.episodes), flush=True)


def solved(name: str) -> Any:
    """Gymnasium's environment, whose contacts are solved to rounding, and whose episodes go on after a fall."""
    options = {"terminate_when_unhealthy": False} if name in FALLS else {}
    env = gymnasium.make(IDS[name], **options).unwrapped
    env.model.opt.tolerance, env.model.opt.iterations, env.model.opt.solver = 0.0, 500, NEWTON
    env.model.opt.ls_tolerance, env.model.opt.ls_iterations = 1e-14, 200
    return env


def weights_of(env: Environment, seed: int) -> Any:
    """The weights of a linear policy, from parts of the observation."""
    rng = np.random.default_rng(seed)
    return 0.1 * rng.normal(size=(env.action_size, min(env.observation_size, 30)))


def linear(env: Environment, weights: Any, observation: Any) -> Any:
    seen = np.clip(observation[: weights.shape[1]], -5.0, 5.0)
    return np.clip(weights @ seen, env.action_low, env.action_high)


def beside(name: str, seed: int, kind: str, steps: int) -> str:
    """A row of the table of steps."""
    options: dict[str, Any] = {"terminate_when_unhealthy": False} if name in FALLS else {}
    env = kt.learning.task(name, autoreset="disabled", **options)
    weights, rng = weights_of(env, seed), np.random.default_rng(seed)
    theirs, other = solved(name), solved(name)
    seen, _ = theirs.reset(seed=seed)
    of_other, _ = other.reset(seed=seed)
    other.set_state(np.nextafter(other.data.qpos, 9.0), np.nextafter(other.data.qvel, 9.0))
    layout, worlds = Layout(env.robot, "mujoco"), env.reset(worlds=1)

    def copied(state: Any) -> dict[str, Any]:
        now = env.parts_of_state(state)
        q, v = theirs.data.qpos.copy(), theirs.data.qvel.copy()
        now["q"][0], now["v"][0] = layout.q_from(q), layout.v_from(q, v)
        return now

    now = copied(worlds.state)
    now.get("at_q", now["q"])[...], now.get("at_v", now["v"])[...] = now["q"], now["v"]
    if "x" in now:
        torso, center = now["q"][0, 0], kt.center_of_mass(env.robot, now["q"][0])[0]
        now["x"][...] = torso if name == "ant" else center
    single, found, chaos = worlds.state.copy(), [], []
    for _ in range(steps):
        actions = [rng.uniform(env.action_low, env.action_high)] * 2
        if kind == "linear":
            actions = [linear(env, weights, x) for x in (seen, of_other)]
        seen, reward, *_ = theirs.step(actions[0])
        of_other = other.step(actions[1])[0]
        worlds, one = (env.step(state, actions[0][None]) for state in (worlds.state, single))
        differences = [np.abs(x.observation[0] - seen).max() for x in (worlds, one)]
        found.append([*differences, abs(worlds.reward[0] - reward)])
        chaos.append(np.abs(of_other - seen).max())
        single = one.state.copy()
        copied(single)
    whole, alone, rewards = np.array(found).T
    firsts = [str(np.argmax(x > SAME) + 1) if (x > SAME).any() else "–" for x in (whole, np.array(chaos))]
    largest = f"{whole.max():.0e} | {rewards.max():.0e}"
    return f"| {name} | {kind} {seed} | {largest} | {firsts[0]} | {firsts[1]} | {alone.max():.0e} |"


def returns(name: str, seed: int, episodes: int) -> str:
    """A row of the table of returns."""
    env, theirs = kt.learning.task(name), gymnasium.make(IDS[name])
    weights = weights_of(env, seed)

    def policy(weights: Any, observation: Any) -> Any:
        return linear(env, weights.reshape(env.action_size, -1), observation)

    worlds, most = env.reset(seed=seed, worlds=episodes), env.max_steps
    assert most is not None
    env.unroll(env.reset(worlds=1), policy, weights.ravel(), most)
    env.unroll(env.reset(worlds=16), policy, weights.ravel(), most)
    begin = time.process_time()
    own = env.unroll(worlds, policy, weights.ravel(), most)
    spent = (time.process_time() - begin) / (most * episodes)
    seen, _ = theirs.reset(seed=seed)
    totals, lengths = np.zeros(episodes), np.zeros(episodes)
    begin = time.process_time()
    for k in range(episodes):
        is_over = False
        while not is_over:
            seen, reward, terminated, truncated, _ = theirs.step(linear(env, weights, seen))
            totals[k] += reward
            lengths[k] += 1.0
            is_over = terminated or truncated
        seen, _ = theirs.reset()
    of_theirs = (time.process_time() - begin) / lengths.sum()
    columns = []
    for ours, other in ((own.episode_return, totals), (own.episode_length, lengths)):
        p = ks_2samp(ours, other, method="asymp").pvalue
        columns += [f"{x.mean():.2f} ± {x.std():.2f}" for x in (ours, other)] + [f"{p:.2g}"]
    return f"| {name} | {seed} | {' | '.join(columns)} | {1e6 * spent:.2f} | {1e6 * of_theirs:.1f} |"


if __name__ == "__main__":
    main()
