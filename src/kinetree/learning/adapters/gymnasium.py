"""Environments as Gymnasium's `VectorEnv`, of many worlds, and `Env`, of one.

Importing this module registers kinetree's tasks as "kinetree/NAME", for `gymnasium.make` and `make_vec`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError, ShapeError, SimulationError
from kinetree.learning.adapters.running import Running, chosen_render_mode, drawn_seed
from kinetree.learning.environment import Environment
from kinetree.learning.tasks import NAMES
from kinetree.learning.tasks import task as learning_task
from kinetree.learning.worlds import Worlds
from kinetree.pictures import Camera

__all__ = ["ManyWorlds", "OneWorld", "many_worlds", "one_world", "spaces"]

Array = NDArray[Any]
_MODES = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "disabled": AutoresetMode.DISABLED,
}


def spaces(env: Environment, dtype: str) -> tuple[Box, Box]:
    """The spaces of the observations and the actions of one world."""
    kind: Any = np.dtype(dtype).type
    observations = Box(-np.inf, np.inf, (env.observation_size,), kind)
    return observations, Box(env.action_low.astype(kind), env.action_high.astype(kind), dtype=kind)


class _Described:
    """Metadata and the names in infos, of many worlds and of one."""

    running: Running
    """The worlds."""

    def _set_up(self, env: Environment, render_mode: str | None, camera: Camera | None, **metadata: Any) -> None:
        self.render_mode: str | None = chosen_render_mode(render_mode)
        self.metadata: dict[str, Any] = {
            "render_modes": ["rgb_array"], "render_fps": max(1, round(1.0 / env.dt)), **metadata,
        }  # fmt: skip
        self.settings: dict[str, ArrayLike] = self.running.settings
        """Values of the environment's settings, which may be changed between steps: those of a curriculum."""
        self._camera, now = camera, self.running.now
        self._scalars = ["episode_return", "episode_length", *(f"reward_{name}" for name in now.terms)]
        self._records = [name for name in now.recorded if name not in now.terms]
        if taken := {*self._scalars, "final_obs", "final_info"}.intersection(self._records):
            raise OptionError(f"{env.name}: the task records {taken.pop()!r}, which is another thing in infos")
        self._masks = [f"_{name}" for name in self._scalars + self._records]


class OneWorld(_Described, gymnasium.Env[Array, Array]):
    """One world of an environment, as Gymnasium has it; `Environment.to_gymnasium` makes it.

    `info` has the terms of the reward as "reward_NAME", and "episode_return" and "episode_length" so far.
    """

    def __init__(
        self,
        env: Environment,
        dtype: str = "float64",
        settings: Mapping[str, ArrayLike] | None = None,
        render_mode: str | None = None,
        camera: Camera | None = None,
    ) -> None:
        self.running = Running(env.with_autoreset("disabled"), None, dtype, settings)
        self.observation_space, self.action_space = spaces(env, dtype)
        self._set_up(env, render_mode, camera)
        self._is_over = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode: the first one of a seed, or the next one."""
        super().reset(seed=seed)
        _check_options(options)
        if seed is None and not self.running.has_begun:
            seed = drawn_seed(self.np_random)
        self._is_over = False
        return self.running.reset(seed).observation.copy(), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One step; the next one after the end of an episode needs a reset before."""
        if self._is_over:
            raise SimulationError(f"{self.running.env.name}: the episode has ended; call reset before the next step")
        worlds = self.running.step(action)
        reward, terminated, truncated, _, *scalars = worlds.scalars.tolist()
        self._is_over = bool(terminated or truncated)
        info: dict[str, Any] = dict(zip(self._scalars, scalars, strict=True))
        info["episode_length"] = int(info["episode_length"])
        for name in self._records:
            x = worlds.recorded[name]
            info[name] = x.copy() if x.ndim else float(x)
        return worlds.observation.copy(), reward, terminated != 0.0, truncated != 0.0, info

    def render(self) -> Any:
        """A picture (360, 480, 3), where render_mode is "rgb_array"."""
        return self.running.pictures(self._camera)[0] if self.render_mode else None


