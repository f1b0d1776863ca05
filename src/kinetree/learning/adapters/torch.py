"""Worlds whose numbers are PyTorch's tensors in the same memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from numpy.typing import ArrayLike

from kinetree.learning.adapters.running import Running
from kinetree.learning.environment import Environment
from kinetree.learning.worlds import Worlds

__all__ = ["TensorWorlds"]


class TensorWorlds:
    """Worlds of an environment as tensors; `Environment.to_torch` makes it.

    Tensors of a step are views of one of two buffers: those of this step and of the one before it are there, and the
    next step overwrites the older ones.
    """

    def __init__(
        self,
        env: Environment,
        worlds: int | Sequence[int] | None,
        dtype: str = "float64",
        settings: Mapping[str, ArrayLike] | None = None,
        threads: int | None = None,
    ) -> None:
        self.running: Running = Running(env, worlds, dtype, settings, threads)
        """The worlds, as NumPy's arrays."""
        self.settings: dict[str, ArrayLike] = self.running.settings
        """Values of the environment's settings, which may be changed between steps."""
        self._tensors = {
            id(x): env.worlds(torch.from_numpy(x.numbers)) for x in (self.running.now, self.running.before)
        }
        self.action: torch.Tensor = torch.zeros(self.running.shape, dtype=getattr(torch, dtype))
        """An action to write to, of zeros (N, n)."""

    @property
    def worlds(self) -> Worlds:
        """The worlds as they are now; each attribute is a tensor."""
        return self._tensors[id(self.running.now)]

    def reset(self, seed: int | Sequence[int] | None = None, mask: torch.Tensor | None = None) -> Worlds:
        """Begin episodes: the first ones of a seed, or, without one, the next; in all worlds, or in those of a mask."""
        self.running.reset(seed, None if mask is None else mask.numpy())
        return self.worlds

    def step(self, action: torch.Tensor | None = None) -> Worlds:
        """One step of each world, by default with `self.action`."""
        given = self.action if action is None else action
        self.running.step(given.detach().numpy())
        return self.worlds
