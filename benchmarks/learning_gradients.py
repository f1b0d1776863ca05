"""Learning by gradients through the physics beside PPO: time and steps of the environment until the same return.

    python benchmarks/learning_gradients.py cart_pole|hopper|quadruped [--steps 3e5] [--ppo-steps 5e6] [--seeds 3]

A window of steps is differentiated by the policy's weights, with the policy in the kernel: the gradient of the
discounted rewards in it and of the value at its end, which a critic learns by TD(λ). A forward pass comes first; it
says where episodes ended, and so what the weights of `kt.vjp` are. There is one gradient per world; each is shortened
to at most `LONGEST` times the median before they are averaged. PPO has its settings of the task, and both have the same
networks. Times are those on the wall (and of all processors) at the first evaluation that reaches a return: 128
episodes without noise, during which no clock runs. Of the quadruped also the error of the velocity counts, as in
learning_quadruped.py.

Source: Xu, Makoviychuk, Narang, Ramos, Matusik, Garg and Macklin, "Accelerated policy learning with parallel
differentiable simulation" (2022).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.learning import PPO, Environment
from kinetree.learning.moments import Moments
from kinetree.learning.playing import Exploring
from kinetree.learning.ppo import Learner, advantages, forward
from kinetree.learning.tasks import training_of
from learning_quadruped import error

Array = NDArray[Any]
LONGEST = 3.0
NEAR = 0.15
"""The goal of the quadruped, m/s."""
QUIET = -20.0
"""The logarithm of a deviation that is none."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the learner by gradients that differ between tasks."""

    window: int = 32
    """Steps; fewer than a fall takes, or all there is to differentiate is what comes before it."""
    worlds: int = 64
    scale: float = 0.1
    """A factor of rewards, so that values are about 1."""
    goals: tuple[float, ...]


TASKS = {
    "cart_pole": Settings(goals=(200.0, 240.0)),
    "hopper": Settings(window=8, worlds=128, scale=0.03, goals=(500.0, 1000.0, 2000.0)),
    "quadruped": Settings(window=16, scale=1.0, goals=(30.0, 40.0, 50.0)),
}
RATE, DISCOUNT, TRACE, STD = 2e-3, 0.99, 0.95, 0.5
EPOCHS, MINIBATCHES, FOLLOW = 4, 4, 0.2
"""The critic's. Another one, which gives the targets, takes over a part of its weights after each window."""


