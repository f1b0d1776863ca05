"""The arrays of a motion, for `Trajectory` and its readers: pictures, files, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record
from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.step_counts import StepCounts

__all__ = ["TrajectoryArrays"]

Array = NDArray[np.float64]
_QUATERNION = ("qx", "qy", "qz", "qw")


@record(frozen=True, slots=True, eq=False, repr=False)
class TrajectoryArrays:
    """The fields of a `Trajectory`, which explains them."""

    robot: str
    integrator: str
    dt: float
    substeps: int
    time: Array
    q: Array
    v: Array
    qdd: Array
    tau: Array
    kinetic: Array
    potential: Array
    work: Array
    dissipated: Array
    q_names: tuple[str, ...]
    q_joints: tuple[str, ...]
    q_units: tuple[str, ...]
    v_names: tuple[str, ...]
    recorded: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    ended: Array = field(default_factory=lambda: np.array(np.inf))
    events: tuple[Occurrence, ...] = ()
    diverged: Mapping[tuple[int, ...], Divergence] = field(default_factory=dict)
    step_counts: StepCounts | None = None
    end: Snapshot | None = None
    kept: KeptRobot | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of a batch; () for one motion."""
        return self.q.shape[:-2]

    @property
    def total(self) -> Array:
        """Kinetic and potential energy, (…, T), J."""
        return self.kinetic + self.potential

    @property
    def balance_error(self) -> Array:
        """Energy that the integrator created since the first row, (…, T), J: E - E₀ - work + dissipated.

        Exact integration gives zero. Where energies are beyond all floats, it is not finite.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            total = self.total
            exchanged = self.work - self.dissipated
            return total - total[..., :1] - (exchanged - exchanged[..., :1])

    @property
    def quaternions(self) -> list[tuple[str, int]]:
        """(name of the joint or body, first column of q) of each quaternion."""
        names = self.q_names
        return [
            (names[k].removesuffix("qx").removesuffix("."), k)
            for k in range(len(names) - 3)
            if all(name.endswith(part) for name, part in zip(names[k : k + 4], _QUATERNION, strict=True))
            and not any(self.q_units[k : k + 4])
        ]
