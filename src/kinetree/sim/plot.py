"""A picture of a trajectory: the motion of the joints, and the energy."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import MissingPackageError, ShapeError, listed
from kinetree.files import file_path, write_file
from kinetree.sim.plot_groups import group_sizes
from kinetree.sim.trajectory_arrays import TrajectoryArrays

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure", "plot"]

_POINTS = 4000
_LEGEND_ROWS = 16
_STILL = 1e-6
"""rad, m: what moves less than this is not drawn beside what moves."""
_FLOORS = {"rad": 1e-3, "m": 1e-3, "": 1e-3}
"""The smallest range that a panel shows, so that rounding errors do not fill it."""
_ENERGY_FLOOR, _ERROR_FLOOR = 1e-6, 1e-9
"""The same for energies, relative to the largest energy of the motion."""
_INK, _GRID = "#22262b", "#d9dde2"
_KINETIC, _POTENTIAL, _TOTAL, _ERROR = "#d1603d", "#2f6fa7", "#22262b", "#8a4fa3"
_FEW = ("#2f6fa7", "#d1603d", "#3f8f5f", "#8a4fa3", "#b8860b", "#3aa5b0", "#c2477f", "#6b7280")
_LABELS = {"rad": "joint angle, rad", "m": "joint position, m", "": "coordinate"}


def figure(trajectory: TrajectoryArrays) -> Figure:
    """The picture that `plot` writes, as a matplotlib figure.

    Raises `ShapeError` for a batch of motions, and `MissingPackageError` if matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError("drawing needs matplotlib: pip install kinetree[plot]") from None
    if trajectory.shape:
        first = ", ".join("0" for _ in trajectory.shape)
        raise ShapeError(
            f"this trajectory is a batch {trajectory.shape} of motions, and a picture shows one of them: "
            f"motions[{first}].plot(…)"
        )

    # A few thousand points are more than the picture has columns.
    stride = max(1, -(-len(trajectory.time) // _POINTS))
    shown = np.unique(np.append(np.arange(0, len(trajectory.time), stride), len(trajectory.time) - 1))
    time = trajectory.time[shown]

    panels, still = _panels(trajectory, shown)
    many = len(panels) > 4
    heights = [(3.4 if len(lines) > 3 and not many else 2.2) for _, _, lines in panels] + [2.6, 1.5]
    drawn = Figure(figsize=(10.5, sum(heights) + 0.9), dpi=130, layout="constrained")
    FigureCanvasAgg(drawn)
    title = f"{trajectory.robot}: {trajectory.time[-1]:g} s, {trajectory.integrator}, dt = {trajectory.dt:g} s"
    drawn.suptitle(_plain(title), fontsize=12, fontweight="bold", color=_INK, x=0.01, ha="left")
    axes = drawn.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]

    for ax, (label, floor, lines) in zip(axes, panels, strict=False):
        _lines(ax, time, lines)
        ax.set_ylabel(label)
        _widen(ax, floor)
    energy, error = axes[-2], axes[-1]
    largest = _largest_energy(trajectory)
    for name, values, color in (
        ("kinetic", trajectory.kinetic, _KINETIC),
        ("potential", trajectory.potential, _POTENTIAL),
        ("total", trajectory.total, _TOTAL),
    ):
        energy.plot(time, values[shown], color=color, label=name, linewidth=1.4)
    for name, values, dashes in (("work", trajectory.work, (5, 2)), ("dissipated", trajectory.dissipated, (1, 1.5))):
        if np.abs(values).max() > _ENERGY_FLOOR * largest:
            energy.plot(time, values[shown], color=_TOTAL, label=name, linewidth=1.0, linestyle=(0, dashes))
    energy.set_ylabel("energy, J")
    error.plot(time, trajectory.balance_error[shown], color=_ERROR, label="E − E₀ − work\n+ dissipated", linewidth=1.2)
    error.set_ylabel("balance\nerror, J")
    _widen(energy, _ENERGY_FLOOR * largest)
    _widen(error, _ERROR_FLOOR * largest)
    error.set_xlabel(_time_label(still))
    error.set_xlim(time[0], time[-1])
    for ax in axes:
        _dress(ax)
    for ax in (energy, error):
        _legend(ax)
    return drawn


def plot(trajectory: TrajectoryArrays, path: str | os.PathLike[str]) -> Path:
    """Draw a trajectory into a PNG file and return its path; ".png" is appended if it is not there.

    Panels: the position of a floating base, joint angles, joint displacements, coordinates without a unit, how far
    each quaternion has turned since the start (each only if there are any), the kinetic, potential and total energy,
    and the error of the energy balance. Many joints are divided among panels, those with similar names together; what
    does not move is named below and not drawn, unless nothing moves. No panel's scale is finer than rounding errors.

    The picture is drawn first and written then, whole or not at all: whatever goes wrong, a picture that was there
    before stays as it was.

    Raises `ShapeError` for a batch of motions, of which one can be drawn, `plot(motions[0], …)`;
    `MissingPackageError` if matplotlib is not installed, and `SaveError` if the file cannot be written.
    """
    target = file_path("plot", path, ".png")
    drawn = figure(trajectory)
    with warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes; no warning is needed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        picture = io.BytesIO()
        drawn.savefig(picture, format="png")
    write_file(target, lambda file: file.write(picture.getbuffer()))
    return target


Panel = tuple[str, float, list[tuple[str, Any]]]
"""Label, smallest range, and (name, values) of each line."""


def _panels(trajectory: TrajectoryArrays, shown: Any) -> tuple[list[Panel], list[str]]:
    """The panels above those of energy, and the names of what does not move and is left out."""
    panels: list[Panel] = []
    for label, unit, columns in _coordinate_panels(trajectory):
        lines = [(trajectory.q_names[k], trajectory.q[shown, k]) for k in columns]
        panels.append((label, _FLOORS[unit], lines))
    if turns := [(name, _turned(trajectory.q[shown, k : k + 4])) for name, k in trajectory.quaternions]:
        panels.append(("turned since\nthe start, rad", _FLOORS["rad"], turns))
    moving = [(label, floor, [line for line in lines if np.ptp(line[1]) > _STILL]) for label, floor, lines in panels]
    if not any(lines for _, _, lines in moving):
        return _divided(panels), []
    still = [name for _, _, lines in panels for name, values in lines if np.ptp(values) <= _STILL]
    return _divided([panel for panel in moving if panel[2]]), still


def _divided(panels: list[Panel]) -> list[Panel]:
    """The same lines, in several panels where they are many for one."""
    found: list[Panel] = []
    for label, floor, lines in panels:
        start = 0
        for size in group_sizes([name for name, _ in lines]):
            found.append((label, floor, lines[start : start + size]))
            start += size
    return found


def _largest_energy(trajectory: TrajectoryArrays) -> float:
    series = (trajectory.kinetic, trajectory.potential, trajectory.work, trajectory.dissipated)
    return max(float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) for values in series)


