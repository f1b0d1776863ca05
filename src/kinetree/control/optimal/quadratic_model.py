"""A step near a knot, to first and second order: the programs that iLQR computes at all knots in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.control.optimal.problem import OptimalControl, Phase
from kinetree.control.optimal.stages import (
    Cost,
    cost_of_last,
    cost_of_step,
    given_size,
    has_plain_step,
    next_state,
    torques,
    values,
)
from kinetree.functions.derivatives import jacobian, vjp
from kinetree.functions.dynamics import aba
from kinetree.functions.dynamics_derivatives import aba_derivatives
from kinetree.functions.kinematics import difference, integrate
from kinetree.programs import Program, program

__all__ = ["knot_program", "terminal_program"]


def knot_program(problem: OptimalControl, phase: Phase) -> Program:
    """The quadratic model of a step.

    By displacements of (q, v) and changes of u, z (2 nv + nu): the gap (2 nv) from the next knot to where the step ends
    and its derivatives (2 nv, 2 nv + nu), the cost, its gradient and its Hessian.
    """
    robot, is_plain = problem.robot, has_plain_step(problem, phase)

    def ends(q: Any, v: Any, u: Any, t: Any, given: Any, q_next: Any, v_next: Any) -> Any:
        known = {"t": t, "q": q, "v": v, "u": u, **values(problem, given)}
        q_end, v_end, _ = next_state(problem, phase, known)
        return np.concatenate([difference(robot, q_next, q_end), v_end - v_next])

    def cost(q: Any, v: Any, u: Any, t: Any, given: Any) -> Cost:
        known = {"t": t, "q": q, "v": v, "u": u, **values(problem, given)}
        if phase.dynamics is not None and set(phase.cost.arguments) - set(known):
            known |= next_state(problem, phase, known)[2]
        return cost_of_step(phase, known)

    shapes = {"q": robot, "v": robot.nv, "u": problem.nu, "t": (), "given": given_size(problem)}
    both = {**shapes, "q_next": robot, "v_next": robot.nv}
    step = program(ends, **both)

    def knot(q: Any, v: Any, u: Any, t: Any, given: Any, q_next: Any, v_next: Any) -> Any:
        if is_plain:
            gap, by_motion = _plain_step(problem, phase, q, v, u, q_next, v_next)
        else:
            gap = step(q, v, u, t, given, q_next, v_next)
            by = jacobian(step, (q, v, u, t, given, q_next, v_next), wrt=("q", "v", "u"))
            by_motion = np.hstack([by["q"], by["v"], by["u"]])
        at = {"q": q, "v": v, "u": u, "t": t, "given": given}
        return {"gap": gap, "by": by_motion, **_second_order(cost, shapes, ("q", "v", "u"), at)}

    return program(knot, **both)


def terminal_program(problem: OptimalControl) -> Program:
    """The cost of the last state, its gradient (2 nv) and its Hessian (2 nv, 2 nv) by displacements of (q, v)."""
    robot, terminal = problem.robot, problem.terminal_cost
    n = 2 * robot.nv

    def cost(q: Any, v: Any, t: Any, given: Any) -> Cost:
        assert terminal is not None
        return cost_of_last(terminal, {"t": t, "q": q, "v": v, **values(problem, given)})

    shapes = {"q": robot, "v": robot.nv, "t": (), "given": given_size(problem)}

    def last(q: Any, v: Any, t: Any, given: Any) -> Any:
        if terminal is None:
            return {"cost": 0.0 * t, "gradient": np.zeros(n), "hessian": np.zeros((n, n))}
        return _second_order(cost, shapes, ("q", "v"), {"q": q, "v": v, "t": t, "given": given})

    return program(last, **shapes)


def _plain_step(problem: OptimalControl, phase: Phase, q: Any, v: Any, u: Any, q_next: Any, v_next: Any) -> Any:
    """The gap and its derivatives, from those of the dynamics: v' = v + dt q̈, q' = q ⊕ dt v'."""
    robot, dt = problem.robot, phase.dt
    tau, nv = torques(problem, u), robot.nv
    by = aba_derivatives(robot, q, v, tau)
    faster = v + dt * aba(robot, q, v, tau)
    by_u = by.by_tau @ problem.selection.T
    of_v = np.hstack([dt * by.by_q, np.eye(nv) + dt * by.by_v, dt * by_u])

    def moved(q: Any, v: Any, q_next: Any) -> Any:
        return difference(robot, q_next, integrate(robot, q, dt * v))

    motion = program(moved, q=robot, v=nv, q_next=robot)
    along = jacobian(motion, (q, faster, q_next), wrt=("q", "v"))
    of_q = along["v"] @ of_v + np.pad(along["q"], ((0, 0), (0, nv + problem.nu)))
    return np.concatenate([motion(q, faster, q_next), faster - v_next]), np.vstack([of_q, of_v])


def _second_order(
    cost: Callable[..., Cost], shapes: dict[str, Any], wrt: tuple[str, ...], at: dict[str, Any]
) -> dict[str, Any]:
    """The cost, its gradient and its Hessian: exact for a scalar, of Gauss and Newton for residuals."""
    found = cost(**at)
    value, gradient, hessian = 0.0, 0.0, 0.0
    if found.residual is not None:
        residuals = program(_like(cost, lambda **x: cost(**x).residual), **shapes)
        by = jacobian(residuals, at, wrt=wrt)
        J, r = np.hstack([by[name] for name in wrt]), found.residual
        value, gradient, hessian = value + 0.5 * (r @ r), gradient + J.T @ r, hessian + J.T @ J
    if found.scalar is not None:
        scalar = program(_like(cost, lambda **x: cost(**x).scalar), **shapes)

        def slope(**x: Any) -> Any:
            by = vjp(scalar, x, 1.0, wrt=wrt)[1]
            return np.concatenate([by[name] for name in wrt])

        slopes = program(_like(cost, slope), **shapes)
        bent = jacobian(slopes, at, wrt=wrt)
        H = np.hstack([bent[name] for name in wrt])
        value, gradient, hessian = value + found.scalar, gradient + slopes(**at), hessian + 0.5 * (H + H.T)
    return {"cost": value, "gradient": gradient, "hessian": hessian}


def _like(known: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of named arguments, with those of another."""
    function.__signature__ = inspect.signature(known)  # type: ignore[attr-defined]
    return function
