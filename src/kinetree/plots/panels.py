"""The panels of a picture: which lines move and are worth drawing, and how many share a panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from kinetree.errors import OptionError
from kinetree.plots.choice import Choice
from kinetree.plots.coordinates import coordinate_panels, degree_panels
from kinetree.plots.series import Array, Line, Panel, Seen
from kinetree.sim.trajectory import Trajectory

__all__ = ["ENERGIES", "divided", "panels_of", "worth_drawing"]

_WRENCHES = "contact.wrench"


def contact_panels(motion: Trajectory, seen: Seen) -> Iterator[Panel]:
    """How strongly each pair of shapes pushes. Raises OptionError if it was not recorded."""
    if _WRENCHES not in motion.recorded:
        raise OptionError('plot: contact forces were not recorded; simulate with contact=True, record=["contacts"]')
    force = np.linalg.norm(seen.of(motion.recorded[_WRENCHES])[..., :3], axis=-1)
    yield Panel(
        "contact force, N", [Line(f"pair {k}", force[..., k]) for k in range(force.shape[-1])], 1e-3, "contacts"
    )


def recorded_panels(motion: Trajectory, seen: Seen, name: str) -> Iterator[Panel]:
    """An array, number by number; a frame's placement is shown as where its origin is."""
    values, unit = seen.of(motion.recorded[name]), motion.units.get(name, "")
    lines: list[Line]
    if name.startswith("frame.") and values.shape[2:] == (4, 4):
        lines = [Line(axis, values[..., k, 3]) for k, axis in enumerate("xyz")]
    else:
        lines = [Line(_name(name, place), _at(values, place)) for place in np.ndindex(values.shape[2:])]
    yield Panel(f"{name}, {unit}" if unit else name, lines, 0.0, name)


def _name(name: str, place: tuple[int, ...]) -> str:
    return f"{name.rpartition('.')[2]}{list(place)}" if place else name


def _at(values: Array, place: tuple[int, ...]) -> Array:
    where: Any = (..., *place)
    result: Array = values[where]
    return result


_FLOORS = {"energies": 1e-6, "balance": 1e-9}
"""The smallest ranges, relative to the largest energy of the motion."""


def energy_panels(motion: Trajectory, seen: Seen, choice: Choice, word: str) -> Iterator[Panel]:
    """The energies, or the error of their balance. Raises OptionError if they were not recorded."""
    if np.isnan(motion.kinetic).all():
        if choice.is_usual:
            return
        raise OptionError('plot: the energies were not recorded; simulate with record=["energies"]')
    names = ("kinetic", "potential", "total", "work", "dissipated")
    series = {name: seen.of(getattr(motion, name)) for name in names}
    largest = max(float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in series.values())
    floor = _FLOORS[word] * largest
    if word == "balance":
        yield Panel("balance\nerror, J", [Line(_BALANCE, seen.of(motion.balance_error), "error")], floor, word)
        return
    lines = [
        Line(name, x, name)
        for name, x in series.items()
        if name in ("kinetic", "potential", "total") or np.abs(x).max() > floor
    ]
    yield Panel("energy, J", lines, floor, word)


_BALANCE = "E − E₀ − work\n+ dissipated"


MOST_LINES = 8
"""Lines in a panel that can be distinguished by their colours."""
_MOST_PANELS = 8
_PANEL_COST = 6
"""The cost of another panel, in letters of a common beginning of the names that it separates."""


def group_sizes(names: Sequence[str]) -> list[int]:
    """The sizes of groups of neighbours: as few as are readable, parted where names have little in common.

    >>> group_sizes(["left_hip", "left_knee", "right_hip", "right_knee"])
    [4]
    >>> group_sizes([f"{leg}_{k}" for leg in ("left_leg", "right_leg") for k in range(6)])
    [6, 6]
    """
    most = max(MOST_LINES, -(-len(names) // _MOST_PANELS))
    # The least cost of the first n names, and the size of their last group.
    best: list[tuple[int, int]] = [(0, 0)]
    for end in range(1, len(names) + 1):
        starts = range(max(0, end - most), end)
        best.append(min((best[start][0] + _cost_of_parting(names, start), end - start) for start in starts))
    sizes: list[int] = []
    end = len(names)
    while end:
        sizes.append(best[end][1])
        end -= sizes[-1]
    return sizes[::-1]


def _cost_of_parting(names: Sequence[str], start: int) -> int:
    """The cost of a group that begins at `start`."""
    if not start:
        return _PANEL_COST
    letters = zip(names[start - 1], names[start], strict=False)
    return _PANEL_COST + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], letters))


ENERGIES = ("energies", "balance")
_STILL = 1e-6
"""rad, m: joints that move less than this are not drawn together with moving ones."""
_ZERO = 1e-9
"""Other numbers that differ from zero by less are not drawn either."""


def panels_of(motion: Trajectory, seen: Seen, choice: Choice) -> list[Panel]:
    """Everything that was asked for. Raises OptionError if it is not there."""
    panels = [panel for word in choice.words for panel in _panels_of(motion, seen, choice, word) if panel.lines]
    if not panels and not choice.is_usual:
        raise OptionError(f"plot: there is nothing to draw of {', '.join(choice.words)} for these joints")
    return panels


def _panels_of(motion: Trajectory, seen: Seen, choice: Choice, word: str) -> Iterator[Panel]:
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
    """The panels without lines that do not move or stay zero, and the names of these lines, by word.

    Positions are all drawn if none of them moves, and so is everything of joints that are asked for by name.
    """
    active = {(p.label, x.name) for p in (*panels, *others) for x in p.lines if _moves(p, x)}
    rests = not any((p.label, x.name) in active for p in panels if p.part == "positions" for x in p.lines)
    moving: list[Panel] = []
    idle: dict[str, list[str]] = {}
    for panel in panels:
        is_whole = choice.joints is not None or (rests and panel.part == "positions")
        lines = [line for line in panel.lines if is_whole or (panel.label, line.name) in active]
        left_out = [line.name for line in panel.lines if not is_whole and (panel.label, line.name) not in active]
        if left_out:
            idle.setdefault(panel.part, []).extend(left_out)
        if lines:
            moving.append(replace(panel, lines=lines))
    return (moving, idle) if moving else (list(panels), {})


def _moves(panel: Panel, line: Line) -> bool:
    if panel.part in ENERGIES or not line.values.size:
        return True
    if panel.part == "positions":
        return not bool((np.ptp(line.values, axis=1) <= _STILL).all())
    return not bool((np.abs(line.values) <= _ZERO).all())


def divided(panels: Sequence[Panel]) -> list[Panel]:
    """The same lines, in several panels where they are many for one."""
    parts: list[Panel] = []
    for panel in panels:
        if panel.part in ENERGIES:
            parts.append(panel)
            continue
        start = 0
        for size in group_sizes([line.name for line in panel.lines]):
            parts.append(replace(panel, lines=panel.lines[start : start + size]))
            start += size
    return parts
