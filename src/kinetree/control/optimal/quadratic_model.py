"""A step near a knot, to first and second order: the programs that iLQR computes at all knots in one call."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.optimal.held_motion import held_motion
from kinetree.control.optimal.problem import OptimalControl, Phase, returned_by
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
from kinetree.errors import OptionError
from kinetree.functions.derivatives import jacobian, jvp, vjp
from kinetree.functions.dynamics import aba
from kinetree.functions.dynamics_derivatives import aba_derivatives
from kinetree.functions.kinematics import difference, integrate
from kinetree.programs import Program, program

__all__ = ["knot_program", "terminal_program"]

_STATE = ("q", "v", "u")


class _Moved(NamedTuple):
    """A step to first order; derivatives are by displacements of (q, v) and changes of u, z (2 nv + nu)."""

    gap: Any
    by: Any
    more: Any
    """What else the cost takes of the dynamics, all numbers in a row, and its derivatives."""
    more_by: Any


def knot_program(problem: OptimalControl, phase: Phase) -> Program:
    """The quadratic model of a step.

    It returns the gap (2 nv) from the next knot to where the step ends and its derivatives (2 nv, 2 nv + nu), the cost,
    its gradient and the upper triangle of its Hessian, row by row.
    """
    robot = problem.robot
    shapes = {"q": robot, "v": robot.nv, "u": problem.nu, "t": (), "given": given_size(problem)}
    taken = {name: shape for name, shape in returned_by(robot, phase).items() if name in phase.cost.arguments}
    size = sum(math.prod(shape) for shape in taken.values())

    def cost(q: Any, v: Any, u: Any, t: Any, given: Any, more: Any) -> Cost:
        known = {"t": t, "q": q, "v": v, "u": u, **values(problem, given)}
        start = 0
        for name, shape in taken.items():
            known[name] = more[start : start + math.prod(shape)].reshape(shape)
            start += math.prod(shape)
        return cost_of_step(phase, known)

    def knot(q: Any, v: Any, u: Any, t: Any, given: Any, q_next: Any, v_next: Any) -> Any:
        at = {"q": q, "v": v, "u": u, "t": t, "given": given}
        moved = _moved(problem, phase, taken, at, q_next, v_next)
        beside = {**at, "more": moved.more if size else np.zeros(1)}
        model = _second_order(cost, {**shapes, "more": size or 1}, _STATE, beside, moved.more_by if size else None)
        upper = np.triu_indices(2 * robot.nv + problem.nu)
        return {"gap": moved.gap, "by": moved.by, **model, "hessian": model["hessian"][upper]}

    return program(knot, **shapes, q_next=robot, v_next=robot.nv)


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
        return _second_order(cost, shapes, ("q", "v"), {"q": q, "v": v, "t": t, "given": given}, None)

    return program(last, **shapes)


def _moved(
    problem: OptimalControl, phase: Phase, taken: Mapping[str, Any], at: dict[str, Any], q_next: Any, v_next: Any
) -> _Moved:
    robot = problem.robot
    q, v = at["q"], at["v"]
    tau = torques(problem, at["u"]) if phase.dynamics is None else None
    if phase.constraints:
        qdd, force, qdd_by, force_by = held_motion(robot, phase.constraints, q, v, tau, problem.selection)
        return _Moved(*_plain_step(phase.dt, robot, q, v, qdd, qdd_by, q_next, v_next), force, force_by)
    if has_plain_step(problem, phase):
        assert tau is not None
        by = aba_derivatives(robot, q, v, tau)
        qdd_by = np.hstack([by.by_q, by.by_v, by.by_tau @ problem.selection.T])
        return _Moved(*_plain_step(phase.dt, robot, q, v, aba(robot, q, v, tau), qdd_by, q_next, v_next), None, None)

    def ends(q: Any, v: Any, u: Any, t: Any, given: Any, q_next: Any, v_next: Any) -> Any:
        q_end, v_end, more = next_state(problem, phase, {"t": t, "q": q, "v": v, "u": u, **values(problem, given)})
        own = [more[name].ravel() for name in taken]
        return np.concatenate([difference(robot, q_next, q_end), v_end - v_next, *own])

    step = program(
        ends, q=robot, v=robot.nv, u=problem.nu, t=(), given=given_size(problem), q_next=robot, v_next=robot.nv
    )
    there = {**at, "q_next": q_next, "v_next": v_next}
    found, slopes = step(**there), jacobian(step, there, wrt=_STATE)
    whole, n = np.hstack([slopes[name] for name in _STATE]), 2 * robot.nv
    return _Moved(found[:n], whole[:n], found[n:], whole[n:])


def _plain_step(
    dt: float, robot: Any, q: Any, v: Any, qdd: Any, qdd_by: Any, q_next: Any, v_next: Any
) -> tuple[Any, Any]:
    """The gap and its derivatives, from those of q̈: v' = v + dt q̈, q' = q ⊕ dt v'."""
    nv, width = robot.nv, qdd_by.shape[1]
    faster = v + dt * qdd
    of_v = dt * qdd_by + np.eye(nv, width, nv)

    def moved(q: Any, v: Any, q_next: Any) -> Any:
        return difference(robot, q_next, integrate(robot, q, dt * v))

    motion = program(moved, q=robot, v=nv, q_next=robot)
    along = jacobian(motion, (q, faster, q_next), wrt=("q", "v"))
    of_q = along["v"] @ of_v + np.pad(along["q"], ((0, 0), (0, width - nv)))
    return np.concatenate([motion(q, faster, q_next), faster - v_next]), np.vstack([of_q, of_v])


