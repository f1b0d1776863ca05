"""The accelerations of a simulated motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.constrained import constrained_dynamics
from kinetree.functions.contact_dynamics import contact_dynamics
from kinetree.functions.dynamics import aba
from kinetree.model.constraints import Constraint, Contact
from kinetree.sim.motion import Setting
from kinetree.sim.torques import for_all_rows

__all__ = ["accelerations"]

Array = NDArray[np.float64]


def accelerations(setting: Setting, q: Array, v: Array, tau: Array) -> Array:
    """q̈ at each moment (…, T, nv), under the torques and external forces that act from then on."""
    robot = setting.robot
    if not robot.nv:
        return np.zeros_like(v)
    moments = np.arange(q.shape[-2])
    forces = {key: rows[..., np.minimum(moments, rows.shape[-2] - 1), :] for key, rows in setting.forces.items()}
    given = for_all_rows(robot, setting.parameters)
    acting, limits, f_ext, parameters = [*setting.passive], setting.limits, forces or None, given or None
    if setting.contact is not None:
        return contact_dynamics(
            robot, q, v, tau, f_ext, passive=acting, limits=limits, contact=setting.contact, parameters=parameters
        ).qdd
    if not setting.held:
        return aba(robot, q, v, tau, f_ext, passive=acting, limits=limits, parameters=parameters)
    held = [_without_gains(constraint) for constraint in setting.held]
    return constrained_dynamics(robot, q, v, tau, held, f_ext, passive=acting, limits=limits, parameters=parameters).qdd


def _without_gains(constraint: Constraint) -> Constraint:
    """A constraint of states that satisfy it: nothing is to be corrected, wherever a frame is held, or how far away."""
    if isinstance(constraint, Contact):
        return replace(constraint, at=None, position_gain=0.0, velocity_gain=0.0)
    length = 1.0 if constraint.directions == "distance" else constraint.length
    return replace(constraint, length=length, position_gain=0.0, velocity_gain=0.0)
