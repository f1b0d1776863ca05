"""Two motions in one picture: their lines by name, and the second minus the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError
from kinetree.plots.choice import Choice
from kinetree.plots.coordinates import turned
from kinetree.plots.moments import common_rows, seen_of, until_ended
from kinetree.plots.panels import panels_of
from kinetree.plots.series import Array, Line, Panel
from kinetree.records import record
from kinetree.sim.trajectory import Trajectory

__all__ = ["Differences", "differences_of", "in_common"]


@record(frozen=True, slots=True, eq=False)
class Differences:
    """The second motion minus the first at the moments that both have."""

    time: Array
    """(K,), s."""
    by_name: dict[tuple[str, str], Array]
    """(m, K), by the label of the panel and the name of the line; NaN where one of the two has ended."""


def in_common(first: Sequence[Panel], second: Sequence[Panel]) -> tuple[list[Panel], list[Panel], list[str]]:
    """The panels with the lines that both motions have, and the names that only one of them has.

    Raises OptionError if they have nothing in common.
    """
    ours, others = _by_name(first), _by_name(second)
    both = ours.keys() & others.keys()
    alone = [name for _, name in (*(ours.keys() - both), *(others.keys() - both))]
    if not both:
        raise OptionError("plot: the two motions have nothing in common that could be drawn on the same axes")
    kept = [replace(p, lines=[x for x in p.lines if (p.label, x.name) in both]) for p in first]
    shared = [panel for panel in kept if panel.lines]
    mirrored = [replace(p, lines=[others[p.label, line.name] for line in p.lines]) for p in shared]
    return shared, mirrored, sorted(set(alone))


def differences_of(first: Trajectory, second: Trajectory, mine: Choice, others: Choice) -> Differences:
    """Differences where both have rows; if their rows are at different times, the second is on straight lines.

    Raises OptionError if they have no time in common.
    """
    rows, theirs = common_rows(first.time, second.time, min(first.dt, second.dt))
    inside = np.flatnonzero((first.time >= second.time[0]) & (first.time <= second.time[-1]))
    if len(rows) * 2 >= min(len(inside), _count_inside(second.time, first.time)) and len(rows):
        return _between(first, second, mine, others, rows, theirs)
    if not inside.size:
        raise OptionError(
            f"plot: one motion is from {first.time[0]:g} to {first.time[-1]:g} s, and the other from "
            f"{second.time[0]:g} to {second.time[-1]:g} s; they have no moment in common"
        )
    return _between(first, second, mine, others, inside, None)


def _between(
    first: Trajectory,
    second: Trajectory,
    mine: Choice,
    others: Choice,
    rows: NDArray[np.intp],
    theirs: NDArray[np.intp] | None,
) -> Differences:
    seen = seen_of(first, mine, rows)
    own = _by_name(panels_of(first, seen, mine))
    if theirs is not None:
        theirs = theirs[np.searchsorted(rows, seen.rows)]
    there = replace(seen_of(second, others), rows=np.arange(len(second.time)) if theirs is None else theirs)
    other = _by_name(panels_of(second, there, others))
    at = None if theirs is not None else (second.time, seen.time)
    none = np.zeros((1, len(seen.time)))
    ended = until_ended(first, seen, none) + until_ended(second, replace(there, time=seen.time), none)
    differences = {key: _difference(line, other[key], at) + ended for key, line in own.items() if key in other}
    return Differences(seen.time, differences)


def _difference(first: Line, second: Line, at: tuple[Array, Array] | None) -> Array:
    """(m, K); of attitudes the angle between them."""
    if first.attitudes is not None and second.attitudes is not None:
        theirs = second.attitudes if at is None else np.moveaxis(_at(np.moveaxis(second.attitudes, 2, 1), *at), 1, 2)
        return turned(first.attitudes, theirs)
    difference: Array = (second.values if at is None else _at(second.values, *at)) - first.values
    return difference


def _at(x: Array, time: Array, wanted: Array) -> Array:
    """Numbers (…, T) at other times, on straight lines."""
    flat = x.reshape(-1, x.shape[-1])
    return np.stack([np.interp(wanted, time, one) for one in flat]).reshape(*x.shape[:-1], len(wanted))


def _count_inside(time: Array, other: Array) -> int:
    return int(((time >= other[0]) & (time <= other[-1])).sum())


def _by_name(panels: Sequence[Panel]) -> dict[tuple[str, str], Line]:
    return {(panel.label, line.name): line for panel in panels for line in panel.lines}
