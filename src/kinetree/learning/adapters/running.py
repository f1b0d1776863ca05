"""Worlds that continue from call to call; every adapter holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ShapeError, SimulationError
from kinetree.inputs import chosen_word
from kinetree.learning.environment import Environment
from kinetree.learning.worlds import Worlds
from kinetree.pictures import Camera
from kinetree.pictures.render import render

__all__ = ["Running", "chosen_render_mode", "drawn_seed"]


class Running:
    """Worlds of an environment: where they are now, in one of two buffers that are written in turn."""

    def __init__(
        self,
        env: Environment,
        worlds: int | Sequence[int] | None,
        dtype: str = "float64",
        settings: Mapping[str, ArrayLike] | None = None,
        threads: int | None = None,
    ) -> None:
        self.env = env
        self.settings: dict[str, ArrayLike] = dict(settings or {})
        """Values of settings, which may be changed between steps."""
        self.threads = threads
        first = env.reset(0, worlds, dtype=dtype, settings=self.settings, threads=threads)
        self.now: Worlds = first
        self.before: Worlds = env.worlds(np.zeros_like(first.numbers))
        self.shape = (*first.state.shape[:-1], env.action_size)
        """The shape of an action."""
        self._which = worlds
        self.has_begun: bool = False

    def reset(self, seed: int | Sequence[int] | None, mask: ArrayLike | None = None) -> Worlds:
        """Begin episodes in all worlds, or where the mask is: the first ones of a seed, or, without one, the next."""
        if not self.has_begun and (seed is None or not np.all(True if mask is None else mask)):
            raise SimulationError(f"{self.env.name}: the first reset is of all worlds, and has a seed")
        if seed is None:
            return self.env.restart(self.now, mask, settings=self.settings, threads=self.threads)
        dtype = self.now.numbers.dtype.name
        begun = self.env.reset(seed, self._which, dtype=dtype, settings=self.settings, threads=self.threads)
        places: Any = ... if mask is None else mask
        self.now.numbers[places] = begun.numbers[places]
        self.has_begun = True
        return self.now

    def step(self, action: Any) -> Worlds:
        """One step of all worlds."""
        action = np.asarray(action)
        if action.shape != self.shape:
            raise ShapeError(f"{self.env.name}: actions have shape {action.shape}, but {self.shape} is needed")
        if not self.has_begun:
            raise SimulationError(f"{self.env.name}: call reset before the first step")
        env, now, after = self.env, self.now, self.before
        env.step(now.state, action, out=after, settings=self.settings, threads=self.threads)
        self.now, self.before = after, now
        return after

    def pictures(self, camera: Camera | None) -> list[NDArray[np.uint8]]:
        """A picture (360, 480, 3) of each world."""
        parts = {name: np.atleast_2d(x) for name, x in self.env.parts_of_state(self.now.state).items()}
        robot = self.env.robot
        drawn = {name: parts[f"drawn {name}"] for name in robot.parameter_names if f"drawn {name}" in parts}
        return [
            render(robot, q, size=(480, 360), camera=camera, parameters={name: x[i] for name, x in drawn.items()})
            for i, q in enumerate(parts["q"].astype(np.float64))
        ]


def chosen_render_mode(given: Any) -> str | None:
    """How worlds are drawn, if they are."""
    return None if given is None else chosen_word("render_mode", given, "rgb_array")


def drawn_seed(generator: np.random.Generator) -> int:
    """A seed that is a whole number in float32 too."""
    return int(generator.integers(1 << 24))
