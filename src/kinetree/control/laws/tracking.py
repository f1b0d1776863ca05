"""The error of a configuration on its manifold, and motions along which it obeys a given equation.

The error e is `kt.difference` from where the robot is to where it should be. For joints with q̇ = v, ė is the difference
of the velocities. For others (ball joints, planar and free ones) ė = A v + B v_d with the derivatives A and B of the
difference, which depend on q, so that ë has a bias. With both an equation of e holds exactly, up to half a turn.

Source: Bullo and Murray, "Tracking for fully actuated mechanical systems: a geometric framework", Automatica 35 (1999),
for errors and transported velocities on manifolds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.functions.derivatives import jvp
from kinetree.functions.kinematics import difference
from kinetree.functions.manifold import difference_jacobian
from kinetree.model import Model
from kinetree.programs import program

__all__ = ["Tracking", "has_rates"]


def has_rates(robot: Model) -> bool:
    """Whether v is the rate of q for all joints."""
    return all(joint.kind.is_flat for joint in robot.joints.values())


class Tracking:
    """Errors from a reference (q_d, v_d, v̇_d), and the commanded acceleration; for one sample, plain or symbolic."""

    def __init__(self, robot: Model) -> None:
        self._robot = robot
        self._is_plain = has_rates(robot)
        n = robot.nv
        self._rate = program(self.rate, q=robot, v=n, target=robot, target_velocity=n)
        self._reference = program(self._velocity, q=robot, target=robot, target_velocity=n, rate=n)

    def error(self, q: Any, target: Any) -> Any:
        """e (nv,)."""
        return difference(self._robot, q, target)

    def rate(self, q: Any, v: Any, target: Any, target_velocity: Any) -> Any:
        """ė (nv,)."""
        if self._is_plain:
            return target_velocity - v
        A, B = self._slopes(q, target)
        return A @ v + B @ target_velocity

    def force(self, q: Any, target: Any, gradient: Any) -> Any:
        """Joint forces −Aᵀ ∂U/∂e of a potential U(e), which is `gradient` itself for joints with q̇ = v."""
        return gradient if self._is_plain else -(self._slopes(q, target)[0].T @ gradient)

    def acceleration(self, q: Any, v: Any, target: Any, target_velocity: Any, target_qdd: Any, feedback: Any) -> Any:
        """The acceleration v̇ at which ë is the wanted one."""
        if self._is_plain:
            return target_qdd - feedback
        A, B = self._slopes(q, target)
        along = {"q": v, "target": target_velocity}
        bias = jvp(self._rate, (q, v, target, target_velocity), along)[1]  # ë where v̇ and v̇_d are zero
        return np.linalg.solve(A, feedback - B @ target_qdd - bias)

    def reference(self, q: Any, v: Any, target: Any, target_velocity: Any, target_qdd: Any, rate: Any) -> Any:
        """The velocity v_r at which ė = −Λ e, with Λ = diag(rate), and its derivative along the motion."""
        if self._is_plain:
            e = self.error(q, target)
            return target_velocity + rate * e, target_qdd + rate * (target_velocity - v)
        along = {"q": v, "target": target_velocity, "target_velocity": target_qdd}
        return jvp(self._reference, (q, target, target_velocity, rate), along)

    def _velocity(self, q: Any, target: Any, target_velocity: Any, rate: Any) -> Any:
        A, B = self._slopes(q, target)
        return np.linalg.solve(A, -rate * self.error(q, target) - B @ target_velocity)

    def _slopes(self, q: Any, target: Any) -> tuple[Any, Any]:
        """A and B (nv, nv): derivatives of the error by displacements of q and of the target."""
        robot = self._robot
        return difference_jacobian(robot, q, target, wrt="q0"), difference_jacobian(robot, q, target, wrt="q1")
