"""Rows of tasks one after another: what each can do with what the rows before it leave free.

Rows J_k of Jacobians, in the order of their priority, are made orthogonal in the metric of M⁻¹. Row k less its parts
along those before it, r_k, moves none of them: r_k M⁻¹ J_jᵀ = 0 for j < k. A force f along it accelerates the row by
d_k f with d_k = r_k M⁻¹ r_kᵀ, the inverse of the inertia that is felt there. The sum of r_kᵀ r_k M⁻¹ / d_k takes from
joint forces what the tasks feel; what is left of a force moves no task. For one task it is Jᵀ Λ J M⁻¹ with
Λ = (J M⁻¹ Jᵀ)⁻¹, by Khatib's dynamically consistent inverse.

Where a row can hardly be moved (a singular configuration, or a task that asks what another one has decided) d_k goes to
zero, and no finite force does what is asked. So d_k is taken as at least about 1/(2 m) for a largest inertia m, kg or
kg·m²: (m d² + 1/m) / 2 wherever d < 1/m, which joins d smoothly. Such a row yields, and rows before it are untouched.

Sources: Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
formulation", IEEE J. Robotics and Automation 3 (1987); Sentis and Khatib, "Synthesis of whole-body behaviors through
hierarchical control of behavioral primitives", Int. J. Humanoid Robotics 2 (2005), for task after task; here row
after row, by modified Gram-Schmidt, which needs no matrix inverse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.functions.mass_matrix import mass_matrix_solve
from kinetree.model import Model

__all__ = ["TaskRows"]


class TaskRows:
    """Rows of Jacobians (m, nv), in the order of their priority, at one configuration."""

    def __init__(self, robot: Model, q: Any, jacobian: Any, heaviest: Any) -> None:
        """`heaviest` is the largest inertia that a row is given a force for."""
        self.jacobian = jacobian
        solved = mass_matrix_solve(robot, q, jacobian)  # M⁻¹ J_kᵀ, row by row
        self.mobility = jacobian @ solved.T
        self._rows: list[tuple[Any, Any, Any]] = []
        for J, S in zip(jacobian, solved, strict=True):
            for r, s, d in self._rows:
                part = (J @ s) / d
                J, S = J - part * r, S - part * s
            self._rows.append((J, S, _yielding(J @ S, heaviest)))

    def forces(self, accelerations: Any) -> Any:
        """Joint forces (nv,) that give the rows these accelerations (m,), from rest and without other forces."""
        total, reached = np.zeros(self.jacobian.shape[1]), np.zeros(self.jacobian.shape[1])
        for J, (r, s, d), wanted in zip(self.jacobian, self._rows, accelerations, strict=True):
            f = (wanted - J @ reached) / d
            total, reached = total + f * r, reached + f * s
        return total

    def unfelt(self, tau: Any) -> Any:
        """Nᵀ τ: what is left of joint forces without the parts that would accelerate a row."""
        for r, s, d in self._rows:
            tau = tau - (s @ tau) / d * r
        return tau

    def free(self, v: Any) -> Any:
        """N v: what is left of a velocity without the parts that move a row; the transpose of `unfelt`."""
        for r, s, d in reversed(self._rows):
            v = v - (r @ v) / d * s
        return v

    @property
    def yielding_mobility(self) -> Any:
        """J M⁻¹ Jᵀ (m, m), with what is added to the diagonal where rows yield: positive definite."""
        added = [d - r @ s for r, s, d in self._rows]
        return self.mobility + np.diag(np.stack(added))


def _yielding(d: Any, heaviest: Any) -> Any:
    return np.where(d * heaviest < 1.0, 0.5 * (heaviest * d * d + 1.0 / heaviest), d)
