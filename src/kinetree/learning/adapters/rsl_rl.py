"""Environments as rsl_rl's `VecEnv`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from kinetree.errors import NameNotFoundError, listed
from kinetree.learning.adapters.torch import TensorWorlds
from kinetree.learning.environment import Environment
from kinetree.learning.layout import Layout

__all__ = ["RslWorlds"]


class RslWorlds(VecEnv):  # type: ignore[misc] # it has no types
    """Many worlds of an environment, as rsl_rl has them; `Environment.to_rsl_rl` makes it.

    Observations are float32, in groups of their parts; `extras["log"]` has the mean of each term of the reward.
    """

    def __init__(
        self,
        env: Environment,
        worlds: int | Sequence[int],
        seed: int = 0,
        groups: Mapping[str, Sequence[str]] | None = None,
        dtype: str = "float64",
        settings: Mapping[str, ArrayLike] | None = None,
        threads: int | None = None,
    ) -> None:
        env = env.with_autoreset("same_step")
        places = Layout(env.observation_parts).places
        self._groups = {"policy": [slice(None)]}
        if groups is not None:
            for name in (name for group in groups.values() for name in group if name not in places):
                raise NameNotFoundError(f"{env.name}: the observation has no part {name!r:.60}, only {listed(places)}")
            self._groups = {group: [places[name] for name in names] for group, names in groups.items()}
        self.worlds: TensorWorlds = TensorWorlds(env, worlds, dtype, settings, threads)
        """The worlds, as tensors."""
        self.num_envs, self.num_actions = self.worlds.action.shape
        self.max_episode_length = env.max_steps or 2**31 - 1
        self.device, self.cfg = "cpu", {"name": env.name}
        self.worlds.reset(seed)

    @property
    def episode_length_buf(self) -> Any:
        """How many steps of its episode each world has had (N,); values written here become its counters."""
        return torch.from_numpy(self._steps().astype(np.int64))

    @episode_length_buf.setter
    def episode_length_buf(self, steps: torch.Tensor) -> None:
        self._steps()[...] = steps.numpy()

    def get_observations(self) -> TensorDict:
        """The observations, by group (N, n)."""
        now: Any = self.worlds.worlds
        seen = now.observation.float()
        groups = {
            name: seen[:, places[0]] if len(places) == 1 else torch.cat([seen[:, place] for place in places], -1)
            for name, places in self._groups.items()
        }
        return TensorDict(groups, batch_size=[self.num_envs])

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """One step of each world."""
        now: Any = self.worlds.step(actions)
        means = now.scalars.mean(0)[-len(now.terms) :].tolist() if now.terms else []
        log = {f"/reward/{name}": x for name, x in zip(now.terms, means, strict=True)}
        extras = {"time_outs": now.truncated & ~now.terminated, "log": log}
        return self.get_observations(), now.reward.float(), (now.terminated | now.truncated).long(), extras

    def _steps(self) -> Any:
        running = self.worlds.running
        return running.env.parts_of_state(running.now.state)["step"]
