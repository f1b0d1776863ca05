"""The forces M(q) a + C(q, v) w + g(q) of a reference velocity w, and their regressor.

C is that of `kt.dynamics.coriolis_matrix`, with Ṁ − 2 C skew. Where v is the rate of q it comes from Christoffel
symbols, so C(q, v) w is symmetric in v and w, and follows from Coriolis forces c(v) = C(q, v) v by polarisation:

    M a + C(q, v) w + g = rnea(q, (v + w) / 2, a) − c((v − w) / 2).

For other joints the difference C(q, v) w − C(q, w) v is M [v, w] for rigid bodies, with the Lie bracket of velocities:
in coordinates E [v, w] = D_v(E w) − D_w(E v), where q̇ = E v. For bodies' parameters a + [v, w] / 2 therefore takes the
place of a.

Source: Slotine and Li, "On the adaptive control of robot manipulators", Int. J. Robotics Research 6 (1987), for these
forces and their regressor; Niemeyer and Slotine, "Performance in adaptive manipulator control", Int. J. Robotics
Research 10 (1991), for computing them recursively.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.control.laws.tracking import has_rates
from kinetree.functions.derivatives import jacobian, jvp
from kinetree.functions.dynamics import coriolis_forces, rnea
from kinetree.functions.manifold import coordinate_rates
from kinetree.functions.mass_matrix import coriolis_matrix
from kinetree.functions.regressors import joint_torque_regressor
from kinetree.model import Model

__all__ = ["reference_forces", "reference_regressor"]


def reference_forces(robot: Model, q: Any, v: Any, w: Any, a: Any) -> Any:
    """M a + C(q, v) w + g (nv,)."""
    if has_rates(robot):
        return rnea(robot, q, 0.5 * (v + w), a) - coriolis_forces(robot, q, 0.5 * (v - w))
    return rnea(robot, q, np.zeros(robot.nv), a) + coriolis_matrix(robot, q, v) @ w


def reference_regressor(robot: Model, q: Any, v: Any, w: Any, a: Any, bodies: Sequence[str]) -> Any:
    """The matrix (nv, 10 B) whose product with the bodies' inertial parameters is their part of `reference_forces`."""
    if not has_rates(robot):
        a = a + 0.5 * _bracket(robot, q, v, w)
    regressor = joint_torque_regressor(robot, q, 0.5 * (v + w), a, bodies=bodies)
    rest, weightless = np.zeros(robot.nv), {"gravity": np.zeros(3)}
    return regressor - joint_torque_regressor(robot, q, 0.5 * (v - w), rest, bodies=bodies, parameters=weightless)


def _bracket(robot: Model, q: Any, v: Any, w: Any) -> Any:
    """[v, w] (nv,)."""
    E = jacobian(robot, coordinate_rates, (q, v), wrt="v")
    change = [jvp(robot, coordinate_rates, (q, x), {"q": way})[1] for x, way in ((w, v), (v, w))]
    return np.linalg.solve(E.T @ E, E.T @ (change[0] - change[1]))
