"""Exact derivatives of a robot's motion under constraints: of accelerations and forces, of impacts and impulses.

The equations M y + h = τ + Jᵀ f and J y + b = 0 are differentiated as they stand, at the solution (y, f); nothing of
the way to it is. y is the acceleration, and b contains J̇ v and Baumgarte's terms; in an impact y is the change of the
velocity, f are impulses, h and τ are zero, and b = (1 + e) J v. So the derivatives cost those of forward dynamics under
τ + Jᵀ f, those of the rows at a given y, and one system with J M⁻¹ Jᵀ.

Source: Budhiraja, Carpentier, Mastalli and Mansard, "Differential dynamic programming for multi-phase rigid contact
dynamics", Humanoids (2018), section III.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import row_tolerance, torques
from kinetree.functions.constrained import (
    constrained_dynamics,
    constraint_bias,
    constraint_errors,
    constraint_jacobian,
    impact,
    operational_space_inertia,
)
from kinetree.functions.derivatives import jacobian
from kinetree.functions.dynamics import aba, rnea
from kinetree.functions.dynamics_derivatives import aba_derivatives
from kinetree.model.constraints import Contact, Loop
from kinetree.programs import Program, program

__all__ = ["Held", "equations", "held_motion", "multipliers"]


class Held(NamedTuple):
    """How a robot moves by its own equations, and the derivatives by (q, v, u), 2 nv + nu columns each."""

    change: Any
    """y (nv): the acceleration, or in an impact the change of the velocity."""
    change_by: Any
    forces: Any
    """Forces or impulses (m) of the constraints; none without constraints."""
    forces_by: Any
    inverse: Any
    """M⁻¹ (nv, nv)."""
    J: Any
    """(m, nv)."""


def held_motion(problem: OptimalControl, phase: Phase, at: Mapping[str, Any]) -> Held:
    """How the robot moves in a phase without dynamics of its own."""
    robot, q, v, S = problem.robot, at["q"], at["v"], problem.selection
    nv, nu = robot.nv, problem.nu
    if phase.is_impact:
        return _struck(problem, phase, q, v)
    tau = torques(problem, at["u"])
    if not phase.constraints:
        free = aba_derivatives(robot, q, v, tau)
        by = np.hstack([free.by_q, free.by_v, free.by_tau @ S.T])
        nothing = np.zeros((0, nv))
        return Held(aba(robot, q, v, tau), by, np.zeros(0), np.zeros((0, 2 * nv + nu)), free.by_tau, nothing)
    qdd, forces = constrained_dynamics(robot, q, v, tau, phase.constraints, tolerance=row_tolerance(problem, phase))
    J = constraint_jacobian(robot, q, phase.constraints)
    free = aba_derivatives(robot, q, v, tau + J.T @ forces)
    by = np.hstack([free.by_q, free.by_v, free.by_tau @ S.T])
    return _under_rows(problem, phase, q, v, qdd, forces, J, free.by_tau, by)


def _struck(problem: OptimalControl, phase: Phase, q: Any, v: Any) -> Held:
    robot, nv = problem.robot, problem.robot.nv
    tolerance = row_tolerance(problem, phase)
    after, impulses = impact(robot, q, v, phase.constraints, restitution=phase.restitution, tolerance=tolerance)
    J = constraint_jacobian(robot, q, phase.constraints)
    free = aba_derivatives(robot.with_gravity((0.0, 0.0, 0.0)), q, np.zeros(nv), J.T @ impulses)  # M⁻¹ Jᵀ ι
    by = np.hstack([free.by_q, np.zeros((nv, nv + problem.nu))])
    return _under_rows(problem, phase, q, v, after - v, impulses, J, free.by_tau, by)


def _under_rows(
    problem: OptimalControl, phase: Phase, q: Any, v: Any, change: Any, forces: Any, J: Any, inverse: Any, by: Any
) -> Held:
    """With derivatives under the rows of the constraints, from those (nv, 2 nv + nu) at a given Jᵀ f."""
    nv = problem.robot.nv
    by_q: list[Any] = []
    by_v: list[Any] = []
    pushed, start = np.zeros((nv, nv)), 0
    for constraint in phase.constraints:  # one by one, since each depends on few joints
        there = q, v, change, forces[start : start + constraint.size]
        own = jacobian(_rows(problem, phase, constraint), there, wrt=("q", "v"))
        by_q.append(own["q"]["rows"])
        by_v.append(own["v"]["rows"])
        pushed = pushed + own["q"]["pushed"]
        start += constraint.size
    by = by + np.pad(inverse @ pushed, ((0, 0), (0, by.shape[1] - nv)))
    moved = inverse @ J.T
    missed = np.hstack([np.vstack(by_q), np.vstack(by_v), np.zeros((start, problem.nu))]) + J @ by
    if problem.is_redundant(phase):
        forces_by = _shared(problem, phase, (q, v, change), J, inverse, forces, missed)
    else:
        forces_by = -_solved(J @ moved, missed)
    return Held(change, by + moved @ forces_by, forces, forces_by, inverse, J)


def _shared(
    problem: OptimalControl, phase: Phase, motion: tuple[Any, Any, Any], J: Any, inverse: Any, forces: Any, missed: Any
) -> Any:
    """The derivatives of forces f = −A⁺ r of least norm, with A = J M⁻¹ Jᵀ of constant rank.

    `missed` are the derivatives of J y + b at given f. Source: Golub and Pereyra, "The differentiation of
    pseudo-inverses and nonlinear least squares problems whose variables separate", SIAM Journal on Numerical Analysis
    10 (1973), section 4.
    """
    robot, nv, q = problem.robot, problem.robot.nv, motion[0]
    ends = np.cumsum([constraint.size for constraint in phase.constraints])
    parts = [forces[end - one.size : end] for one, end in zip(phase.constraints, ends, strict=True)]
    rows = [_rows(problem, phase, one)(*motion, f)["rows"] for one, f in zip(phase.constraints, parts, strict=True)]
    left = np.concatenate(rows)  # J y + b, which is zero but where rows contradict each other
    inverted = operational_space_inertia(robot, q, phase.constraints)  # A⁺
    moved = inverse @ J.T

    def turned(q: Any, weights: Any, motion: Any) -> Any:
        J = constraint_jacobian(robot, q, phase.constraints)
        return {"pushed": J.T @ weights, "along": J @ motion}

    turning = program(turned, q=robot, weights=len(forces), motion=nv)
    by = jacobian(turning, (q, left, moved @ (inverted @ forces)), wrt="q")
    beside = by["along"] - (J @ moved) @ (inverted @ by["along"]) - inverted @ (inverted @ (moved.T @ by["pushed"]))
    return np.pad(beside, ((0, 0), (0, missed.shape[1] - nv))) - inverted @ missed


def multipliers(constrained: Held, on_change: Any, on_forces: Any) -> tuple[Any, Any]:
    """The weights (nv) of M y + h − τ − Jᵀ f and (m) of J y + b that make their sum with on_changeᵀ y + on_forcesᵀ f
    stationary in (y, f)."""
    if not len(constrained.forces):
        return -constrained.inverse @ on_change, constrained.forces
    moved = constrained.inverse @ constrained.J.T
    by_rows = -_solved(constrained.J @ moved, (on_forces + moved.T @ on_change)[:, None])[:, 0]
    return -(constrained.inverse @ on_change + moved @ by_rows), by_rows


def equations(problem: OptimalControl, phase: Phase, x: Mapping[str, Any], weights: Any, by_rows: Any) -> Any:
    """The weighted sum of M y + h − Jᵀ f, without τ, and of J y + b, at any (q, v, change, forces) in x."""
    robot, q, v, change = problem.robot, x["q"], x["v"], x["change"]
    own = (
        rnea(robot.with_gravity((0.0, 0.0, 0.0)), q, np.zeros(robot.nv), change)
        if phase.is_impact
        else rnea(robot, q, v, change)
    )
    total, start = weights @ own, 0
    for constraint in phase.constraints:
        part = slice(start, start + constraint.size)
        rows = _rows(problem, phase, constraint)(q, v, change, x["forces"][part])
        total = total - weights @ rows["pushed"] + by_rows[part] @ rows["rows"]
        start += constraint.size
    return total


def _rows(problem: OptimalControl, phase: Phase, constraint: Contact | Loop) -> Program:
    """J y + b, which must be zero, and Jᵀ f, at given y and f."""
    robot = problem.robot

    def rows(q: Any, v: Any, change: Any, force: Any) -> Any:
        J = constraint_jacobian(robot, q, constraint)
        if phase.is_impact:
            return {"rows": J @ (change + (1.0 + phase.restitution) * v), "pushed": J.T @ force}
        residual = J @ change + constraint_bias(robot, q, v, constraint) + constraint.velocity_gain * (J @ v)
        if np.any(constraint.position_gain):
            residual = residual + constraint.position_gain * constraint_errors(robot, q, constraint)
        return {"rows": residual, "pushed": J.T @ force}

    return program(rows, q=robot, v=robot.nv, change=robot.nv, force=constraint.size)


def _solved(A: Any, B: Any) -> Any:
    """A⁻¹ B for a positive definite A, by Cholesky's factor: no rows are exchanged."""
    L, n = np.linalg.cholesky(A), len(A)
    Y: list[Any] = []
    for i in range(n):
        Y.append((B[i] - sum((L[i, k] * Y[k] for k in range(i)), np.zeros(B.shape[1]))) / L[i, i])
    for i in reversed(range(n)):
        Y[i] = (Y[i] - sum((L[k, i] * Y[k] for k in range(i + 1, n)), np.zeros(B.shape[1]))) / L[i, i]
    return np.stack(Y)
