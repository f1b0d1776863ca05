"""Batches: a small panel for each number, with the motions as lines, or as bands of quantiles if they are many."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from kinetree.charts.sheet import sheet
from kinetree.charts.style import FEW, INK, colors_of, dress, plain, widen
from kinetree.plots.series import Array
from kinetree.records import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MOST_CELLS", "Cell", "Layer", "small_panels"]

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
    """(5, K), of those that go on."""
    if not np.isnan(values).any():
        found: Array = np.quantile(values, _QUANTILES, axis=0)
        return found
    ordered = np.sort(values, axis=0)  # NaN last
    count = (~np.isnan(values)).sum(axis=0)
    place = np.array(_QUANTILES)[:, None] * np.maximum(count - 1, 0)
    low = np.floor(place).astype(np.intp)
    high = np.minimum(low + 1, np.maximum(count - 1, 0))
    below, above = np.take_along_axis(ordered, low, 0), np.take_along_axis(ordered, high, 0)
    result: Array = below + (place - low) * (above - below)
    return result