class ManyWorlds(_Described, gymnasium.vector.VectorEnv[Array, Array, Array]):
    """Many worlds of an environment, as Gymnasium has them; `Environment.to_gymnasium` makes it.

    World i of `reset(seed=s)` has the random numbers of (s, i), as in `Environment.reset`; a list has a seed for each
    world. Each step has new arrays; with `copy=False` the observations are views that the next step but one overwrites.
    `infos` has the terms of the reward as "reward_NAME", "episode_return" and "episode_length", each with a mask, and
    in the mode "same_step" final_obs and final_info, as `gymnasium.vector.SyncVectorEnv` has them.
    """

    def __init__(
        self,
        env: Environment,
        worlds: int | Sequence[int],
        autoreset: str | None = None,
        dtype: str = "float64",
        settings: Mapping[str, ArrayLike] | None = None,
        threads: int | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        camera: Camera | None = None,
    ) -> None:
        env = env if autoreset is None else env.with_autoreset(autoreset)
        self.running = Running(env, worlds, dtype, settings, threads)
        self.num_envs = self.running.shape[0]
        self.single_observation_space, self.single_action_space = spaces(env, dtype)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._set_up(env, render_mode, camera, autoreset_mode=_MODES[env.autoreset])
        self._copy = copy
        self._over = np.zeros(self.num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes: the first ones of a seed, or the next ones; with options={"reset_mask": …} in some worlds."""
        super().reset(seed=seed if seed is None or isinstance(seed, int) else None)
        mask = _check_options(options, self.num_envs)
        seeds = list(seed) if isinstance(seed, Sequence) else [seed] * self.num_envs
        if len(seeds) != self.num_envs:
            raise ShapeError(f"seed has {len(seeds)} numbers, but there are {self.num_envs} worlds")
        if not self.running.has_begun and None in seeds:
            drawn = drawn_seed(self.np_random)
            seeds = [drawn if x is None else x for x in seeds]
        seeded = np.array([x is not None for x in seeds])
        if (first := mask & seeded).any():
            self.running.reset([x or 0 for x in seeds], first)
        if (next_ones := mask & ~seeded).any():
            self.running.reset(None, next_ones)
        self._over = self._over & ~mask
        return self._seen(self.running.now), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One step of each world."""
        before, mode = self._over, self.running.env.autoreset
        if mode == "disabled" and before.any():
            raise SimulationError(
                f"{self.running.env.name}: the episode of world {int(np.argmax(before))} has ended; call "
                'reset(options={"reset_mask": …}) before the next step'
            )
        worlds = self.running.step(actions)
        rows = worlds.scalars.T.astype(np.float64, order="C")
        reward, scalars, (terminated, truncated) = rows[0], rows[4:], rows[1:3] != 0.0
        over = self._over = terminated | truncated
        infos: dict[str, Any] = {}
        if mode == "same_step" and (ended := np.flatnonzero(over)).size:
            final, last = np.full(self.num_envs, None, np.object_), np.zeros_like(scalars)
            for i, row in zip(ended.tolist(), worlds.final_observation[ended], strict=True):
                final[i] = row
            last[:, ended], scalars[:, ended] = scalars[:, ended], 0.0
            infos = {"final_obs": final, "_final_obs": over, "_final_info": over}
            infos["final_info"] = self._named(worlds, last, over)
        infos |= self._named(worlds, scalars, ~(over if mode == "same_step" else before))
        return self._seen(worlds), reward, terminated, truncated, infos

    def render(self) -> Any:
        """A picture (360, 480, 3) of each world, where render_mode is "rgb_array"."""
        return tuple(self.running.pictures(self._camera)) if self.render_mode else None

    def _seen(self, worlds: Worlds) -> Array:
        return worlds.observation.copy() if self._copy else worlds.observation

    def _named(self, worlds: Worlds, scalars: Array, mask: Array) -> dict[str, Any]:
        """The infos of the worlds in a mask: rows of numbers, which are zero elsewhere, and records."""
        if not mask.any():
            return {}
        infos = dict(zip(self._scalars, scalars, strict=True))
        infos["episode_length"] = infos["episode_length"].astype(np.int64)
        for name in self._records:
            x = worlds.recorded[name]
            infos[name] = np.where(
                mask.reshape(-1, *[1] * (x.ndim - 1)), x if x.ndim > 1 else x.astype(np.float64), 0.0
            )
        return infos | dict.fromkeys(self._masks, mask)


def _check_options(options: dict[str, Any] | None, worlds: int = 1) -> Array:
    """The mask among the options of a reset; by default all worlds are meant."""
    for name in options or {}:
        if name != "reset_mask":
            raise OptionError(f"reset has no option {name!r:.60}, only reset_mask")
    mask = np.asarray((options or {}).get("reset_mask", np.ones(worlds, np.bool_)))
    if mask.dtype != np.bool_ or mask.shape != (worlds,) or not mask.any():
        raise OptionError(f"reset_mask is an array ({worlds},) of truth values, some of them true, not {mask!r:.80}")
    return mask


def one_world(task: str, *, dtype: str = "float64", render_mode: str | None = None, **options: Any) -> OneWorld:
    """A world of a task with options, for `gymnasium.make("kinetree/NAME")`."""
    return OneWorld(learning_task(task, **options), dtype, render_mode=render_mode)


def many_worlds(
    task: str, num_envs: int, *, dtype: str = "float64", render_mode: str | None = None, **options: Any
) -> ManyWorlds:
    """Many worlds of a task, for `gymnasium.make_vec("kinetree/NAME")`."""
    return ManyWorlds(learning_task(task, **options), num_envs, dtype=dtype, render_mode=render_mode)


for _name in NAMES:
    gymnasium.register(
        f"kinetree/{_name}",
        entry_point=f"{__name__}:one_world",
        vector_entry_point=f"{__name__}:many_worlds",
        kwargs={"task": _name},
    )
