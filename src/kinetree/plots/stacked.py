"""One motion, or two on the same axes: panels below each other, each with a legend at its side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.charts.sheet import sheet
from kinetree.charts.style import INK, LOOKS, colors_of, dress, legend, plain, widen
from kinetree.plots.pairs import Differences
from kinetree.plots.panels import ENERGIES
from kinetree.plots.series import Array, Panel
from kinetree.records import record
from kinetree.sim.events import Occurrence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Other", "mark_events", "stacked"]

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
