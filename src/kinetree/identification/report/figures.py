"""The picture of an identification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.charts.sheet import sheet
from kinetree.charts.style import FEW, INK, colors_of, dress, legend, plain
from kinetree.identification.estimation.base_estimate import BaseEstimate
from kinetree.identification.estimation.consistent import ConsistentEstimate
from kinetree.identification.friction.curve import FrictionCurve
from kinetree.identification.logs.log import Log
from kinetree.identification.report.validation import torques_of
from kinetree.identification.report.words import short_name
from kinetree.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure"]

Array = NDArray[np.float64]

_WIDTH, _PANEL, _LAST = 10.5, 1.35, 2.6
_MOST_ROWS = 4000
_MOST_NAMES = 60
_POINTS, _BINS = 401, 40


def figure(
    robot: Model,
    log: Log,
    estimate: BaseEstimate,
    consistent: ConsistentEstimate,
    *,
    drives: bool,
    friction: FrictionCurve | None,
    offsets: Array | None,
) -> Figure:
    """A panel of torques per degree of freedom, the friction that was found, then the parameters."""
    rows = np.unique(np.linspace(0, len(log) - 1, min(len(log), _MOST_ROWS)).astype(int))
    rows_drawn = log.at_rows(rows)
    after = torques_of(robot, rows_drawn, drives=drives, friction=friction, offsets=offsets)
    before = torques_of(log.robot, rows_drawn, drives=drives)
    panels = [_LAST, _LAST] if friction is not None else [_LAST]
    heights = [*[_PANEL] * robot.nv, *panels]
    title = f"{robot.name}: identified from {estimate.rows:,} rows"
    drawn, axes = sheet(title, (_WIDTH, sum(heights) + 0.9), 1, heights)
    for k, name in enumerate(robot.v_names):
        ax = axes[k, 0]
        ax.plot(rows_drawn.time, rows_drawn.tau[:, k], color=INK, linewidth=1.0, label="measured")
        ax.plot(rows_drawn.time, before[:, k], color=FEW[1], linewidth=0.9, linestyle=(0, (4, 1.6)), label="as it was")
        ax.plot(rows_drawn.time, after[:, k], color=FEW[0], linewidth=1.1, label="identified")
        ax.plot(rows_drawn.time, rows_drawn.tau[:, k] - after[:, k], color=FEW[2], linewidth=0.7, label="left over")
        ax.set_ylabel(plain(name))
        dress(ax, 8)
        if k == 0:
            legend(ax)
        ax.tick_params(labelbottom=k == robot.nv - 1)
    axes[robot.nv - 1, 0].set_xlabel("time, s; torques in N·m or N")
    if friction is not None:
        _friction(_own_axes(drawn, axes[-2, 0]), friction, rows_drawn, rows_drawn.tau - after)
    _parameters(_own_axes(drawn, axes[-1, 0]), estimate, consistent)
    return drawn


def _own_axes(drawn: Figure, shared: Any) -> Any:
    """Axes in the place of others, which share their abscissa with those above."""
    place = shared.get_subplotspec()
    shared.remove()
    return drawn.add_subplot(place)


def _friction(ax: Any, friction: FrictionCurve, log: Log, left_over: Array) -> None:
    """Friction over the velocity of each joint, and the log's evidence: means of the torques in bins."""
    assert log.v is not None
    v = log.v
    moving = np.flatnonzero(np.abs(v).max(axis=0) > 0.0)
    measured = log.of_velocity(friction.torques) + left_over
    for k, color in zip(moving, colors_of(len(moving)), strict=True):
        most = np.abs(v[:, k]).max()
        x = np.linspace(-most, most, _POINTS)
        at = np.zeros((_POINTS, v.shape[1]))
        at[:, k] = x
        ax.plot(x, friction.torques(at)[:, k], color=color, linewidth=1.1, label=plain(friction.names[k]))
        bins = np.minimum((_BINS * (v[:, k] + most) / (2.0 * most)).astype(int), _BINS - 1)
        counts = np.bincount(bins, minlength=_BINS)
        occupied = counts > 0
        means = [np.bincount(bins, y[:, k], _BINS)[occupied] / counts[occupied] for y in (v, measured)]
        ax.plot(*means, ".", color=color, markersize=4)
    ax.set_xlabel("velocity, rad/s or m/s")
    ax.set_ylabel("friction, N·m or N")
    dress(ax, 8)
    legend(ax)


def _parameters(ax: Any, estimate: BaseEstimate, consistent: ConsistentEstimate) -> None:
    """Least squares with three standard deviations, and the values in the robot, in units of the deviations' scale."""
    finite = np.isfinite(estimate.values)
    order = np.flatnonzero(finite)[:_MOST_NAMES]
    x = np.arange(len(order))
    sizes = np.maximum(np.abs(estimate.values[order]), 3.0 * estimate.deviations[order])
    ax.errorbar(
        x, estimate.values[order] / sizes, yerr=3.0 * estimate.deviations[order] / sizes, fmt="o", color=FEW[0],
        markersize=3.5, linewidth=1.0, capsize=2.0, label="least squares ± 3σ",
    )  # fmt: skip
    ax.plot(x, consistent.values[order] / sizes, "x", color=FEW[1], markersize=5, label="in the robot")
    ax.set_xticks(x, [plain(short_name(estimate.names[k])) for k in order], rotation=90, fontsize=5.5)
    ax.set_ylim(-1.6, 1.6)
    ax.set_ylabel("parameters, scaled")
    dress(ax, 8)
    ax.tick_params(axis="x", labelsize=5.5)
    ax.legend(loc="upper left", bbox_to_anchor=(1.005, 1.03), fontsize=8, frameon=False, handlelength=1.6)
