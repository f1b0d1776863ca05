"""Policies in the kernel, with and without noise, and their episodes as motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree import random
from kinetree.learning.environment import Environment
from kinetree.learning.policies import Policy
from kinetree.records import record
from kinetree.sim import Trajectory

__all__ = ["Exploring", "Within", "play"]


@record(frozen=True, slots=True)
class Within:
    """A policy whose actions are moved to the bounds of the environment's."""

    policy: Callable[..., Any]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, env: Environment, policy: Callable[..., Any]) -> Within:
        """A policy for an environment."""
        return cls(policy, tuple(env.action_low.tolist()), tuple(env.action_high.tolist()))

    def __call__(self, weights: Any, observation: Any) -> Any:
        return np.clip(self.policy(weights, observation), np.array(self.low), np.array(self.high))


@record(frozen=True, slots=True)
class Exploring:
    """A policy with normal noise. Its weights are the policy's and the logarithms of the noise's deviations."""

    policy: Policy
    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, env: Environment, policy: Policy) -> Exploring:
        """A policy for an environment."""
        return cls(policy, tuple(env.action_low.tolist()), tuple(env.action_high.tolist()))

    def __call__(self, weights: Any, observation: Any, key: Any) -> dict[str, Any]:
        mean = self.policy(weights[: self.policy.size], observation)
        sample = mean + np.exp(weights[self.policy.size :]) * random.normal(key, len(self.low))
        return {"action": np.clip(sample, np.array(self.low), np.array(self.high)), "sample": sample, "mean": mean}


def play(
    env: Environment,
    policy: Callable[..., Any],
    weights: ArrayLike,
    worlds: int | None = None,
    *,
    seed: int = 0,
    steps: int | None = None,
    threads: int | None = None,
) -> Trajectory:
    """Episodes under a policy without noise, as motions to show and to keep.

    Args:
        env: the task.
        policy: a function of weights and observation, such as `kt.learning.mlp`. Actions beyond their bounds are moved
            to them.
        weights: its numbers (n,).
        worlds: how many episodes, as a batch; None for one.
        seed: that of the worlds' random numbers.
        steps: the most steps; by default those of the task's episodes, or 1000.
        threads: how many threads may be used; by default as many as are worth it.

    Returns:
        The motions. In `recorded` are "observation", and what followed from it, "action", "reward" and its terms; the
        last row, and rows after the end of one of several episodes, repeat the last values, with rewards of zero.

    >>> import kinetree as kt
    >>> env = kt.learning.task("cart_pole")
    >>> policy = kt.learning.mlp((5, 16, 1))
    >>> kt.learning.play(env, policy, policy.initial(0), steps=50).q.shape
    (51, 2)
    """
    steps, weights = steps or env.max_steps or 1000, np.asarray(weights, np.float64)
    begun = env.reset(seed, 1 if worlds is None else worlds, threads=threads)
    names = ("action", "observation", "reward", *(f"reward {name}" for name in begun.recorded))
    unroll = env.unroll_program(Within.of(env, policy), weights.shape[-1], steps, record=("state", *names))
    results = unroll(begun.state, begun.observation, weights, **({} if threads is None else {"threads": threads}))
    length = results["episode_length"].astype(int)
    moments = np.minimum(np.arange(length.max() + 1), length[:, None])  # (N, T): later rows repeat the last one
    world = np.arange(len(length))[:, None]
    states = np.concatenate([begun.state[:, None], results["rows"]["state"]], axis=1)[world, moments]
    recorded = {}
    for name in names:
        recorded[name] = results["rows"][name][world, np.minimum(moments, length[:, None] - 1)]
        if name.startswith("reward"):
            recorded[name][moments == length[:, None]] = 0.0
    parts = env.parts_of_state(states)
    motion = Trajectory.of_states(
        env.robot, parts["q"].copy(), parts["v"].copy(), env.dt, integrator=env.name, recorded=recorded,
        ended=length * env.dt,
    )  # fmt: skip
    return motion[0] if worlds is None else motion
