"""Second derivatives of a motion, weighted by costates: iLQR leaves them out, and Newton's method has them.

Where the robot moves by its own equations R(z, y) = 0, with y = (q̈, forces of constraints), a weighted sum wᵀy has the
Hessian Zᵀ (∂²/∂(z, y)² μᵀR) Z, where R_yᵀ μ = −w, and Z has the derivatives of (z, y) by z. So inverse dynamics are
differentiated twice, and the solution for y never is.

Sources: Dunn and Bertsekas, "Efficient dynamic programming implementations of Newton's method for unconstrained optimal
control problems", Journal of Optimization Theory and Applications 63 (1989), for Hessians weighted by costates; Singh,
Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", IEEE
Robotics and Automation Letters (2022), for second derivatives of forward dynamics by those of inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.control.optimal.cost_model import hessian, slope
from kinetree.control.optimal.held_motion import equations, held_motion, multipliers
from kinetree.control.optimal.linear_step import STATE, ends
from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import has_plain_step, weight_of_change
from kinetree.functions.kinematics import difference, integrate

__all__ = ["motion_hessian"]


def motion_hessian(
    problem: OptimalControl, phase: Phase, outputs: Mapping[str, Any], at: Mapping[str, Any], q_next: Any, v_next: Any,
    costate: Any, on_more: Any,
) -> Any:  # fmt: skip
    """The Hessian of λᵀ(the gap after a step), plus a weighted sum of the dynamics' results in the cost."""
    if has_plain_step(problem, phase):
        return _plain_hessian(problem, phase, at, q_next, costate, on_more)
    step = ends(problem, phase, outputs)
    ports = {name: step.arguments[name] for name in step.arguments}

    def weighted(weights: Any, **x: Any) -> Any:
        return weights @ step(**x)

    weights = np.concatenate([costate, on_more])
    there = {**at, "q_next": q_next, "v_next": v_next, "weights": weights}
    return hessian(weighted, {**ports, "weights": len(weights)}, there, STATE)


def _plain_hessian(
    problem: OptimalControl, phase: Phase, at: Mapping[str, Any], q_next: Any, costate: Any, on_more: Any
) -> Any:
    """For v' = v + s y and q' = q ⊕ dt v', s = `weight_of_change`."""
    robot, nv, nu = problem.robot, problem.robot.nv, problem.nu
    now = held_motion(problem, phase, at)
    m = len(now.forces)
    on_forces = on_more if len(on_more) else np.zeros(m)

    def end(q: Any, v: Any, change: Any, q_next: Any, costate: Any) -> Any:
        v_end = v + weight_of_change(phase) * change
        return costate @ np.concatenate([difference(robot, q_next, integrate(robot, q, phase.dt * v_end)), v_end])

    ports = {"q": robot, "v": nv, "change": nv, "q_next": robot, "costate": 2 * nv}
    there = {"q": at["q"], "v": at["v"], "change": now.change, "q_next": q_next, "costate": costate}
    weights, by_rows = multipliers(now, slope(end, ports, there, ("change",)), on_forces)

    def stationary(forces: Any, weights: Any, by_rows: Any, **x: Any) -> Any:
        return end(**x) + equations(problem, phase, {**x, "forces": forces}, weights, by_rows)

    ports = {**ports, "forces": m or 1, "weights": nv, "by_rows": m or 1}
    arguments = {"forces": now.forces, "by_rows": by_rows} if m else {"forces": np.zeros(1), "by_rows": np.zeros(1)}
    H = hessian(
        stationary, ports, {**there, **arguments, "weights": weights}, ("q", "v", "change", *(["forces"] if m else []))
    )
    along = np.vstack([np.eye(2 * nv, 2 * nv + nu), now.change_by, now.forces_by])
    return along.T @ H @ along