class Gradients:
    """A learner by gradients through windows of the physics."""

    def __init__(self, env: Environment, settings: Settings, of: PPO, seed: int, steps: float, threads: int) -> None:
        self.env, self.s, self.threads, self.activation = env, settings, threads, of.activation
        self.windows, self.done = np.ceil(steps / (settings.worlds * settings.window)), 0
        sizes, n = (env.observation_size, *of.hidden), env.action_size
        is_bounded = np.isfinite(env.action_low).all()
        last: dict[str, Any] = {"output": "tanh", "bounds": (env.action_low, env.action_high)} if is_bounded else {}
        self._network = kt.learning.mlp((*sizes, n), of.activation, normalize=True, **last)
        self._values = kt.learning.mlp((*sizes, 1), of.activation)
        self.policy = Exploring.of(env, self._network)
        self._rng = np.random.default_rng(seed)
        self._fixed = 2 * env.observation_size
        first = self._network.initial(self._rng)[self._fixed :]
        self._theta = torch.tensor(np.concatenate([first, np.full(n, np.log(STD))]), requires_grad=True)
        self._critic = torch.tensor(self._values.initial(self._rng), dtype=torch.float32, requires_grad=True)
        self._target = self._critic.detach().clone()
        self._of_actor = torch.optim.Adam([self._theta], RATE, betas=(0.7, 0.95))
        self._of_critic = torch.optim.Adam([self._critic], RATE, betas=(0.7, 0.95))
        self._seen = Moments(env.observation_size)
        self.worlds = env.reset(seed, settings.worlds, threads=threads)
        if env.max_steps is not None:
            env.parts_of_state(self.worlds.state)["step"][...] = self._rng.integers(env.max_steps, size=settings.worlds)
        self._window = env.unroll_program(
            self.policy, len(self.weights), settings.window, record=("observation", "reward", "terminated", "truncated")
        )

    @property
    def steps(self) -> int:
        return self.s.worlds * self.s.window

    @property
    def weights(self) -> Array:
        return np.concatenate([self._seen.mean, self._seen.std, self._theta.detach().numpy()])

    def quiet(self) -> tuple[Any, Array]:
        """The policy and its weights, without noise."""
        return self.policy, np.concatenate([self.weights[: self._network.size], np.full(self.env.action_size, QUIET)])

    def iterate(self) -> dict[str, float]:
        """One window of all worlds, and a step of both networks."""
        s, worlds, given = self.s, self.worlds, (self.worlds.state, self.worlds.observation, self.weights)
        found = self._window(*given, threads=self.threads)
        if found["fault"].any():
            raise ArithmeticError(f"{self.env.name}: a world's numbers are not finite")
        rows, end = found["rows"], found["observation"]
        is_over = (rows["terminated"] + rows["truncated"]) > 0.0
        alive = np.cumsum(is_over, axis=1) == is_over  # (N, T); an ended world stays where it is
        is_open = ~(is_over & alive & (rows["terminated"] > 0.0)).any(1)
        seen = np.concatenate([rows["observation"], end[:, None]], axis=1)
        by_end = self._slope(end) * (DISCOUNT ** alive.sum(1) * is_open)[:, None]
        weights = {"rows": {"reward": s.scale * alive * DISCOUNT ** np.arange(s.window)}, "observation": by_end}
        gradient = kt.vjp(self._window, given, weights, wrt="weights", threads=self.threads)[1]["weights"]
        gradient = gradient[:, self._fixed :]
        norm = np.linalg.norm(gradient, axis=1)
        longest = LONGEST * np.median(norm)
        mean = (np.minimum(1.0, longest / np.maximum(norm, 1e-30))[:, None] * gradient).mean(0)
        for optimizer in (self._of_actor, self._of_critic):
            optimizer.param_groups[0]["lr"] = RATE * (1.0 - self.done / self.windows)
        self._theta.grad = -torch.from_numpy(mean)
        torch.nn.utils.clip_grad_norm_(self._theta, 1.0)
        self._of_actor.step()
        with torch.no_grad():
            self._theta[-self.env.action_size :].clamp_(min=-3.0, max=0.5)
        loss = self._learn_values(seen, s.scale * rows["reward"], rows["terminated"] > 0.0, is_over, alive)
        self._seen.add(seen[:, :-1][alive])
        worlds.state[...], worlds.observation[...] = found["state"], end
        ended = is_over.any(1)
        if ended.any():
            self.env.restart(worlds, ended, threads=self.threads)
        self.done += 1
        std = float(self._theta.detach()[-self.env.action_size :].exp().mean())
        reward = float(rows["reward"][alive].mean())
        return {"reward": reward, "norm": float(np.median(norm)), "largest": norm.max(), "value loss": loss, "std": std}

    def _normal(self, seen: Array) -> torch.Tensor:
        return torch.from_numpy(((seen - self._seen.mean) / self._seen.std).astype(np.float32))

    def _slope(self, end: Array) -> Array:
        """The gradient of the value by the observation."""
        x = self._normal(end).requires_grad_()
        (found,) = torch.autograd.grad(forward(self._values, self.activation, self._target, x).sum(), x)
        return found.numpy().astype(np.float64) / self._seen.std

    def _learn_values(self, seen: Array, reward: Array, terminated: Array, is_over: Array, alive: Array) -> float:
        x = self._normal(seen)
        with torch.no_grad():
            value = forward(self._values, self.activation, self._target, x)[..., 0]
            following = value[:, 1:].clone()
            following[torch.from_numpy(terminated)] = 0.0
            reward_now = torch.from_numpy(reward.astype(np.float32))
            target = value[:, :-1] + advantages(
                reward_now, value[:, :-1], following, torch.from_numpy(is_over), DISCOUNT, TRACE
            )
        chosen = torch.from_numpy(alive)
        x, target, total = x[:, :-1][chosen], target[chosen], 0.0
        for _ in range(EPOCHS):
            for part in torch.from_numpy(self._rng.permutation(len(x))).chunk(MINIBATCHES):
                value = forward(self._values, self.activation, self._critic, x[part])[..., 0]
                loss = (value - target[part]).square().mean()
                (self._critic.grad,) = torch.autograd.grad(loss, self._critic)
                torch.nn.utils.clip_grad_norm_(self._critic, 1.0)
                self._of_critic.step()
                total += float(loss.detach()) / (EPOCHS * MINIBATCHES)
        self._target.lerp_(self._critic.detach(), FOLLOW)
        return total


