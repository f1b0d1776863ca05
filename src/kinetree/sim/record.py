"""The rows of a motion while it is computed, and the trajectory they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.drives import limited_forces
from kinetree.functions.energy import kinetic_energy, potential_energy
from kinetree.model import Model
from kinetree.sim.torques import for_all_rows
from kinetree.sim.trajectory import Trajectory, coordinate_units

__all__ = ["Record"]

Array = NDArray[np.float64]
Accelerations = Callable[[Array, Array, Array], Array]
"""q̈ (…, T, nv) from q, v and tau."""


class Record:
    """One row [q, v, work, loss] per moment, and the torques, of one motion or of each of a batch."""

    def __init__(self, robot: Model, shape: tuple[int, ...], steps: int, parameters: Mapping[str, Array]) -> None:
        self.rows = np.zeros((*shape, steps + 1, robot.nq + robot.nv + 2))
        self.tau = np.empty((*shape, steps + 1, robot.nv))
        self.recorded: Mapping[str, NDArray[Any]] = {}
        """What a controller returned besides tau, (…, steps + 1, *shape)."""
        self._axes = len(shape)
        self._parameters = for_all_rows(robot, parameters)
        self.done = 0
        """How many rows are complete."""
        self.substeps = 1
        self._robot = robot

    def trajectory(
        self, integrator: str, dt: float, accelerations: Accelerations, *, springs: bool, limits: bool
    ) -> Trajectory:
        """The rows that are complete."""
        robot, rows, tau = self._robot, self.rows[..., : self.done, :], self.tau[..., : self.done, :]
        q, v, exchanged = (part.copy() for part in np.split(rows, (robot.nq, robot.nq + robot.nv), axis=-1))
        given = self._parameters or None
        return Trajectory(
            robot=robot.name,
            integrator=integrator,
            dt=dt,
            substeps=self.substeps,
            time=np.arange(self.done, dtype=np.float64) * dt,
            q=q,
            v=v,
            qdd=accelerations(q, v, tau),
            tau=limited_forces(robot, tau, v) if limits else tau,
            kinetic=kinetic_energy(robot, q, v, parameters=given),
            potential=potential_energy(robot, q, passive=springs, parameters=given),
            work=exchanged[..., 0].copy(),
            dissipated=exchanged[..., 1].copy(),
            q_names=tuple(robot.q_names),
            q_joints=tuple(owner.name for owner in robot.owners for _ in range(robot.nq)[owner.q_slice]),
            q_units=coordinate_units(robot),
            v_names=tuple(robot.v_names),
            recorded={
                name: x[(*(slice(None) for _ in range(self._axes)), slice(self.done))].copy()
                for name, x in self.recorded.items()
            },
        )
