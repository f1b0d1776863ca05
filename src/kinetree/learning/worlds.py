"""Many worlds after a step or a reset: named views of one array."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from kinetree.learning.layout import Layout

__all__ = ["Worlds"]

TERM, RECORD = "reward ", "record "
"""The beginnings of names of terms of the reward and of recorded numbers in a layout."""
SCALARS = ("reward", "terminated", "truncated", "fault", "episode_return", "episode_length")
"""The results of a step that are one number, in order; the terms of the reward follow."""
Array = NDArray[Any]


class Worlds:
    """The states of worlds, and their observations. All are views of `numbers`, and change when it is written again.

    Saving `numbers` saves everything: `numpy.save(file, worlds.numbers)`, and `env.worlds(numpy.load(file))`.
    """

    def __init__(self, numbers: Array, layout: Layout) -> None:
        self.numbers: Array = numbers
        """One row per world (…, n)."""
        self.state: Array = layout.part(numbers, "state")
        """The beginning of the next step (…, n_state)."""
        self.observation: Array = layout.part(numbers, "observation")
        """(…, n_observation); of the new episode, where one has begun."""
        self.reward: Array = layout.part(numbers, "reward")
        """(…)"""
        self.final_observation: Array = layout.part(numbers, "final_observation")
        """(…, n_observation): that at the end of the step, before another episode has begun."""
        self.episode_return: Array = layout.part(numbers, "episode_return")
        """The sum of all rewards of the episode that the step belongs to (…)."""
        self.episode_length: Array = layout.part(numbers, "episode_length")
        """The number of its steps (…)."""
        self.recorded: dict[str, Array] = {
            name[len(TERM) :]: layout.part(numbers, name) for name in layout.shapes if name.startswith((TERM, RECORD))
        }
        """The terms of the reward, and the records of the task, by name (…, *shape)."""
        self.fault: Array = layout.part(numbers, "fault")
        """The number of the fault in the step, or 0 (…)."""
        self.terms: tuple[str, ...] = tuple(name[len(TERM) :] for name in layout.shapes if name.startswith(TERM))
        """The names of the terms of the reward."""
        start = layout.places[SCALARS[0]].start
        self.scalars: Array = numbers[..., start : start + len(SCALARS) + len(self.terms)]
        """The results that `SCALARS` names, and the terms of the reward, side by side (…, n)."""
        self._ends = layout.part(numbers, "terminated"), layout.part(numbers, "truncated")

    @property
    def terminated(self) -> Array:
        """Whether the task ended the episode (…)."""
        ended: Array = self._ends[0] != 0.0
        return ended

    @property
    def truncated(self) -> Array:
        """Whether the episode has had all its steps (…)."""
        ended: Array = self._ends[1] != 0.0
        return ended

    def __repr__(self) -> str:
        return f"<worlds {self.state.shape[:-1]} with observations of {self.observation.shape[-1]} numbers>"
