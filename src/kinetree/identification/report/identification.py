"""The result of an identification: a robot, and how far it can be trusted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetree.charts.sheet import picture_path, write_picture
from kinetree.errors import OptionError, listed, visible
from kinetree.identification.estimation.base_estimate import BaseEstimate
from kinetree.identification.estimation.consistent import ConsistentEstimate
from kinetree.identification.friction.curve import FrictionCurve, with_friction_speeds
from kinetree.identification.friction.forms import COULOMB
from kinetree.identification.inertial_parameters import (
    inertial_parameters,
    parameter_names,
    with_inertial_parameters,
)
from kinetree.identification.logs.log import Log
from kinetree.identification.report.figures import figure
from kinetree.identification.report.validation import Validation
from kinetree.model import Model
from kinetree.records import record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Identification"]

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
