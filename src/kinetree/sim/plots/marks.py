"""Events in a picture: a line through all panels, and its name at the first one of each name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinetree.charts.style import INK, plain
from kinetree.sim.events import Occurrence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mark_events"]

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
