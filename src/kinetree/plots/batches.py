"""The picture of a batch, or of two: which small panels there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.plots.choice import Choice
from kinetree.plots.moments import until_ended
from kinetree.plots.pairs import differences_of, in_common
from kinetree.plots.panels import ENERGIES, panels_of, worth_drawing
from kinetree.plots.series import Array, Line, Panel, Seen
from kinetree.plots.small import MOST_CELLS, Cell, Layer, small_panels
from kinetree.plots.words import endings_of, notes_of, title_of
from kinetree.sim.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["batch_figure"]

Shown = tuple[Trajectory, Choice, Seen]


def batch_figure(
    motion: Trajectory, choice: Choice, seen: Seen, beside: Shown | None = None, names: Sequence[str] = ("", "")
) -> Figure:
    """A panel per number; with a second batch also one of the difference, if both have as many motions."""
    own = _without_exchanges(panels_of(motion, seen, choice))
    if beside is None:
        panels, idle = worth_drawing(own, choice)
        cells = [
            Cell(_titled(p, x), _short(p), p.floor, [_layer("", motion, seen, x)]) for p in panels for x in p.lines
        ]
        shown, more = _most(cells)
        return small_panels(title_of(motion, seen), shown, notes_of(idle, more=[*more, *endings_of(motion, seen)]))
    other, theirs, there = beside
    mine, others, alone = in_common(own, _without_exchanges(panels_of(other, there, theirs)))
    panels, idle = worth_drawing(mine, choice, others)
    panels, others, _ = in_common(panels, others)
    one_to_one = len({1, len(seen.samples), len(there.samples)}) <= 2
    differences = differences_of(motion, other, choice, theirs) if one_to_one else None
    cells = []
    for panel, second in zip(panels, others, strict=True):
        for line, its in zip(panel.lines, second.lines, strict=True):
            layers = [_layer(names[0], motion, seen, line), _layer(names[1], other, there, its)]
            cells.append(Cell(_titled(panel, line), _short(panel), panel.floor, layers))
            if differences is not None:
                x = differences.by_name[panel.label, line.name]
                numbers = seen.numbers if len(seen.numbers) == len(x) else there.numbers
                layer = Layer("", differences.time, x, numbers.tolist())
                cells.append(Cell(f"{line.name}: {names[1]} − {names[0]}", _short(panel), panel.floor, [layer]))
    shown, more = _most(cells)
    if differences is None:
        more += [f"no differences are drawn between {len(seen.samples)} and {len(there.samples)} motions"]
    title = f"{names[0]}: {title_of(motion, seen)}\n{names[1]}: {title_of(other, there)}"
    more += [*endings_of(motion, seen, names[0]), *endings_of(other, there, names[1])]
    return small_panels(title, shown, notes_of(idle, alone, more))


def _without_exchanges(panels: list[Panel]) -> list[Panel]:
    """The panels, with only the three energies that add up."""
    return [
        Panel(p.label, [x for x in p.lines if x.look not in ("work", "dissipated")], p.floor, p.part) for p in panels
    ]


def _layer(name: str, motion: Trajectory, seen: Seen, line: Line) -> Layer:
    return Layer(name, seen.time, until_ended(motion, seen, line.values), seen.numbers.tolist())


def _most(cells: list[Cell]) -> tuple[list[Cell], list[str]]:
    """As many cells as a picture has room for: those that vary the most relative to their panel's unit."""
    if len(cells) <= MOST_CELLS:
        return cells, []
    ranges = [max(_range(layer.values) for layer in cell.layers) for cell in cells]
    kept = sorted(np.argsort(ranges, kind="stable")[::-1][:MOST_CELLS])
    text = (
        f"the {MOST_CELLS} of {len(cells):,} numbers that vary the most are drawn; joints= or --joints chooses others"
    )
    return [cells[k] for k in kept], [text]


def _range(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if known.size else 0.0


def _titled(panel: Panel, line: Line) -> str:
    if panel.part == "balance":
        return "balance error: E − E₀ − work + dissipated"
    if line.attitudes is not None:
        return f"{line.name}, turned since the start"
    return f"{line.name} energy" if panel.part in ENERGIES else line.name


def _short(panel: Panel) -> str:
    """The unit of a panel, or its label."""
    return panel.label.replace("\n", " ").rpartition(", ")[2]
