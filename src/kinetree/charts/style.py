"""The look of pictures: colours, axes, legends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FEW", "INK", "LOOKS", "colors_of", "dress", "legend", "plain", "widen"]

INK, _GRID = "#22262b", "#d9dde2"
FEW = ("#2f6fa7", "#d1603d", "#3f8f5f", "#8a4fa3", "#b8860b", "#3aa5b0", "#c2477f", "#6b7280")
_LEGEND_ROWS = 16
LOOKS: dict[str, dict[str, Any]] = {
    "kinetic": {"color": "#d1603d", "linewidth": 1.4},
    "potential": {"color": "#2f6fa7", "linewidth": 1.4},
    "total": {"color": INK, "linewidth": 1.4},
    "work": {"color": INK, "linewidth": 1.0, "linestyle": (0, (5, 2))},
    "dissipated": {"color": INK, "linewidth": 1.0, "linestyle": (0, (1, 1.5))},
    "error": {"color": "#8a4fa3", "linewidth": 1.2},
}
"""How lines that have a meaning are drawn."""


def colors_of(count: int) -> list[Any]:
    """Colours of so many lines; those of many are neighbours in a rainbow."""
    if count <= len(FEW):
        return list(FEW[:count])
    from matplotlib import colormaps

    return [colormaps["turbo"](0.03 + 0.92 * k / (count - 1)) for k in range(count)]


def legend(ax: Axes) -> None:
    """The names of the lines, to the right of the axes."""
    named = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    labels = [str(line.get_label()) for line in named]
    ax.legend(
        named,
        labels,
        loc="upper left",
        bbox_to_anchor=(1.005, 1.03),
        ncols=max(1, -(-len(labels) // _LEGEND_ROWS)),
        fontsize=8 if len(labels) <= len(FEW) else 7,
        frameon=False,
        handlelength=1.6,
        labelspacing=0.35,
        columnspacing=1.0,
        borderpad=0.2,
    )


def widen(ax: Axes, least: float) -> None:
    """Make a panel show at least this range."""
    low, high = ax.get_ylim()
    if 0.0 <= high - low < least:
        middle = (low + high) / 2.0
        ax.set_ylim(middle - least / 2.0, middle + least / 2.0)


def dress(ax: Axes, size: int = 9) -> None:
    """Grid, spines and letters."""
    ax.grid(True, color=_GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(INK)
    ax.tick_params(colors=INK, labelsize=size - 1)
    for label in (ax.yaxis.label, ax.xaxis.label):
        label.set_fontsize(size)
    ax.yaxis.get_offset_text().set_fontsize(size - 1)
    ax.yaxis.get_major_formatter().set_useOffset(False)  # type: ignore[attr-defined]


def plain(text: str) -> str:
    """Text that matplotlib takes literally: no mathematics between dollars, no leading underscore that hides it."""
    text = text.replace("$", r"\$")
    return "\u200a" + text if text.startswith("_") else text
