"""From a motion, and what is asked for, to a picture of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.charts.sheet import picture_path, write_picture
from kinetree.errors import OptionError
from kinetree.plots.batches import batch_figure
from kinetree.plots.choice import Choice, choice_of
from kinetree.plots.moments import seen_of, shown_rows, until_ended
from kinetree.plots.pairs import differences_of, in_common
from kinetree.plots.panels import divided, panels_of, worth_drawing
from kinetree.plots.series import Panel, Seen
from kinetree.plots.stacked import Other, stacked
from kinetree.plots.words import endings_of, notes_of, title_of
from kinetree.sim.events import Occurrence
from kinetree.sim.folder import TrajectoryFolder
from kinetree.sim.picking import Samples
from kinetree.sim.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure", "plot"]

_ARRAYS = {
    "positions": ("q",), "velocities": ("v",), "accelerations": ("qdd",), "torques": ("tau",),
    "energies": ("kinetic", "potential", "work", "dissipated"), "contacts": ("recorded.contact.wrench",),
}  # fmt: skip
"""What is read for a word of `what`; "balance" needs the energies, too."""


def figure(
    motion: Trajectory | TrajectoryFolder,
    *,
    what: Any = None,
    joints: Any = None,
    samples: Samples | None = None,
    beside: Trajectory | TrajectoryFolder | None = None,
    names: Sequence[str] = ("first", "second"),
) -> Figure:
    """The picture of a motion, as a matplotlib figure; the arguments and errors are those of `Trajectory.plot`."""
    mine = _on_hand("the motion", motion, what, joints, samples, is_alone=beside is None)
    is_one = len(mine[-1].samples) == 1
    if beside is None:
        return _of_one(*mine) if is_one else batch_figure(*mine)
    if len(names) != 2 or isinstance(names, str):
        raise OptionError(f"plot: names must be those of the two motions, not {names!r:.60}")
    shared = samples if getattr(beside, "shape", ()) else None
    theirs = _on_hand("beside", beside, what, joints, shared, is_alone=False)
    if is_one and len(theirs[-1].samples) == 1:
        return _of_two(mine, theirs, names)
    return batch_figure(*mine, theirs, names)


def plot(motion: Trajectory | TrajectoryFolder, path: str | os.PathLike[str], **asked: Any) -> Path:
    """Write the picture of a motion to a file; the arguments and errors are those of `Trajectory.plot`."""
    target = picture_path(path)
    return write_picture(figure(motion, **asked), target)


def _of_one(motion: Trajectory, choice: Choice, seen: Seen) -> Figure:
    panels, idle = worth_drawing(panels_of(motion, seen, choice), choice)
    notes = notes_of(idle, more=endings_of(motion, seen))
    drawn = _until_ended(motion, seen, divided(panels))
    return stacked(title_of(motion, seen), seen.time, drawn, notes, _events(motion, seen), None)


def _of_two(
    first: tuple[Trajectory, Choice, Seen], second: tuple[Trajectory, Choice, Seen], names: Sequence[str]
) -> Figure:
    (motion, choice, seen), (beside, theirs, there) = first, second
    mine, others, alone = in_common(panels_of(motion, seen, choice), panels_of(beside, there, theirs))
    differences = differences_of(motion, beside, choice, theirs)
    panels, idle = worth_drawing(mine, choice, others)
    panels = divided(panels)
    panels, others, _ = in_common(panels, others)
    title = f"—— {names[0]}: {title_of(motion, seen)}\n- - -  {names[1]}: {title_of(beside, there)}"
    notes = notes_of(idle, alone, [*endings_of(motion, seen, names[0]), *endings_of(beside, there, names[1])])
    panels, others = _until_ended(motion, seen, panels), _until_ended(beside, there, others)
    other = Other(there.time, others, differences, f"{names[1]} − {names[0]}")
    return stacked(title, seen.time, panels, notes, [*_events(motion, seen), *_events(beside, there)], other)


def _until_ended(motion: Trajectory, seen: Seen, panels: Sequence[Panel]) -> list[Panel]:
    return [replace(p, lines=[replace(x, values=until_ended(motion, seen, x.values)) for x in p.lines]) for p in panels]


def _events(motion: Trajectory, seen: Seen) -> list[Occurrence]:
    """What happened to the one motion that is drawn."""
    (index,) = seen.indices
    return [event for event in motion.events if tuple(event.sample) == index]


def _on_hand(
    name: str, motion: Any, what: Any, joints: Any, samples: Samples | None, *, is_alone: bool
) -> tuple[Trajectory, Choice, Seen]:
    """What is drawn of a motion; of one on disk that is drawn alone, as many rows are read as can be told apart.

    `name` is what an error calls the motion. Raises OptionError, NameNotFoundError, TrajectoryFileError.
    """
    if isinstance(motion, Trajectory):
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
