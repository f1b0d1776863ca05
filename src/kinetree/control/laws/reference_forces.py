"""The forces M(q) a + C(q, v) w + g(q) of a reference velocity w, and their regressor, by polarisation.

Coriolis forces c(v) = C(q, v) v are quadratic in v. So, for the symmetric part of C(q, v) w,

    M a + C(q, v) w + g = rnea(q, (v + w) / 2, a) − c((v − w) / 2).

For joints with q̇ = v it is all of it: C comes from Christoffel symbols. For others C(q, v) w − C(q, w) v = M [v, w],
with the Lie bracket of velocities, and [v, w] / 2 is added to a. Then Ṁ − 2 C is skew, as for `kt.coriolis_matrix`.

Source: Slotine and Li, "On the adaptive control of robot manipulators", Int. J. Robotics Research 6 (1987), for these
forces and their regressor; Niemeyer and Slotine, "Performance in adaptive manipulator control", Int. J. Robotics
Research 10 (1991), for computing them recursively.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.control.laws.tracking import has_rates
from kinetree.functions.dynamics import coriolis_forces, rnea
from kinetree.functions.mass_matrix import coriolis_matrix, mass_matrix_solve
from kinetree.functions.regressors import joint_torque_regressor
from kinetree.model import Model

__all__ = ["reference_forces", "reference_regressor"]


def reference_forces(robot: Model, q: Any, v: Any, w: Any, a: Any) -> Any:
    """M a + C(q, v) w + g (nv,)."""
    a = a + _half_bracket(robot, q, v, w)
    return rnea(robot, q, 0.5 * (v + w), a) - coriolis_forces(robot, q, 0.5 * (v - w))


def reference_regressor(robot: Model, q: Any, v: Any, w: Any, a: Any, bodies: Sequence[str]) -> Any:
    """The matrix (nv, 10 B) whose product with the bodies' inertial parameters is their part of `reference_forces`."""
    a = a + _half_bracket(robot, q, v, w)
    whole = joint_torque_regressor(robot, q, 0.5 * (v + w), a, bodies=bodies)
    rest, weightless = np.zeros(robot.nv), {"gravity": np.zeros(3)}
    return whole - joint_torque_regressor(robot, q, 0.5 * (v - w), rest, bodies=bodies, parameters=weightless)


def _half_bracket(robot: Model, q: Any, v: Any, w: Any) -> Any:
    """[v, w] / 2, which no inertia affects: the robot's own serves to find it."""
    if has_rates(robot):
        return 0.0
    difference = coriolis_matrix(robot, q, v) @ w - coriolis_matrix(robot, q, w) @ v
    return 0.5 * mass_matrix_solve(robot, q, difference)
