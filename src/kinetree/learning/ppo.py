"""Proximal policy optimisation: a policy from episodes, by steps that keep near the policy that took them.

Source: Schulman, Wolski, Dhariwal, Radford and Klimov, "Proximal policy optimization algorithms" (2017); Schulman,
Moritz, Levine, Jordan and Abbeel, "High-dimensional continuous control using generalized advantage estimation" (2016);
Rudin, Hoeller, Reist and Hutter, "Learning to walk in minutes using massively parallel deep reinforcement learning"
(2021), for the learning rate that follows the KL divergence, and for truncated episodes.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.learning.environment import Environment
from kinetree.learning.moments import Moments
from kinetree.learning.playing import Exploring
from kinetree.learning.policies import Policy, mlp
from kinetree.learning.settings import PPO
from kinetree.learning.worlds import TERM

__all__ = ["Learner"]

_AT_ONCE = 1536
"""Steps whose gradient one thread computes: few enough for its cache. The gradients are added in the same order for any
number of threads."""

Array = NDArray[Any]
Tensor = Any


class Learner:
    """Everything that is learned, and an iteration of it."""

    def __init__(self, env: Environment, settings: PPO, seed: int, threads: int | None = None) -> None:
        if env.autoreset != "same_step":
            raise OptionError(f'{env.name}: PPO needs worlds that begin again by themselves, autoreset="same_step"')
        self.env, self.settings, self.threads = env, settings, threads
        sizes = env.observation_size, *settings.hidden
        self._actor = mlp((*sizes, env.action_size), settings.activation)
        self._critic = mlp((*sizes, 1), settings.activation)
        self.policy = mlp((*sizes, env.action_size), settings.activation, normalize=True)
        self._exploring = Exploring.of(env, self.policy)
        self._rng = np.random.default_rng(seed)
        log_std = np.full(env.action_size, np.log(settings.std))
        first = np.concatenate([self._actor.initial(self._rng), log_std, self._critic.initial(self._rng)])
        self._theta = torch.tensor(first, dtype=torch.float32, requires_grad=True)
        self._optimizer = torch.optim.Adam([self._theta], settings.learning_rate)
        self._seen = Moments(env.observation_size)
        self._returned = Moments(1)
        self._discounted = np.zeros(settings.worlds)
        self._worlds = env.reset(seed, settings.worlds, dtype=settings.dtype, threads=threads)
        if env.max_steps is not None:  # so that episodes do not end all at once
            steps = env.parts_of_state(self._worlds.state)["step"]
            steps[...] = self._rng.integers(env.max_steps, size=settings.worlds)

    @property
    def steps(self) -> int:
        """Steps of the environment in an iteration."""
        return self.settings.worlds * self.settings.horizon

    @property
    def weights(self) -> Array:
        """The weights of the policy, without noise."""
        theta = self._theta.detach().numpy().astype(np.float64)
        return np.concatenate([self._seen.mean, self._seen.std, theta[: self._actor.size]])

    def iterate(self) -> dict[str, float]:
        """Collect steps and learn from them; figures of the iteration by name."""
        begin = time.perf_counter()
        rows, figures = self._collect()
        middle = time.perf_counter()
        with _one_thread_each(), ThreadPoolExecutor(self.threads or os.cpu_count(), initializer=_one_thread) as pool:
            figures |= self._learn(rows, pool.map)
        self._seen.add(rows["observation"].reshape(-1, self.env.observation_size))
        end = time.perf_counter()
        return {**figures, "environment": (middle - begin) / (end - begin), "steps/s": self.steps / (end - begin)}

    # -- collecting

    def _collect(self) -> tuple[dict[str, Array], dict[str, float]]:
        """The rows of all worlds' steps (N, T, …), and how the episodes went."""
        worlds, end_of_actor = self._worlds, self._actor.size + self.env.action_size
        log_std = self._theta.detach().numpy()[self._actor.size : end_of_actor]
        weights = np.concatenate([self.weights, log_std]).astype(worlds.state.dtype)
        terms = [TERM + name for name in worlds.recorded]
        record = (
            "observation", "sample", "mean", "reward", "terminated", "truncated", "final_observation",
            "episode_return", "episode_length", *terms,
        )  # fmt: skip
        end = self.env.unroll(
            worlds, self._exploring, weights, self.settings.horizon, record=record, threads=self.threads
        )
        worlds.state[...], worlds.observation[...] = end.state, end.observation
        rows = end.rows
        is_over = (rows["terminated"] + rows["truncated"]) > 0.0
        ended = {name: rows[f"episode_{name}"][is_over] for name in ("return", "length")}
        figures = {name: float(x.mean()) if x.size else np.nan for name, x in ended.items()}
        figures |= {name: float(rows[name].mean()) for name in ("reward", *terms)}
        figures |= {"episodes": float(is_over.sum()), "std": float(np.exp(log_std).mean())}
        return {**rows, "is_over": is_over}, figures

    # -- learning

    def _learn(self, rows: Mapping[str, Array], apply: Callable[..., Iterator[Any]]) -> dict[str, float]:
        """Improve the policy and the values."""
        s = self.settings
        reward = self._scaled(rows["reward"], rows["is_over"])
        with torch.no_grad():
            value, following = self._values(rows)
            advantage = advantages(reward, value, following, torch.from_numpy(rows["is_over"]), s.discount, s.trace)
            target = (advantage + value).flatten()
            advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
            old_log_std = self._parts()[1].clone()
        observation, sample, old_mean = self._mirrored(rows)
        old = log_probability(sample, old_mean, old_log_std)
        if s.mirror is not None:  # the divergence is from the old policy, whose means there are other ones
            old_mean = forward(self._actor, s.activation, self._parts()[0], observation).detach()

        def loss(index: Tensor) -> tuple[Tensor, Tensor]:
            """The gradient of the sum of the losses of some steps, and the sums of its terms."""
            x, A = observation[index], advantage[index]
            actor, log_std, critic = self._parts()
            mean = forward(self._actor, s.activation, actor, x)
            ratio = torch.exp(log_probability(sample[index], mean, log_std) - old[index])
            gain = torch.min(A * ratio, A * ratio.clamp(1.0 - s.clip, 1.0 + s.clip)).sum()
            squares = (forward(self._critic, s.activation, critic, x)[..., 0] - target[index]).square().sum()
            total = s.value_weight * squares - gain - s.entropy_weight * len(x) * log_std.sum()
            (gradient,) = torch.autograd.grad(total, self._theta)
            kl = divergence(old_mean[index], old_log_std, mean.detach(), log_std.detach()).sum()
            return gradient, torch.stack([kl, squares.detach(), gain.detach()])

        means = torch.zeros(3)
        for _ in range(s.epochs):
            for part in np.array_split(self._rng.permutation(len(sample)), s.minibatches):
                losses = [*apply(loss, torch.from_numpy(part).split(_AT_ONCE))]
                gradient, parts = (sum(x, torch.zeros(())) / len(part) for x in zip(*losses, strict=True))
                self._adapt(float(parts[0]))
                self._theta.grad = gradient
                torch.nn.utils.clip_grad_norm_(self._theta, s.largest_gradient)
                self._optimizer.step()
                means += parts / (s.epochs * s.minibatches)
        kl, squares, gain = means.tolist()
        return {"KL": kl, "value loss": squares, "gain": gain, "learning rate": self._rate}

    def _values(self, rows: Mapping[str, Array]) -> tuple[Tensor, Tensor]:
        """The values of all observations (N, T), and of the states after each step.

        That is 0 where the task ended the episode, and the value of the final observation where it was cut off.
        """

        def value(observation: Array) -> Tensor:
            return forward(self._critic, self.settings.activation, self._parts()[2], self._normal(observation))[..., 0]

        values = value(rows["observation"])
        following = torch.cat([values[:, 1:], value(self._worlds.observation)[:, None]], dim=1)
        is_cut = rows["truncated"] > 0.0
        following[torch.from_numpy(is_cut)] = value(rows["final_observation"][is_cut])
        following[torch.from_numpy(rows["terminated"] > 0.0)] = 0.0
        return values, following

    @property
    def _rate(self) -> float:
        return float(self._optimizer.param_groups[0]["lr"])

    def _adapt(self, kl: float) -> None:
        """A smaller learning rate after too large a step, and a larger one after too small a step."""
        aim = self.settings.divergence
        if aim is None:
            return
        factor = 1.0 / 1.5 if kl > 2.0 * aim else 1.5 if 0.0 < kl < 0.5 * aim else 1.0
        self._optimizer.param_groups[0]["lr"] = min(max(self._rate * factor, 1e-5), 1e-2)

    def _parts(self) -> tuple[Tensor, ...]:
        """The weights of the policy, the logarithms of its deviations, and the weights of the values."""
        actor, log_std, critic = self._theta.split([self._actor.size, self.env.action_size, self._critic.size])
        return actor, log_std, critic

    def _normal(self, observation: Array) -> Tensor:
        """Observations as the policy in the kernel has normalised them."""
        return torch.from_numpy(((observation - self._seen.mean) / self._seen.std).astype(np.float32))

    def _mirrored(self, rows: Mapping[str, Array]) -> tuple[Tensor, ...]:
        """Observations, samples and means of all steps (N T, …), some of them in the mirror."""
        observation, sample, mean = (
            rows[name].reshape(-1, rows[name].shape[-1]) for name in ("observation", "sample", "mean")
        )
        if self.settings.mirror is not None:
            is_mirrored = self._rng.random((len(sample), 1)) < 0.5
            image, sample_image = self.settings.mirror(observation, sample)
            _, mean_image = self.settings.mirror(observation, mean)
            observation, sample, mean = (
                np.where(is_mirrored, *pair)
                for pair in ((image, observation), (sample_image, sample), (mean_image, mean))
            )
        return self._normal(observation), *(torch.from_numpy(x.astype(np.float32)) for x in (sample, mean))

    def _scaled(self, reward: Array, is_over: Array) -> Tensor:
        """Rewards divided by the standard deviation of discounted returns."""
        if self.settings.scale_rewards:
            sums = np.empty_like(reward, np.float64)
            for t in range(reward.shape[1]):
                self._discounted = self._discounted * self.settings.discount + reward[:, t]
                sums[:, t] = self._discounted
                self._discounted[is_over[:, t]] = 0.0
            self._returned.add(sums.reshape(-1, 1))
            reward = reward / self._returned.std
        return torch.from_numpy(reward.astype(np.float32))

    # -- checkpoints

    def state(self) -> dict[str, Array]:
        """Everything that the next iteration depends on, as copies."""
        adam = self._optimizer.state_dict()["state"].get(0, {})
        return {
            "theta": self._theta.detach().numpy().copy(), "learning rate": np.array(self._rate),
            **{f"adam {name}": x.numpy().copy() for name, x in adam.items()},
            "worlds": self._worlds.numbers.copy(), "seen": self._seen.state(), "returned": self._returned.state(),
            "discounted": self._discounted.copy(), "generator": np.array(json.dumps(self._rng.bit_generator.state)),
        }  # fmt: skip

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a `state`."""
        with torch.no_grad():
            self._theta.copy_(torch.from_numpy(state["theta"]))
        adam = {
            name.removeprefix("adam "): torch.from_numpy(x.copy())
            for name, x in state.items()
            if name.startswith("adam ")
        }
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": {0: adam} if adam else {}, "param_groups": groups})
        self._optimizer.param_groups[0]["lr"] = float(state["learning rate"])
        self._worlds = self.env.worlds(state["worlds"].copy())
        self._seen.restore(state["seen"])
        self._returned.restore(state["returned"])
        self._discounted = state["discounted"].copy()
        self._rng.bit_generator.state = json.loads(str(state["generator"]))


def _one_thread() -> None:
    torch.set_num_threads(1)  # new threads take the number, but OpenMP's own remains what it was


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """PyTorch computes with one thread where it is called: others would wait for each other after every operation."""
    before = torch.get_num_threads()
    _one_thread()
    try:
        yield
    finally:
        torch.set_num_threads(before)


def forward(network: Policy, activation: str, weights: Tensor, x: Tensor) -> Tensor:
    """The output of a multilayer perceptron."""
    arrays = [*network.split(weights).values()]
    layers = [*zip(arrays[::2], arrays[1::2], strict=True)]
    for W, b in layers[:-1]:
        x = getattr(torch.nn.functional, activation, torch.nn.Identity())(torch.nn.functional.linear(x, W, b))
    return torch.nn.functional.linear(x, *layers[-1])


def log_probability(sample: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """The logarithm of a normal distribution's density (n,), without its constant."""
    return -(0.5 * ((sample - mean) * torch.exp(-log_std)).square() + log_std).sum(-1)


def divergence(old_mean: Tensor, old_log_std: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """The KL divergence of normal distributions from old ones (n,)."""
    squares = torch.exp(2.0 * old_log_std) + (old_mean - mean).square()
    return (log_std - old_log_std + 0.5 * squares * torch.exp(-2.0 * log_std) - 0.5).sum(-1)


def advantages(
    reward: Tensor, value: Tensor, following: Tensor, is_over: Tensor, discount: float, trace: float
) -> Tensor:
    """Generalised advantage estimates (N, T): how much better than its value each step turned out to be.

    `following` is the value of the state after each step.
    """
    error = reward + discount * following - value
    result, later = torch.empty_like(error), torch.zeros_like(error[:, 0])
    for t in reversed(range(error.shape[1])):
        later = error[:, t] + discount * trace * ~is_over[:, t] * later
        result[:, t] = later
    return result
