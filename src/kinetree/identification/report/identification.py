"""The result of an identification: a robot, and how far it can be trusted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.charts.sheet import picture_path, sheet, write_picture
from kinetree.charts.style import FEW, INK, colors_of, dress, legend, plain
from kinetree.errors import OptionError, listed, visible
from kinetree.identification.estimation.base_estimate import BaseEstimate
from kinetree.identification.estimation.consistent import ConsistentEstimate
from kinetree.identification.friction.curve import FrictionCurve, with_friction_speeds
from kinetree.identification.friction.forms import COULOMB
from kinetree.identification.inertial_parameters import inertial_parameters, parameter_names, with_inertial_parameters
from kinetree.identification.logs.log import Log
from kinetree.identification.report.validation import Validation, torques_of
from kinetree.model import Model
from kinetree.records import record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Identification", "unexcited_note"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False, repr=False)
class Identification:
    """A robot with identified parameters; `print` shows the report, `.plot` draws it, `kt.save` writes the robot."""

    robot: Model
    estimate: BaseEstimate
    """Least squares on the base parameters, without a prior: the evidence of the logs alone."""
    consistent: ConsistentEstimate
    """The parameters of `robot`, possible for every body."""
    friction: FrictionCurve | None
    """Damping and dry friction as a function of the velocity; None without drives, or if joints share coordinates."""
    offsets: Array | None
    """(nv,), N·m or N: constant errors of the torques, if they were asked for."""
    warnings: tuple[str, ...]
    """Sentences on numbers of the logs that are suspicious, and on parameters that they do not excite."""
    validation: Validation
    """Errors of torques, before and after."""
    is_validated: bool
    """Whether those are of a motion that was not used for the identification."""
    log: Log
    """The motion that is drawn."""

    def __repr__(self) -> str:
        estimate, check = self.estimate, self.validation
        good = estimate.identifiable()
        lines = [f"identification of {self.robot.name!r} from {estimate.rows:,} rows"]
        lines += [f"  warning: {sentence}" for sentence in self.warnings]
        lines.append(
            f"  parameters: {len(estimate.names)}; known within 2 % (three standard deviations): {int(good.sum())}; "
            f"condition number {estimate.condition:.4g}"
        )
        if self.consistent.held:
            lines.append(
                f"  bodies with the robot's own numbers, as points, rods or plates: {listed(self.consistent.held)}"
            )
        of = "another motion" if self.is_validated else "the same motion"
        lines.append(f"  errors of the torques, root mean square of {of}, {check.rows:,} rows:")
        columns = {"measured": check.measured, "before": check.before, "after": check.after}
        columns["noise"] = estimate.torque_noise
        curve = self.friction
        if curve is not None and not curve.is_in_robot:
            columns["in a file"] = check.robot_alone
        width = max(len(name) for name in self.robot.v_names)
        lines.append("  ".join([f"    {'':{width}}", *(f"{head:>10}" for head in columns)]))
        for name, *numbers in zip(self.robot.v_names, *columns.values(), strict=True):
            lines.append(f"    {name:{width}}  " + "  ".join(f"{x:10.4g}" for x in numbers))
        if curve is not None and curve.form != COULOMB.name:
            lines += [f"  friction ({curve.form}):", *(f"    {line}" for line in repr(curve).splitlines())]
        if curve is not None and not curve.is_in_robot:
            lines.append("  Stribeck's friction has no place in a robot or its file; friction.torques(v) computes it")
        return visible("\n".join(lines))

    def table(self) -> str:
        """A line per parameter: by least squares, its standard deviation, and in the robot."""
        lines = [f"{'least squares':>14}  {'deviation':>10}  {'in the robot':>13}  parameter"]
        for name, value, deviation, final in zip(
            self.estimate.names, self.estimate.values, self.estimate.deviations, self.consistent.values, strict=True
        ):
            lines.append(f"{value:14.6g}  {deviation:10.3g}  {final:13.6g}  {name}")
        return "\n".join(lines)

    def applied_to(self, robot: Model) -> Model:
        """Another robot with the same bodies and these parameters: for one whose joints were locked in the logs.

        Drives of joints that were locked keep their numbers.

        Raises:
            OptionError: it has other bodies.
        """
        if list(robot.bodies) != list(self.robot.bodies):
            raise OptionError(
                f"{robot.name!r} has other bodies than {self.robot.name!r}, whose parameters were identified"
            )
        drives, bodies = self.estimate.base.drives, list(robot.bodies)
        values = dict(zip(parameter_names(self.robot, bodies, drives), self.consistent.parameters, strict=True))
        own = zip(parameter_names(robot, bodies, drives), inertial_parameters(robot, drives=drives), strict=True)
        changed = with_inertial_parameters(robot, [values.get(name, x) for name, x in own], drives=drives)
        speeds = zip(self.estimate.names, self.consistent.values.tolist(), strict=True)
        return with_friction_speeds(changed, dict(speeds))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure | Path:
        """A picture: the torques measured and computed, their residuals, and the parameters with three deviations.

        Args:
            path: of the file to write, as PNG, SVG or PDF by its suffix; ".png" is appended to a name without one.
                Without it the picture is returned as a matplotlib figure.

        Raises:
            MissingPackageError: matplotlib is not installed.
            SaveError, OptionError: the file cannot be written.
        """
        drives = self.estimate.base.drives
        drawn = figure(
            self.robot, self.log, self.estimate, self.consistent, drives=drives, friction=self.friction,
            offsets=self.offsets,
        )  # fmt: skip
        if path is None:
            return drawn
        return write_picture(drawn, picture_path(path))


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


def unexcited_note(estimate: BaseEstimate) -> str:
    """A sentence about parameters that the log did not determine; empty if it determined all."""
    if not estimate.unexcited:
        return ""
    worst = listed([short_name(name) for name in estimate.unexcited], most=4, separator="; ")
    return f"the log does not excite {len(estimate.unexcited)} of {len(estimate.names)} parameters: {worst}"


def short_name(name: str) -> str:
    """The first of the parameters that are grouped.

    >>> short_name("I_xx(arm) - I_yy(arm) + 0.316 h_z(hand)"), short_name("m(hand)")
    ('I_xx(arm) …', 'm(hand)')
    """
    first, *others = name.split(" ", 1)
    return f"{first} …" if others else first
