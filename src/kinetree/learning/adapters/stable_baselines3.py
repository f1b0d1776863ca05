"""Environments as Stable-Baselines3's `VecEnv`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from kinetree.errors import OptionError
from kinetree.learning.adapters.gymnasium import spaces
from kinetree.learning.adapters.running import Running, chosen_render_mode, drawn_seed
from kinetree.learning.environment import Environment
from kinetree.pictures import Camera

__all__ = ["BaselineWorlds"]

Array = NDArray[Any]


class BaselineWorlds(VecEnv):
    """Many worlds of an environment, as Stable-Baselines3 has them; `Environment.to_sb3` makes it.

    The infos of worlds whose episode has ended have terminal_observation, TimeLimit.truncated, and episode, as its
    `Monitor` writes it.
    """

    def __init__(
        self,
        env: Environment,
        worlds: int | Sequence[int],
        dtype: str = "float64",
        settings: Mapping[str, ArrayLike] | None = None,
        threads: int | None = None,
        render_mode: str | None = None,
        camera: Camera | None = None,
    ) -> None:
        self.running = Running(env.with_autoreset("same_step"), worlds, dtype, settings, threads)
        """The worlds."""
        self.settings: dict[str, ArrayLike] = self.running.settings
        """Values of the environment's settings, which may be changed between steps."""
        self.render_mode = chosen_render_mode(render_mode)
        self._camera, self._began = camera, time.time()
        self._seed: int | None = None
        super().__init__(self.running.shape[0], *spaces(env, dtype))

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The seed of all worlds from the next reset on."""
        self._seed = seed
        return [seed] * self.num_envs

    def reset(self) -> Array:
        """Begin episodes: the first ones of a seed that `seed` gave or that is drawn, and then the next ones."""
        seed, self._seed = self._seed, None
        if seed is None and not self.running.has_begun:
            seed = drawn_seed(np.random.default_rng())
        return self.running.reset(seed).observation.copy()

    def step_async(self, actions: Array) -> None:
        """Keep the actions of a step."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """One step of each world."""
        worlds = self.running.step(self._actions)
        truncated = worlds.truncated & ~worlds.terminated
        over = worlds.truncated | worlds.terminated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over):
            infos[i] = {
                "terminal_observation": worlds.final_observation[i].copy(),
                "TimeLimit.truncated": bool(truncated[i]),
                "episode": {
                    "r": float(worlds.episode_return[i]),
                    "l": int(worlds.episode_length[i]),
                    "t": round(time.time() - self._began, 6),
                },
            }
        return worlds.observation.copy(), worlds.reward.astype(np.float32), over, infos

    def close(self) -> None:
        """Nothing is open."""

    def get_images(self) -> Sequence[Array | None]:
        """A picture (360, 480, 3) of each world, where render_mode is "rgb_array"."""
        return self.running.pictures(self._camera) if self.render_mode else [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the worlds, which is the same for all."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of all worlds."""
        if len([*self._get_indices(indices)]) < self.num_envs:
            raise OptionError(f"{attr_name!r:.60} is set for all worlds; a setting may have a value for each")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:
        """Worlds are rows of numbers, which have no methods."""
        raise OptionError(f"worlds are rows of numbers, and have no method {method_name!r:.60}")

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """Whether worlds do what a wrapper would: `Monitor` reports the returns of episodes."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
