"""Exact derivatives of the acceleration and the forces of a robot whose motion is constrained.

The equations M q̈ + h = τ + Jᵀ λ and J q̈ + J̇ v + γ J v + κ e = 0 are differentiated as they stand, at the solution
(q̈, λ); nothing of the way to it is. So the derivatives cost those of forward dynamics under τ + Jᵀ λ, those of the rows
at a given q̈, and one system with J M⁻¹ Jᵀ.

Source: Budhiraja, Carpentier, Mastalli and Mansard, "Differential dynamic programming for multi-phase rigid contact
dynamics", Humanoids (2018), section III.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.functions.constrained import constrained_dynamics, constraint_bias, constraint_errors, constraint_jacobian
from kinetree.functions.derivatives import jacobian
from kinetree.functions.dynamics_derivatives import aba_derivatives
from kinetree.model import Model
from kinetree.model.constraints import Contact, Loop
from kinetree.programs import Program, program

__all__ = ["held_motion"]


def held_motion(
    robot: Model, constraints: Sequence[Contact | Loop], q: Any, v: Any, tau: Any, selection: Any
) -> tuple[Any, Any, Any, Any]:
    """q̈ (nv), λ (m), and their derivatives by q, v and u, where τ = Sᵀ u: (nv, 2 nv + nu) and (m, 2 nv + nu)."""
    nv = robot.nv
    qdd, force = constrained_dynamics(robot, q, v, tau, constraints, tolerance=0.0)
    J = constraint_jacobian(robot, q, constraints)
    free = aba_derivatives(robot, q, v, tau + J.T @ force)
    by_q: list[Any] = []
    by_v: list[Any] = []
    pushed, start = np.zeros((nv, nv)), 0
    for one in constraints:  # one by one, since each depends on few joints
        own = jacobian(_rows(robot, one), (q, v, qdd, force[start : start + one.size]), wrt=("q", "v"))
        by_q.append(own["q"]["rows"])
        by_v.append(own["v"]["rows"])
        pushed = pushed + own["q"]["pushed"]
        start += one.size
    by = np.hstack([free.by_q + free.by_tau @ pushed, free.by_v, free.by_tau @ selection.T])
    moved = free.by_tau @ J.T
    change = np.hstack([np.vstack(by_q), np.vstack(by_v), np.zeros((start, len(selection)))]) + J @ by
    force_by = -_solved(J @ moved, change)
    return qdd, force, by + moved @ force_by, force_by


def _rows(robot: Model, constraint: Contact | Loop) -> Program:
    """What must be zero, J q̈ + J̇ v + γ J v + κ e, and Jᵀ λ, at given q̈ and λ."""

    def rows(q: Any, v: Any, qdd: Any, force: Any) -> Any:
        J = constraint_jacobian(robot, q, constraint)
        wanted = J @ qdd + constraint_bias(robot, q, v, constraint) + constraint.velocity_gain * (J @ v)
        if np.any(constraint.position_gain):
            wanted = wanted + constraint.position_gain * constraint_errors(robot, q, constraint)
        return {"rows": wanted, "pushed": J.T @ force}

    return program(rows, q=robot, v=robot.nv, qdd=robot.nv, force=constraint.size)


def _solved(A: Any, B: Any) -> Any:
    """A⁻¹ B for a positive definite A, by Cholesky's factor: no rows are exchanged."""
    L, n = np.linalg.cholesky(A), len(A)
    Y: list[Any] = []
    for i in range(n):
        Y.append((B[i] - sum((L[i, k] * Y[k] for k in range(i)), np.zeros(B.shape[1]))) / L[i, i])
    for i in reversed(range(n)):
        Y[i] = (Y[i] - sum((L[k, i] * Y[k] for k in range(i + 1, n)), np.zeros(B.shape[1]))) / L[i, i]
    return np.stack(Y)
