"""A phase under feedback, step by step: the program that tries steps of iLQR."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import cost_of_last, cost_of_step, given_size, next_state, value_of, values
from kinetree.functions.kinematics import difference, integrate
from kinetree.programs import Program, program, scan

__all__ = ["last_cost_program", "motion_program"]


def motion_program(problem: OptimalControl, phase: Phase) -> Program:
    """The motion of a phase from a state, with u = u_ref + α k + K (x ⊖ x_ref) within the limits.

    Where a step of the reference ends away from its next knot, the part 1 − α of that gap remains: Mastalli et al.
    (2020), equation 19. All numbers of the result are in one row: the last state, the sum of costs, and per step the
    controls and the state after it.
    """
    robot, nu, T = problem.robot, problem.nu, phase.steps
    nv, size = robot.nv, given_size(problem)
    lower, upper = problem.limits
    is_limited = bool(np.isfinite([lower, upper]).any())

    def motion(
        q: Any, v: Any, alpha: Any, t: Any, given: Any, q_ref: Any, v_ref: Any, u_ref: Any, k: Any, K: Any, gap: Any
    ) -> Any:
        def step(state: Any, row: Any) -> Any:
            q, v, total = state
            t, given, q_ref, v_ref, u_ref, k, K, gap = row
            away = np.concatenate([difference(robot, q_ref, q), v - v_ref])
            u = u_ref + alpha * k + K @ away
            if is_limited:
                u = np.clip(u, lower, upper)
            at = {"t": t, "q": q, "v": v, "u": u, **values(problem, given)}
            q_end, v_end, more = next_state(problem, phase, at)
            total = total + value_of(cost_of_step(phase, {**at, **more}))
            q_end = integrate(robot, q_end, (alpha - 1.0) * gap[:nv])
            v_end = v_end + (alpha - 1.0) * gap[nv:]
            return (q_end, v_end, total), (u, q_end, v_end)

        rows = t, given, q_ref, v_ref, u_ref, k, K, gap
        (q, v, total), (u, qs, vs) = scan(step, (q, v, 0.0), rows)
        return q, v, total, u, qs, vs

    return program(
        motion, q=robot, v=nv, alpha=(), t=(T,), given=(T, size), q_ref=(T, robot.nq), v_ref=(T, nv), u_ref=(T, nu),
        k=(T, nu), K=(T, nu, 2 * nv), gap=(T, 2 * nv),
    )  # fmt: skip


def last_cost_program(problem: OptimalControl) -> Program:
    """The cost of the last state."""
    robot, terminal = problem.robot, problem.terminal_cost

    def last_cost(q: Any, v: Any, t: Any, given: Any) -> Any:
        if terminal is None:
            return 0.0 * t
        return value_of(cost_of_last(terminal, {"t": t, "q": q, "v": v, **values(problem, given)}))

    return program(last_cost, q=robot, v=robot.nv, t=(), given=given_size(problem))