def _time_label(still: list[str]) -> str:
    if not still:
        return "time, s"
    return "time, s\n\n" + fill(f"not drawn, because they do not move: {listed(map(_plain, still), most=24)}", 130)


def _widen(ax: Axes, least: float) -> None:
    """Make a panel show at least this range."""
    low, high = ax.get_ylim()
    if 0.0 <= high - low < least:
        middle = (low + high) / 2.0
        ax.set_ylim(middle - least / 2.0, middle + least / 2.0)


def _coordinate_panels(trajectory: TrajectoryArrays) -> list[tuple[str, str, list[int]]]:
    """(label, unit, columns of q) of each panel. A position next to a quaternion is that of a floating base."""
    quaternions = {k + part for _, k in trajectory.quaternions for part in range(4)}
    floating = {trajectory.q_joints[k] for k in quaternions}
    base: list[int] = []
    by_unit: dict[str, list[int]] = {"rad": [], "m": [], "": []}
    for k, (joint, unit) in enumerate(zip(trajectory.q_joints, trajectory.q_units, strict=True)):
        if k not in quaternions:
            (base if joint in floating and unit == "m" else by_unit[unit]).append(k)
    panels = [("base position, m", "m", base)] if base else []
    return panels + [(_LABELS[unit], unit, columns) for unit, columns in by_unit.items() if columns]


def _turned(q: Any) -> Any:
    """Angle between each quaternion (T, 4) and the first."""
    unit = q / np.linalg.norm(q, axis=1)[:, None]
    apart, along = np.linalg.norm(unit - unit[0], axis=1), np.linalg.norm(unit + unit[0], axis=1)
    return 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))


def _lines(ax: Axes, time: Any, named: list[tuple[str, Any]]) -> None:
    many = len(named) > len(_FEW)
    if many:
        from matplotlib import colormaps

        colors = [colormaps["turbo"](x) for x in np.linspace(0.03, 0.95, len(named))]
    for k, (name, values) in enumerate(named):
        ax.plot(
            time,
            values,
            color=colors[k] if many else _FEW[k],
            linestyle=("-", (0, (5, 1.5)))[k % 2] if many else "-",
            linewidth=1.1 if many else 1.5,
            label=_plain(name),
        )
    _legend(ax)


def _legend(ax: Axes) -> None:
    lines, labels = list(ax.get_lines()), [str(line.get_label()) for line in ax.get_lines()]
    ax.legend(
        lines,
        labels,
        loc="upper left",
        bbox_to_anchor=(1.005, 1.03),
        ncols=-(-len(labels) // _LEGEND_ROWS),
        fontsize=8 if len(labels) <= len(_FEW) else 7,
        frameon=False,
        handlelength=1.6,
        labelspacing=0.35,
        columnspacing=1.0,
        borderpad=0.2,
    )


def _dress(ax: Axes) -> None:
    ax.grid(True, color=_GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(_INK)
    ax.tick_params(colors=_INK, labelsize=8)
    for label in (ax.yaxis.label, ax.xaxis.label):
        label.set_fontsize(9)
    ax.yaxis.get_offset_text().set_fontsize(8)
    ax.yaxis.get_major_formatter().set_useOffset(False)  # type: ignore[attr-defined]


def _plain(text: str) -> str:
    """Text that matplotlib takes literally: no mathematics between dollars, no leading underscore that hides it."""
    text = text.replace("$", r"\$")
    return "\u200a" + text if text.startswith("_") else text
