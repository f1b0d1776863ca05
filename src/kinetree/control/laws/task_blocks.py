"""Tasks one after another: what each can do with what those before it leave free.

The Jacobians J_k of tasks, in the order of their priority, are made orthogonal in the metric of M⁻¹. J_k less its parts
along those before it, J_k|, moves none of them: J_k| M⁻¹ J_jᵀ = 0 for j < k. Forces F along it accelerate the task by
W F with its mobility W = J_k| M⁻¹ J_k|ᵀ, the inverse of the inertia Λ that is felt there. The sum of J_k|ᵀ Λ J_k| M⁻¹
takes from joint forces what the tasks feel; what is left of a force moves no task. For one task that is Khatib's
dynamically consistent inverse.

Where a direction of a task can hardly be moved (a singular configuration, or a task that asks what another one has
decided) W is singular to within rounding, and no finite force does what is asked. So W is damped: W + δ 1, with
δ = (1 − m d)² / m, where the least pivot d of its Cholesky factors, as if each row were alone with those before it, is
below 1/m for the largest inertia m that a direction is given a force for, kg or kg·m²; and δ = 0 where none is. The
solution is refined twice with these factors, so that directions which can be moved are wrong by (δ / W)³ only. Forces
stay bounded by 3 m times the acceleration asked for, and are continuous. Tasks before it are as if it were not there.

Sources: Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
formulation", IEEE J. Robotics and Automation 3 (1987); Sentis and Khatib, "Synthesis of whole-body behaviors through
hierarchical control of behavioral primitives", Int. J. Humanoid Robotics 2 (2005), for task after task; Chiaverini,
"Singularity-robust task-priority redundancy resolution for real-time kinematic control of robot manipulators", IEEE
Trans. Robotics and Automation 13 (1997), for damping that begins near singularities; Golub and Van Loan, *Matrix
Computations* (2013), section 3.5.3, the refinement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.functions.mass_matrix import mass_matrix_solve
from kinetree.model import Model

__all__ = ["TaskBlocks"]

_REFINEMENTS = 2
_ROUNDING = 1e-6
"""The part of 1/m below which a pivot counts as zero."""


class TaskBlocks:
    """Jacobians (m, nv) in the order of their priority, at one configuration."""

    def __init__(self, robot: Model, q: Any, jacobians: Sequence[Any], heaviest: Any) -> None:
        """`heaviest` is the largest inertia that a direction is given a force for."""
        self._nv, self._blocks = robot.nv, list[_Block]()
        for J in jacobians:
            r, s = J, mass_matrix_solve(robot, q, J)  # M⁻¹ Jᵀ, row by row
            for block in self._blocks:
                part = block.inertia(block.s @ r.T).T
                r, s = r - part @ block.r, s - part @ block.s
            self._blocks.append(_Block(J, r, s, heaviest))

    def forces(self, accelerations: Sequence[Any]) -> Any:
        """Joint forces (nv,) that give the tasks these accelerations (m,), from rest and without other forces."""
        total, reached = np.zeros(self._nv), np.zeros(self._nv)
        for block, wanted in zip(self._blocks, accelerations, strict=True):
            F = block.inertia(wanted - block.J @ reached)
            total, reached = total + block.r.T @ F, reached + block.s.T @ F
        return total

    def unfelt(self, tau: Any) -> Any:
        """Nᵀ τ: what is left of joint forces without the parts that would accelerate a task."""
        for block in self._blocks:
            tau = tau - block.r.T @ block.inertia(block.s @ tau)
        return tau

    def free(self, v: Any) -> Any:
        """N v: what is left of a velocity without the parts that move a task; the transpose of `unfelt`."""
        for block in reversed(self._blocks):
            v = v - block.s.T @ block.inertia(block.r @ v)
        return v

    @property
    def mobility(self) -> Any:
        """W of the first task (m, m), damped where it must be: positive definite."""
        return self._blocks[0].damped


class _Block:
    """One task's Jacobian J, what is left of it (r, and M⁻¹ rᵀ as the rows of s), and its damped mobility."""

    def __init__(self, J: Any, r: Any, s: Any, heaviest: Any) -> None:
        self.J, self.r, self.s = J, r, s
        W = r @ s.T
        self._W = 0.5 * (W + W.T)
        _, pivots = _factors(self._W, _ROUNDING / heaviest)
        freedom = np.clip(heaviest * np.min(pivots), 0.0, 1.0)
        self.damped = self._W + (1.0 - freedom) ** 2 / heaviest * np.eye(len(J))
        self._L, self._D = _factors(self.damped, _ROUNDING / heaviest)

    def inertia(self, x: Any) -> Any:
        """Λ x (m,) or (m, n), by refinement of the damped solution."""
        found = self._solved(x)
        for _ in range(_REFINEMENTS):
            found = found + self._solved(x - self._W @ found)
        return found

    def _solved(self, x: Any) -> Any:
        """(W + δ 1)⁻¹ x, by its factors L D Lᵀ."""
        L, m, rows = self._L, len(self._D), list[Any]()
        for i in range(m):
            rows.append(x[i] - sum((L[i][j] * rows[j] for j in range(i)), 0.0))
        for i in reversed(range(m)):
            rows[i] = rows[i] / self._D[i] - sum((L[j][i] * rows[j] for j in range(i + 1, m)), 0.0)
        return np.stack(rows)


def _factors(W: Any, least: Any) -> tuple[list[list[Any]], Any]:
    """L, row by row below its diagonal of ones, and the pivots D (m,) of W = L D Lᵀ, none of them below the least."""
    L: list[list[Any]] = []
    D: list[Any] = []
    for i in range(len(W)):
        row: list[Any] = []
        for j in range(i):
            row.append((W[i, j] - sum((row[k] * L[j][k] * D[k] for k in range(j)), 0.0)) / D[j])
        D.append(np.maximum(W[i, i] - sum((x * x * d for x, d in zip(row, D, strict=True)), 0.0), least))
        L.append(row)
    return L, np.stack(D)
