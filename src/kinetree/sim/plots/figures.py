"""From a motion, and what is asked for, to a picture of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kinetree.errors import OptionError
from kinetree.sim.events import Occurrence
from kinetree.sim.picking import Samples
from kinetree.sim.plots.batches import batch_figure
from kinetree.sim.plots.choice import Choice
from kinetree.sim.plots.moments import until_ended
from kinetree.sim.plots.on_hand import OnDisk, on_hand
from kinetree.sim.plots.pairs import differences_of, in_common
from kinetree.sim.plots.panels import divided, panels_of, worth_drawing
from kinetree.sim.plots.series import Panel, Seen
from kinetree.sim.plots.stacked import Other, stacked
from kinetree.sim.plots.words import endings_of, notes_of, title_of
from kinetree.sim.trajectory_arrays import TrajectoryArrays

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure"]


def figure(
    motion: TrajectoryArrays | OnDisk,
    *,
    what: Any = None,
    joints: Any = None,
    samples: Samples | None = None,
    beside: TrajectoryArrays | OnDisk | None = None,
    names: Sequence[str] = ("first", "second"),
) -> Figure:
    """The picture that `plot` writes, as a matplotlib figure; arguments and errors are those of `Trajectory.plot`."""
    mine = on_hand("the motion", motion, what, joints, samples, is_alone=beside is None)
    is_one = len(mine[-1].samples) == 1
    if beside is None:
        return _of_one(*mine) if is_one else batch_figure(*mine)
    if len(names) != 2 or isinstance(names, str):
        raise OptionError(f"plot: names must be those of the two motions, not {names!r:.60}")
    shared = samples if getattr(beside, "shape", ()) else None
    theirs = on_hand("beside", beside, what, joints, shared, is_alone=False)
    if is_one and len(theirs[-1].samples) == 1:
        return _of_two(mine, theirs, names)
    return batch_figure(*mine, theirs, names)


def _of_one(motion: TrajectoryArrays, choice: Choice, seen: Seen) -> Figure:
    panels, idle = worth_drawing(panels_of(motion, seen, choice), choice)
    notes = notes_of(idle, more=endings_of(motion, seen))
    drawn = _until_ended(motion, seen, divided(panels))
    return stacked(title_of(motion, seen), seen.time, drawn, notes, _events(motion, seen), None)


def _of_two(
    first: tuple[TrajectoryArrays, Choice, Seen], second: tuple[TrajectoryArrays, Choice, Seen], names: Sequence[str]
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


def _until_ended(motion: TrajectoryArrays, seen: Seen, panels: Sequence[Panel]) -> list[Panel]:
    return [replace(p, lines=[replace(x, values=until_ended(motion, seen, x.values)) for x in p.lines]) for p in panels]


def _events(motion: TrajectoryArrays, seen: Seen) -> list[Occurrence]:
    """What happened to the one motion that is drawn."""
    (index,) = seen.indices
    return [event for event in motion.events if tuple(event.sample) == index]
