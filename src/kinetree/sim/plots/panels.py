"""The panels of a picture: which lines move and are worth drawing, and how many share a panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinetree.errors import OptionError
from kinetree.sim.plots.balances import energy_panels
from kinetree.sim.plots.choice import Choice
from kinetree.sim.plots.coordinates import coordinate_panels, degree_panels
from kinetree.sim.plots.groups import group_sizes
from kinetree.sim.plots.recorded import contact_panels, recorded_panels
from kinetree.sim.plots.series import Line, Panel, Seen
from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["ENERGIES", "divided", "panels_of", "worth_drawing"]

ENERGIES = ("energies", "balance")
_STILL = 1e-6
"""rad, m: what moves less than this is not drawn beside what moves."""
_ZERO = 1e-9
"""The same for other numbers, as far as they differ from zero."""


def panels_of(motion: TrajectoryArrays, seen: Seen, choice: Choice) -> list[Panel]:
    """Everything that was asked for. Raises OptionError if it is not there."""
    found = [panel for word in choice.words for panel in _panels_of(motion, seen, choice, word) if panel.lines]
    if not found and not choice.is_usual:
        raise OptionError(f"plot: there is nothing to draw of {', '.join(choice.words)} for these joints")
    return found


def _panels_of(motion: TrajectoryArrays, seen: Seen, choice: Choice, word: str) -> Iterator[Panel]:
    if word == "positions":
        yield from coordinate_panels(motion, seen, choice)
    elif word in ("velocities", "accelerations", "torques"):
        yield from degree_panels(motion, seen, choice, word)
    elif word in ENERGIES:
        yield from energy_panels(motion, seen, choice, word)
    elif word == "contacts":
        yield from contact_panels(motion, seen)
    else:
        yield from recorded_panels(motion, seen, word)


def worth_drawing(
    panels: Sequence[Panel], choice: Choice, others: Sequence[Panel] = ()
) -> tuple[list[Panel], dict[str, list[str]]]:
    """The panels without what does not move or stays zero, in the others neither, and the names of that, by word.

    Positions are all drawn if none of them moves, and so is everything of joints that are asked for by name.
    """
    active = {(p.label, x.name) for p in (*panels, *others) for x in p.lines if _moves(p, x)}
    rests = not any((p.label, x.name) in active for p in panels if p.part == "positions" for x in p.lines)
    found: list[Panel] = []
    idle: dict[str, list[str]] = {}
    for panel in panels:
        is_whole = choice.joints is not None or (rests and panel.part == "positions")
        lines = [line for line in panel.lines if is_whole or (panel.label, line.name) in active]
        left_out = [line.name for line in panel.lines if not is_whole and (panel.label, line.name) not in active]
        if left_out:
            idle.setdefault(panel.part, []).extend(left_out)
        if lines:
            found.append(replace(panel, lines=lines))
    return (found, idle) if found else (list(panels), {})


def _moves(panel: Panel, line: Line) -> bool:
    if panel.part in ENERGIES or not line.values.size:
        return True
    if panel.part == "positions":
        return not bool((np.ptp(line.values, axis=1) <= _STILL).all())
    return not bool((np.abs(line.values) <= _ZERO).all())


def divided(panels: Sequence[Panel]) -> list[Panel]:
    """The same lines, in several panels where they are many for one."""
    found: list[Panel] = []
    for panel in panels:
        if panel.part in ENERGIES:
            found.append(panel)
            continue
        start = 0
        for size in group_sizes([line.name for line in panel.lines]):
            found.append(replace(panel, lines=panel.lines[start : start + size]))
            start += size
    return found
