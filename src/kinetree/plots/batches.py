"""The picture of a batch, or of two: which small panels there are."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from kinetree.charts.sheet import sheet
from kinetree.charts.style import FEW, INK, colors_of, dress, plain, widen
from kinetree.plots.choice import Choice
from kinetree.plots.moments import until_ended
from kinetree.plots.pairs import differences_of, in_common
from kinetree.plots.panels import ENERGIES, panels_of, worth_drawing
from kinetree.plots.series import Array, Line, Panel, Seen
from kinetree.plots.words import endings_of, notes_of, title_of
from kinetree.records import record
from kinetree.sim.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    ours, others, alone = in_common(own, _without_exchanges(panels_of(other, there, theirs)))
    panels, idle = worth_drawing(ours, choice, others)
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


MOST_CELLS = 96
_MOST_LINES = 8
"""Motions that are drawn as a line each, unless there are two batches."""
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LEFT, _RIGHT, _BETWEEN, _APART, _ABOVE, _BELOW, _LINE = 0.75, 1.75, 0.75, 0.36, 0.3, 0.65, 0.16
"""Inches left of, between and around the panels, and of a line of words."""
_EXAMPLES = 3
"""Motions that are drawn as thin lines over the bands."""


@record(frozen=True, slots=True, eq=False)
class Layer:
    """The motions of a batch."""

    name: str
    time: Array
    values: Array
    """(m, K); NaN where a motion has ended."""
    numbers: Sequence[int]
    """The m motions' numbers."""


@record(frozen=True, slots=True, eq=False)
class Cell:
    """A small panel."""

    title: str
    label: str
    floor: float
    layers: Sequence[Layer]


def small_panels(title: str, cells: Sequence[Cell], notes: str) -> Figure:
    """The picture of a batch, or of two."""
    columns = next(n for n, most in ((1, 3), (2, 8), (3, 24), (4, MOST_CELLS)) if len(cells) <= most)
    rows = -(-len(cells) // columns)
    height = {1: 2.6, 2: 2.1, 3: 1.8, 4: 1.6}[columns]
    width = {1: 10.5, 2: 13.0, 3: 15.0, 4: 17.0}[columns]
    below = _BELOW + _LINE * len(notes.strip().splitlines())
    above = _ABOVE + _LINE * 1.4 * len(title.splitlines())
    whole = rows * height + below + above
    drawn, axes = sheet(title, (width, whole), columns, [1.0] * rows, {
        "left": _LEFT / width, "right": 1.0 - _RIGHT / width, "bottom": below / whole, "top": 1.0 - above / whole,
        "wspace": _BETWEEN * columns / (width - _LEFT - _RIGHT - _BETWEEN * (columns - 1)),
        "hspace": _APART / (height - _APART),
    })  # fmt: skip
    for ax, cell in zip(axes.flat, cells, strict=False):
        for k, layer in enumerate(cell.layers):
            _draw(ax, layer, None if len(cell.layers) == 1 else FEW[k])
        ax.set_title(plain(shorten(cell.title, 44, placeholder="…")), fontsize=8, color=INK, loc="left", pad=2)
        ax.set_ylabel(cell.label, fontsize=8)
        ax.margins(x=0.0)
        widen(ax, cell.floor)
        dress(ax, 8)
    for ax in axes.flat[len(cells) :]:
        ax.set_axis_off()
    for k in range(columns):  # the lowest panel of each column shows the times
        lowest = axes[(len(cells) - 1 - k) // columns, k] if k < len(cells) else None
        if lowest is not None:
            lowest.tick_params(labelbottom=True)
            lowest.set_xlabel("time, s", fontsize=8)
    named = [line for line in axes.flat[0].get_lines() if not str(line.get_label()).startswith("_")]
    handles = [*named, *axes.flat[0].collections]
    drawn.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(1.0 - _RIGHT / width, 1.0 - above / whole), fontsize=8,
        frameon=False,
    )  # fmt: skip
    if notes:
        drawn.supxlabel(notes.strip(), fontsize=8, x=0.01, y=0.1 / whole, ha="left", va="bottom")
    return drawn


def _draw(ax: Axes, layer: Layer, color: str | None) -> None:
    time, values = layer.time, layer.values
    name = f"{layer.name}: " if layer.name else ""
    if len(values) <= (_MOST_LINES if color is None else 1):
        for k, own in enumerate(colors_of(len(values)) if color is None else [color]):
            label = f"motion {layer.numbers[k]}" if color is None else layer.name
            ax.plot(time, values[k], color=own, linewidth=1.0, label=label)
        return
    color = color or FEW[0]
    with np.errstate(invalid="ignore"):
        low, lower, middle, upper, high = _quantiles(values)
    ax.fill_between(time, low, high, color=color, alpha=0.18, linewidth=0, label=f"{name}5 to 95 %")
    ax.fill_between(time, lower, upper, color=color, alpha=0.32, linewidth=0, label=f"{name}25 to 75 %")
    for k in np.unique(np.linspace(0, len(values) - 1, _EXAMPLES).astype(int)):
        label = f"{name}motion {layer.numbers[k]}"
        ax.plot(time, values[k], color=INK, linewidth=0.5, alpha=0.55, label="_" + label)
    ax.plot(time, middle, color=color, linewidth=1.4, label=f"{name}median")


def _quantiles(values: Array) -> Array:
    """Quantiles (5, K) over the motions that have not ended."""
    if not np.isnan(values).any():
        quantiles: Array = np.quantile(values, _QUANTILES, axis=0)
        return quantiles
    ordered = np.sort(values, axis=0)  # NaN last
    count = (~np.isnan(values)).sum(axis=0)
    place = np.array(_QUANTILES)[:, None] * np.maximum(count - 1, 0)
    low = np.floor(place).astype(np.intp)
    high = np.minimum(low + 1, np.maximum(count - 1, 0))
    below, above = np.take_along_axis(ordered, low, 0), np.take_along_axis(ordered, high, 0)
    result: Array = below + (place - low) * (above - below)
    return result
