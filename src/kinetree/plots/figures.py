"""From a motion and the requested quantities to a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.charts.sheet import picture_path, sheet, write_picture
from kinetree.charts.style import INK, LOOKS, colors_of, dress, legend, plain, widen
from kinetree.errors import OptionError
from kinetree.plots.batches import batch_figure
from kinetree.plots.choice import Choice, choice_of
from kinetree.plots.moments import seen_of, shown_rows, until_ended
from kinetree.plots.pairs import Differences, differences_of, in_common
from kinetree.plots.panels import ENERGIES, divided, panels_of, worth_drawing
from kinetree.plots.series import Array, Panel, Seen
from kinetree.plots.words import endings_of, notes_of, title_of
from kinetree.records import record
from kinetree.sim.events import Occurrence
from kinetree.sim.folder import TrajectoryFolder
from kinetree.sim.picking import Samples
from kinetree.sim.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure", "plot"]

_ARRAYS = {
    "positions": ("q",), "velocities": ("v",), "accelerations": ("qdd",), "torques": ("tau",),
    "energies": ("kinetic", "potential", "work", "dissipated"), "contacts": ("recorded.contact.wrench",),
}  # fmt: skip
"""The quantities to read for a word of `what`; "balance" needs the energies, too."""


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
    ours = _on_hand("the motion", motion, what, joints, samples, is_alone=beside is None)
    is_one = len(ours[-1].samples) == 1
    if beside is None:
        return _of_one(*ours) if is_one else batch_figure(*ours)
    if len(names) != 2 or isinstance(names, str):
        raise OptionError(f"plot: names must be those of the two motions, not {names!r:.60}")
    shared = samples if getattr(beside, "shape", ()) else None
    theirs = _on_hand("beside", beside, what, joints, shared, is_alone=False)
    if is_one and len(theirs[-1].samples) == 1:
        return _of_two(ours, theirs, names)
    return batch_figure(*ours, theirs, names)


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
    ours, others, alone = in_common(panels_of(motion, seen, choice), panels_of(beside, there, theirs))
    differences = differences_of(motion, beside, choice, theirs)
    panels, idle = worth_drawing(ours, choice, others)
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
    """Events of the one motion that is drawn."""
    (index,) = seen.indices
    return [event for event in motion.events if tuple(event.sample) == index]


def _on_hand(
    name: str, motion: Any, what: Any, joints: Any, samples: Samples | None, *, is_alone: bool
) -> tuple[Trajectory, Choice, Seen]:
    """The rows of a motion to draw; of one on disk that is drawn alone, as many are read as can be distinguished.

    `name` is the name of the motion in errors. Raises OptionError, NameNotFoundError, TrajectoryFileError.
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


_LEVELS = 3
"""Heights at which names are written in turn, so that neighbours do not cover each other."""
_MOST_NAMES = 12


def mark_events(axes: Sequence[Axes], events: Sequence[Occurrence], *, is_named: bool = True) -> None:
    """A thin line at the time of each event; the names are above the first of the axes."""
    named: set[str] = set()
    for event in events:
        for ax in axes:
            ax.axvline(event.time, color=INK, linewidth=0.8, linestyle=(0, (1, 2)), alpha=0.7, label="_event")
        if is_named and event.name not in named and len(named) < _MOST_NAMES:
            level = 1.01 + 0.075 * (len(named) % _LEVELS)
            axes[0].annotate(
                plain(event.name), (event.time, level), xycoords=("data", "axes fraction"), fontsize=7, color=INK,
                ha="center", va="bottom",
            )  # fmt: skip
            named.add(event.name)


_WIDTH, _WIDTH_OF_TWO = 10.5, 16.0
_SECOND: dict[str, Any] = {"linestyle": (0, (4, 1.6)), "linewidth": 1.1, "alpha": 0.9}
"""The look of a second motion's lines next to those of the first."""


@record(frozen=True, slots=True, eq=False)
class Other:
    """A second motion, with the same panels and lines."""

    time: Array
    panels: Sequence[Panel]
    differences: Differences
    heading: str
    """The text above the differences."""


def stacked(
    title: str, time: Array, panels: Sequence[Panel], notes: str, events: Sequence[Occurrence], other: Other | None
) -> Figure:
    """The picture of one motion, or of two, with their differences in a second column."""
    many = sum(panel.part not in ENERGIES for panel in panels) > 4
    heights = [_height(panel, many) for panel in panels]
    columns = 1 if other is None else 2
    drawn, axes = sheet(title, (_WIDTH if other is None else _WIDTH_OF_TWO, sum(heights) + 0.9), columns, heights)
    for k, panel in enumerate(panels):
        _draw(axes[k, 0], time, panel)
        if other is not None:
            _draw_second(axes[k, 0], other.time, other.panels[k])
            _draw_differences(axes[k, 1], other.differences, panel)
            if panel.lines[0].attitudes is not None:
                axes[k, 1].set_ylabel("angle between, rad")
        axes[k, 0].set_ylabel(panel.label)
        for ax in axes[k]:
            widen(ax, panel.floor)
            dress(ax)
        legend(axes[k, -1])
    if other is not None:
        axes[0, 1].set_title(plain(other.heading), fontsize=9)
        time = np.append(time, other.time)
    axes[-1, 0].set_xlabel("time, s" + notes)
    if columns == 2:
        axes[-1, 1].set_xlabel("time, s")
    mark_events(axes[:, 0], events)
    axes[-1, 0].set_xlim(time.min(), max(time.max(), np.nextafter(time.min(), np.inf)))
    return drawn


def _height(panel: Panel, many: bool) -> float:
    if panel.part in ENERGIES:
        return 2.6 if panel.part == "energies" else 1.5
    return 3.4 if len(panel.lines) > 3 and not many else 2.2


def _looks(panel: Panel) -> list[dict[str, Any]]:
    colors, many = colors_of(len(panel.lines)), len(panel.lines) > 8
    return [
        LOOKS.get(line.look)
        or {
            "color": colors[k],
            "linestyle": ("-", (0, (5, 1.5)))[k % 2] if many else "-",
            "linewidth": 1.1 if many else 1.5,
        }
        for k, line in enumerate(panel.lines)
    ]


def _draw(ax: Axes, time: Array, panel: Panel) -> None:
    for line, look in zip(panel.lines, _looks(panel), strict=True):
        ax.plot(time, line.values[0], label=plain(line.name), **look)


def _draw_second(ax: Axes, time: Array, panel: Panel) -> None:
    for line, look in zip(panel.lines, _looks(panel), strict=True):
        ax.plot(time, line.values[0], label="_second", color=look["color"], **_SECOND)


def _draw_differences(ax: Axes, differences: Differences, panel: Panel) -> None:
    for line, look in zip(panel.lines, _looks(panel), strict=True):
        ax.plot(differences.time, differences.by_name[panel.label, line.name][0], label=plain(line.name), **look)