class Proximal(Learner):
    """PPO, with the same interface."""

    def quiet(self) -> tuple[Any, Array]:
        return self._exploring, np.concatenate([self.weights, np.full(self.env.action_size, QUIET)])


def learn(learner: Any, env: Environment, goals: tuple[float, ...], steps: float, every: float, show: bool) -> str:
    """Learn for so many steps; which goals were reached when."""
    wall = processor = taken = following = 0.0
    best, nearest, reached = -np.inf, np.nan, dict[str, str]()
    quiet = kt.learning.task("quadruped", push=None) if env.name == "quadruped" else None
    while taken < steps:
        start = time.perf_counter(), time.process_time()
        figures = learner.iterate()
        wall, processor = wall + time.perf_counter() - start[0], processor + time.process_time() - start[1]
        taken += learner.steps
        if taken < min(following, steps):
            continue
        following += every
        policy, weights = learner.quiet()
        worlds = env.reset(12345, 128, threads=learner.threads)
        end = env.unroll(worlds, policy, weights, env.max_steps or 1000, threads=learner.threads)
        place, found = f"{wall:.0f} ({processor:.0f}), {taken / 1e6:.2f} M", float(end.episode_return.mean())
        best = max(best, found)
        for goal in goals:
            if found >= goal:
                reached.setdefault(f"{goal:g}", place)
        if quiet:
            astray, _ = error(quiet, policy, weights, learner.threads)
            nearest = np.fmin(nearest, astray)
            if astray < NEAR:
                reached.setdefault("near", place)
            figures = {"error": astray, **figures}
        if show:
            more = ", ".join(f"{name} {x:.3g}" for name, x in figures.items() if not name.startswith("reward "))
            print(f"  {place}: return of episodes {found:.1f}; {more}", flush=True)
    columns = [reached.get(f"{goal:g}", "never") for goal in goals] + [reached.get("near", "never")] * bool(quiet)
    return " | ".join([*columns, f"{best:.1f}" + f", {nearest:.3f} m/s" * bool(quiet), place])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--steps", type=float, default=5e5)
    parser.add_argument("--ppo-steps", type=float, default=5e6)
    parser.add_argument("--evaluations", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    given = vars(parser.parse_args())
    torch.set_num_threads(1)
    settings, threads = TASKS[given["task"]], given["threads"]
    env = kt.learning.task(given["task"])
    own = {name: x for name, x in training_of(given["task"]).get("ppo", {}).items() if name != "steps"}
    of_ppo: PPO = replace(PPO(**own), discount=DISCOUNT)
    makers: dict[str, tuple[float, Callable[[int], Any]]] = {
        "gradients": (given["steps"], lambda seed: Gradients(env, settings, of_ppo, seed, given["steps"], threads)),
        "PPO": (given["ppo_steps"], lambda seed: Proximal(env, of_ppo, seed, threads)),
    }
    titles = [f"return {x:g}" for x in settings.goals] + [f"error < {NEAR} m/s"] * (env.name == "quadruped")
    print("| learner | seed |", " | ".join([*titles, "best", "all: s (of processors), steps"]), "|")
    print("|---|--:|" + "---|" * (len(titles) + 2))
    for name, (steps, make) in makers.items():
        if steps:
            make(0).iterate()  # compiled before a clock runs
        for seed in range(given["seeds"] if steps else 0):
            row = learn(make(seed), env, settings.goals, steps, steps / given["evaluations"], given["show"])
            print(f"| {name} | {seed} | {row} |", flush=True)


if __name__ == "__main__":
    main()
