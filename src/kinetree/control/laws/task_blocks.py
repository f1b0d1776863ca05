"""Tasks one after another: each acts in the null space of those before it.

The Jacobians J_k of tasks, in the order of their priority, are made orthogonal in the metric of M⁻¹. J_k less its parts
along those before it, J_k|, moves none of them: J_k| M⁻¹ J_jᵀ = 0 for j < k. Forces F along it accelerate the task by
W F with its mobility W = J_k| M⁻¹ J_k|ᵀ, the inverse of the inertia Λ that is felt there. The sum of J_k|ᵀ Λ J_k| M⁻¹
removes from joint forces the part that the tasks feel; the remaining force moves no task. For one task that is Khatib's
dynamically consistent inverse.

Where a direction of a task can hardly be moved (a singular configuration, or a task in a direction that another one has
decided) W is singular, and no finite force meets the demand. The freedom of the rows follows from the pivots p of the
Cholesky factors of J_k| J_k|ᵀ, each over the square of the row's own length in J: the squared sine of the angle between
the row and those before it, regardless of masses. Where the least pivot is below the least freedom p₀, W is damped: W +
δ 1 with δ = 0.2 (1 − p / p₀)², in units in which the rows' mobilities are one; and δ = 0 elsewhere, so that all is
exact there. The solution is refined twice with the factors of the damped matrix: directions that can be moved are wrong
by (δ / W)³ only. Demands in directions that cannot be moved are left out, so that forces go to zero there instead of
growing, and are continuous. Tasks before it are as if it were not there.

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

__all__ = ["LEAST_FREEDOM", "TaskBlocks"]

LEAST_FREEDOM = 0.1
"""The freedom of a row below which a task is damped, by default; Panda and UR5 have 0.2 at work."""
_MOST = 0.2
"""The damping of rows without freedom."""
_SHORT = 0.1
"""The length, m or rad per rad, relative to which a row that hardly moves at all counts as short."""
_REFINEMENTS = 2
_ROUNDING = 1e-6
"""The part of a freedom, or of a mobility, that counts as zero."""


class TaskBlocks:
    """Jacobians (m, nv) in the order of their priority, at one configuration."""

    def __init__(
        self, robot: Model, q: Any, jacobians: Sequence[Any], least_freedom: Any, weights: Sequence[Any] | None = None
    ) -> None:
        """`weights` (m,) of each task's rows are those of the least squares, where a task cannot be met."""
        self._nv, self._blocks = robot.nv, list[_Block]()
        least = 1.0 / robot.mass if robot.mass > 0.0 else 1.0  # units are finite where nothing moves a row
        for k, J in enumerate(jacobians):
            solved = mass_matrix_solve(robot, q, J)  # M⁻¹ Jᵀ, row by row
            reach = 1.0 / np.sqrt(np.sum(J * J, axis=1) + _SHORT**2)
            own = np.sum(J * solved, axis=1) + least
            unit = np.sqrt(1.0 / own) if weights is None else np.sqrt(weights[k] / own)
            J, r, s = unit[:, None] * J, unit[:, None] * J, unit[:, None] * solved
            for block in self._blocks:
                part = block.inertia(block.s @ r.T).T
                r, s = r - part @ block.r, s - part @ block.s
            self._blocks.append(_Block(J, r, s, unit, reach / unit, least_freedom))

    def forces(self, accelerations: Sequence[Any]) -> Any:
        """Joint forces (nv,) that give the tasks these accelerations (m,), from rest and without other forces."""
        total, reached = np.zeros(self._nv), np.zeros(self._nv)
        for block, acceleration in zip(self._blocks, accelerations, strict=True):
            F = block.inertia(block.movable(block.unit * acceleration - block.J @ reached))
            total, reached = total + block.r.T @ F, reached + block.s.T @ F
        return total

    def unfelt(self, tau: Any) -> Any:
        """Nᵀ τ: the joint forces without the parts that would accelerate a task."""
        for block in self._blocks:
            tau = tau - block.r.T @ block.inertia(block.s @ tau)
        return tau

    def free(self, v: Any) -> Any:
        """N v: the velocity without the parts that move a task; the transpose of `unfelt`."""
        for block in reversed(self._blocks):
            v = v - block.s.T @ block.inertia(block.r @ v)
        return v

    @property
    def mobility(self) -> Any:
        """W of the first task (m, m), damped where it must be: positive definite."""
        unit = self._blocks[0].unit
        return self._blocks[0].damped / (unit[:, None] * unit)


class _Block:
    """One task's Jacobian J, its projected rows (r, and M⁻¹ rᵀ as the rows of s), and its damped mobility.

    All in the rows' own units, in which their mobilities are freedoms.
    """

    def __init__(self, J: Any, r: Any, s: Any, unit: Any, reach: Any, least_freedom: Any) -> None:
        self.J, self.r, self.s, self.unit = J, r, s, unit
        W = r @ s.T
        self._W = 0.5 * (W + W.T)
        rows = reach[:, None] * r
        _, freedoms = _factors(rows @ rows.T, _ROUNDING * least_freedom)
        part = np.minimum(np.min(freedoms) / least_freedom, 1.0)
        self.damped = self._W + _MOST * (1.0 - part) ** 2 * np.eye(len(J))
        self._L, self._D = _factors(self.damped, _ROUNDING)

    def inertia(self, x: Any) -> Any:
        """Λ x (m,) or (m, n), by refinement of the damped solution."""
        product = self._solved(x)
        for _ in range(_REFINEMENTS):
            product = product + self._solved(x - self._W @ product)
        return product

    def movable(self, x: Any) -> Any:
        """W Λ x: the attainable part of accelerations (m,); zero along directions that cannot be moved."""
        return self._W @ self.inertia(x)

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
