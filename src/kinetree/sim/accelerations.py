"""The accelerations of a simulated motion, and the forces of what holds and pushes the robot."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.drives import limited_forces
from kinetree.functions.dynamics import aba
from kinetree.model.constraints import Constraint, Contact
from kinetree.sim.setting import Setting
from kinetree.sim.torques import for_all_rows

__all__ = ["Accelerations", "accelerations"]

Array = NDArray[np.float64]


class Accelerations(NamedTuple):
    """What acts at each moment."""

    qdd: Array
    """(…, T, nv)."""
    forces: Array | None
    """With contacts what all soft constraints exert along the degrees of freedom (…, T, nv); of constraints one force
    per row (…, T, m); None if there are neither."""


def accelerations(
    setting: Setting, moments: NDArray[np.intp], q: Array, v: Array, act: Array, tau: Array, ctrl: Array
) -> Accelerations:
    """q̈ at each of T moments, under the torques, commands and external forces that act from then on.

    `moments` (T,) are the steps that begin there; at the end of the motion the forces of its last step act.
    """
    robot = setting.robot
    if not robot.nv:
        return Accelerations(np.zeros_like(v), None)
    forces = {key: rows[..., np.minimum(moments, rows.shape[-2] - 1), :] for key, rows in setting.forces.items()}
    given = for_all_rows(robot, setting.parameters)
    acting, limits, f_ext, parameters = [*setting.passive], setting.limits, forces or None, given or None
    if setting.actuation is not None:  # the limits are those of tau alone
        from kinetree.functions.commanded_forces import commanded_forces

        tau = limited_forces(robot, tau, v) if limits else tau
        limits = False
        tau = tau + commanded_forces(robot, q, v, act, ctrl, setting.dt, passive=acting, parameters=parameters)
    if (pushes := setting.pushes) is not None:
        from kinetree.functions.contact_dynamics import contact_dynamics

        found = contact_dynamics(
            robot, q, v, tau, f_ext, passive=acting, limits=limits, contact=pushes, parameters=parameters
        )
        return Accelerations(found.qdd, found.forces)
    if not setting.held:
        return Accelerations(aba(robot, q, v, tau, f_ext, passive=acting, limits=limits, parameters=parameters), None)
    from kinetree.functions.constrained import constrained_dynamics

    held = [_without_gains(constraint) for constraint in setting.held]
    return Accelerations(
        *constrained_dynamics(robot, q, v, tau, held, f_ext, passive=acting, limits=limits, parameters=parameters)
    )


def _without_gains(constraint: Constraint) -> Constraint:
    """A constraint of states that satisfy it: nothing is to be corrected, wherever a frame is held, or how far away."""
    if isinstance(constraint, Contact):
        return replace(constraint, at=None, position_gain=0.0, velocity_gain=0.0)
    length = 1.0 if constraint.directions == "distance" else constraint.length
    return replace(constraint, length=length, position_gain=0.0, velocity_gain=0.0)
