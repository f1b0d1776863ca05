"""PPO of kinetree on its hopper and ant, and Stable-Baselines3's on gymnasium's: the time to published returns.

    python benchmarks/learning_gymnasium.py [--only hopper] [--seed 0 1 2] [--steps 5e6] [--their-steps 1e6]

The published returns, and Stable-Baselines3's settings, are those of RL Baselines3 Zoo for PPO after 1 million steps:
Hopper-v3 2,410, one world, Ant-v3 1,327, one world and the library's defaults; here the tasks are gymnasium's v5.
kinetree's settings are `kt.learning.PPO()`. Policies are evaluated without noise in 20 episodes every so many steps,
while no clock runs. Times are of the wall, and in brackets of the processor; each learner has one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO as TheirPPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.learning import PPO
from kinetree.learning.ppo import Learner

GOALS = {"hopper": 2410.0, "ant": 1327.0}
IDS = {"hopper": "Hopper-v5", "ant": "Ant-v5"}
EPISODES = 20
TUNED: dict[str, dict[str, Any]] = {
    "hopper": {
        "batch_size": 32, "n_steps": 512, "gamma": 0.999, "learning_rate": 9.80828e-05, "ent_coef": 0.00229519,
        "n_epochs": 5, "gae_lambda": 0.99, "max_grad_norm": 0.7, "vf_coef": 0.835671,
        "policy_kwargs": {
            "log_std_init": -2, "ortho_init": False, "activation_fn": torch.nn.ReLU,
            "net_arch": {"pi": [256, 256], "vf": [256, 256]},
        },
    },
    "ant": {},
}  # fmt: skip
"""The settings of RL Baselines3 Zoo that are not the library's own."""


class Clock:
    """Seconds of the wall and of the processor, apart from evaluations."""

    def __init__(self) -> None:
        self.wall = self.processor = 0.0
        self.go_on()

    def stop(self) -> None:
        self.wall += time.perf_counter() - self._began[0]
        self.processor += time.process_time() - self._began[1]

    def go_on(self) -> None:
        self._began = time.perf_counter(), time.process_time()


Found = Iterator[tuple[int, float, Clock]]
"""Steps, the mean return of a policy without noise, and the time until then."""


def ours(name: str, seed: int, steps: float, every: float) -> Found:
    env = kt.learning.task(name)
    first = Learner(env, PPO(), 1000, 1)  # compiled before the clock runs
    first.iterate()
    kt.learning.play(env, first.policy, first.weights, EPISODES)
    learner, done, following, clock = Learner(env, PPO(), seed, 1), 0, every, Clock()
    while done < steps:
        learner.iterate()
        done += learner.steps
        if done >= following:
            following += every
            clock.stop()
            motions = kt.learning.play(env, learner.policy, learner.weights, EPISODES, seed=10_000 + seed)
            yield done, float(motions.recorded["reward"].sum(-1).mean()), clock
            clock.go_on()


class _Evaluation(BaseCallback):
    """Stable-Baselines3 calls it after each step."""

    def __init__(self, every: float, evaluate: Callable[[], float], told: Callable[[int, float], bool]) -> None:
        super().__init__()
        self._every, self._following, self._evaluate, self._told = every, every, evaluate, told

    def _on_step(self) -> bool:
        if self.num_timesteps < self._following:
            return True
        self._following += self._every
        return self._told(self.num_timesteps, self._evaluate())


def theirs(name: str, seed: int, steps: float, every: float, goal: float) -> Found:
    worlds = VecNormalize(DummyVecEnv([lambda: gymnasium.make(IDS[name])]), gamma=TUNED[name].get("gamma", 0.99))
    model = TheirPPO("MlpPolicy", worlds, seed=seed, device="cpu", **TUNED[name])
    single, clock, found = gymnasium.make(IDS[name]), Clock(), []

    def evaluate() -> float:
        clock.stop()
        total = 0.0
        for k in range(EPISODES):
            seen, _ = single.reset(seed=10_000 + k)
            is_over = False
            while not is_over:
                action, _ = model.predict(worlds.normalize_obs(seen), deterministic=True)
                seen, reward, terminated, truncated, _ = single.step(action)
                total, is_over = total + float(reward), terminated or truncated
        return total / EPISODES

    def told(done: int, found_return: float) -> bool:
        found.append((done, found_return))
        print(f"    {name} {seed}: {done:,} steps, {found_return:,.0f}, {clock.processor:.0f} s", flush=True)
        clock.go_on()
        return found_return < goal

    model.learn(int(steps), callback=_Evaluation(every, evaluate, told))
    yield (*found[-1], clock)


def first_or_last(found: Found, goal: float) -> tuple[int, float, Clock]:
    for row in found:
        if row[1] >= goal:
            break
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=GOALS, default=[*GOALS])
    parser.add_argument("--seed", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=float, default=5e6)
    parser.add_argument("--their-steps", type=float, default=1e6)
    given = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    print("| task | seed | learner | steps | s | return | goal |\n|---|--:|---|--:|--:|--:|--:|", flush=True)
    for name in given.only:
        goal = GOALS[name]
        for seed in given.seed:
            learners: dict[str, Found] = {
                "kinetree": ours(name, seed, given.steps, 2e5),
                "Stable-Baselines3": theirs(name, seed, given.their_steps, 1e5, goal),
            }
            for learner, found in learners.items():
                steps, mean, clock = first_or_last(found, goal)
                print(
                    f"| {name} | {seed} | {learner} | {steps / 1e6:.2f} M | {clock.wall:.0f} ({clock.processor:.0f}) | "
                    f"{mean:,.0f} | {goal:,.0f} |",
                    flush=True,
                )
    print(f"NumPy {np.__version__}, PyTorch {torch.__version__}, gymnasium {gymnasium.__version__}")


if __name__ == "__main__":
    main()
