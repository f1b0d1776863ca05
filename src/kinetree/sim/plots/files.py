"""The file of a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinetree.charts.sheet import picture_path, write_picture
from kinetree.sim.picking import Samples
from kinetree.sim.plots.figures import figure
from kinetree.sim.plots.on_hand import OnDisk
from kinetree.sim.trajectory_arrays import TrajectoryArrays

__all__ = ["plot"]


def plot(
    trajectory: TrajectoryArrays | OnDisk,
    path: str | os.PathLike[str],
    *,
    what: Any = None,
    joints: Any = None,
    samples: Samples | None = None,
    beside: TrajectoryArrays | OnDisk | None = None,
    names: Sequence[str] = ("first", "second"),
) -> Path:
    """Draw a trajectory into a file, PNG, SVG or PDF by its suffix, and return its path.

    The arguments are those of `Trajectory.plot`. Usually there are panels of the position of a floating base, joint
    angles, joint displacements, coordinates without a unit, how far each quaternion has turned since the start (each
    only if there are any), the kinetic, potential and total energy, and the error of the energy balance. Many joints
    are divided among panels, those with similar names together; what does not move is named below and not drawn, unless
    nothing moves. No panel's scale is finer than rounding errors.

    The picture is drawn first and written then, whole or not at all: whatever goes wrong, a picture that was there
    before stays as it was.

    Raises `MissingPackageError` if matplotlib is not installed, `SaveError` if the file cannot be written, and what
    `Trajectory.plot` raises.
    """
    target = picture_path(path)
    drawn = figure(trajectory, what=what, joints=joints, samples=samples, beside=beside, names=names)
    return write_picture(drawn, target)