def _second_order(
    cost: Callable[..., Cost], shapes: dict[str, Any], wrt: tuple[str, ...], at: dict[str, Any], more_by: Any | None
) -> dict[str, Any]:
    """The cost, its gradient and its Hessian: exact for a scalar, of Gauss and Newton for residuals.

    `more_by`: derivatives of the argument `more`, if the cost depends on it.
    """
    found = cost(**at)
    value, gradient, hessian = 0.0, 0.0, 0.0
    if found.residual is not None:
        residuals = program(_like(cost, lambda **x: cost(**x).residual), **shapes)
        by = {name: _columns(residuals, at, name) for name in (wrt if more_by is None else (*wrt, "more"))}
        J, r = np.hstack([by[name] for name in wrt]), found.residual
        J = J if more_by is None else J + by["more"] @ more_by
        value, gradient, hessian = value + 0.5 * (r @ r), gradient + J.T @ r, hessian + J.T @ J
    if found.scalar is not None:
        if more_by is not None:
            raise OptionError(
                "a cost of what dynamics return, such as forces, has no exact Hessian here: return residuals, "
                '{"residual": …}, whose squares are the cost'
            )
        scalar = program(_like(cost, lambda **x: cost(**x).scalar), **shapes)

        def slope(**x: Any) -> Any:
            by = vjp(scalar, x, 1.0, wrt=wrt)[1]
            return np.concatenate([by[name] for name in wrt])

        slopes = program(_like(cost, slope), **shapes)
        bent = jacobian(slopes, at, wrt=wrt)
        H = np.hstack([bent[name] for name in wrt])
        value, gradient, hessian = value + found.scalar, gradient + slopes(**at), hessian + 0.5 * (H + H.T)
    return {"cost": value, "gradient": gradient, "hessian": hessian}


def _columns(residuals: Program, at: dict[str, Any], name: str) -> Any:
    """The Jacobian by one argument, one direction after another: what is zero is known to be zero, as residuals often
    depend on few coordinates each."""
    size = residuals.arguments[name].direction[0]
    return np.stack([jvp(residuals, at, {name: e})[1] for e in np.eye(size)], axis=1)


def _like(known: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of named arguments, with those of another."""
    function.__signature__ = inspect.signature(known)  # type: ignore[attr-defined]
    return function
