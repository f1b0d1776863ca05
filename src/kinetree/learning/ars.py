"""Augmented random search: the policy moves along the random directions in which returns change most.

Source: Mania, Guy and Recht, "Simple random search of static policies is competitive for reinforcement learning"
(2018), algorithm 2, version V2-t.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.learning.environment import Environment
from kinetree.learning.moments import Moments
from kinetree.learning.playing import Within
from kinetree.learning.policies import Policy, mlp
from kinetree.learning.settings import ARS

__all__ = ["Learner"]


class Learner:
    """Everything that is learned, and an iteration of it."""

    def __init__(self, env: Environment, settings: ARS, seed: int, threads: int | None = None) -> None:
        self.env, self.settings, self._seed, self._threads = env, settings, seed, threads
        self.policy: Policy = mlp((env.observation_size, *settings.hidden, env.action_size), normalize=True)
        self._rng = np.random.default_rng(seed)
        self._seen = Moments(env.observation_size)
        self._theta = self.policy.initial(self._rng)[2 * env.observation_size :] * bool(settings.hidden)
        self._horizon = settings.horizon or env.max_steps or 1000
        self._count = 0
        self.steps: int = 2 * settings.directions * self._horizon

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of the policy."""
        return np.concatenate([self._seen.mean, self._seen.std, self._theta])

    def iterate(self) -> dict[str, float]:
        """Try directions, both ways, and take a step; figures of the iteration by name."""
        begin, s, n = time.perf_counter(), self.settings, 2 * self.env.observation_size
        direction = self._rng.normal(size=(s.directions, self._theta.size))
        weights = np.tile(self.weights, (2 * s.directions, 1))
        weights[:, n:] += s.noise * np.concatenate([direction, -direction])
        numbers = 2 * [
            *range(self._count * s.directions, (self._count + 1) * s.directions)
        ]  # both ways from the same start
        worlds = self.env.reset(self._seed, numbers, threads=self._threads)
        end = self.env.unroll(
            worlds, Within.of(self.env, self.policy), weights, self._horizon, record=("observation",),
            threads=self._threads,
        )  # fmt: skip
        middle = time.perf_counter()
        forth, back = (end.episode_return - s.bonus * end.episode_length).reshape(2, -1)
        best = np.argsort(np.maximum(forth, back), kind="stable")[-s.best :]
        deviation = np.concatenate([forth[best], back[best]]).std() + 1e-8
        self._theta = self._theta + s.step_size / (len(best) * deviation) * ((forth - back)[best] @ direction[best])
        self._seen.add(end.rows["observation"].reshape(-1, self.env.observation_size))
        self._count += 1
        seconds = time.perf_counter() - begin
        return {
            "return": float(end.episode_return.mean()), "length": float(end.episode_length.mean()),
            "best return": float(end.episode_return.max()), "environment": (middle - begin) / seconds,
            "steps/s": self.steps / seconds,
        }  # fmt: skip

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        generator = np.array(json.dumps(self._rng.bit_generator.state))
        return {
            "theta": self._theta,
            "seen": self._seen.state(),
            "count": np.array(self._count),
            "generator": generator,
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state`."""
        self._theta, self._count = state["theta"].copy(), int(state["count"])
        self._seen.restore(state["seen"])
        self._rng.bit_generator.state = json.loads(str(state["generator"]))
