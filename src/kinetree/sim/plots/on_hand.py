"""The part of a motion that a picture shows: of one on disk no more is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.sim.picking import Rows, Samples
from kinetree.sim.plots.choice import Choice, Named, choice_of
from kinetree.sim.plots.moments import seen_of, shown_rows
from kinetree.sim.plots.series import Seen
from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["OnDisk", "on_hand"]

_ARRAYS = {
    "positions": ("q",), "velocities": ("v",), "accelerations": ("qdd",), "torques": ("tau",),
    "energies": ("kinetic", "potential", "work", "dissipated"), "contacts": ("recorded.contact.wrench",),
}  # fmt: skip
"""What is read for a word of `what`; "balance" needs the energies, too."""


class OnDisk(Named, Protocol):
    """A folder of motions."""

    @property
    def time(self) -> NDArray[np.float64]: ...
    @property
    def recorded(self) -> tuple[str, ...]: ...
    def part(
        self, rows: Rows = ..., samples: NDArray[np.intp] | None = ..., arrays: Callable[[str], bool] = ...
    ) -> TrajectoryArrays: ...


def on_hand(
    name: str, motion: Any, what: Any, joints: Any, samples: Samples | None, *, is_alone: bool
) -> tuple[TrajectoryArrays, Choice, Seen]:
    """What is drawn of a motion; of one on disk that is drawn alone, as many rows are read as can be told apart.

    `name` is what an error calls the motion. Raises OptionError, NameNotFoundError, TrajectoryFileError.
    """
    if isinstance(motion, TrajectoryArrays):
        choice = choice_of(motion, what, joints, samples)
        return motion, choice, seen_of(motion, choice)
    if not hasattr(motion, "part"):
        raise OptionError(f"plot: {name} must be another trajectory, not {motion!r:.60}")
    if not len(motion.time):
        raise OptionError(f"plot: {name} has no rows yet")
    choice = choice_of(motion, what, joints, samples)
    count = int(np.prod(motion.shape))
    numbers = np.arange(count) if choice.samples is None else choice.samples
    rows = shown_rows(np.arange(len(motion.time)), len(numbers)) if is_alone else slice(None)
    needed = {array for word in choice.words for array in _ARRAYS.get(word, (f"recorded.{word}",))}
    needed |= set(_ARRAYS["energies"] if "balance" in choice.words else ())
    part = motion.part(rows, choice.samples, needed.__contains__)
    choice = replace(choice, samples=None)
    return part, choice, replace(seen_of(part, choice), numbers=numbers, count=count)
