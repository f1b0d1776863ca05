"""A step near a knot, to first and second order: the programs that iLQR computes at all knots in one call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinetree.control.optimal.cost_model import Quadratic, gauss_newton, hessian, slope
from kinetree.control.optimal.curvature import motion_hessian
from kinetree.control.optimal.linear_step import STATE, linear_step
from kinetree.control.optimal.phase import Phase, returned_by
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import Cost, cost_of_last, cost_of_step, given_size, value_of, values
from kinetree.errors import OptionError
from kinetree.programs import Program, program

__all__ = ["hessian_program", "knot_program", "terminal_program"]


def knot_program(problem: OptimalControl, phase: Phase) -> Program:
    """The quadratic model of a step, with the Hessian of Gauss and Newton.

    It returns the gap (2 nv) from the next knot to where the step ends and its derivatives (2 nv, 2 nv + nu), the cost,
    its gradient and the upper triangle of its Hessian, row by row.
    """
    robot, stage = problem.robot, _Stage(problem, phase)

    def knot(q: Any, v: Any, u: Any, t: Any, given: Any, q_next: Any, v_next: Any) -> Any:
        at = {"q": q, "v": v, "u": u, "t": t, "given": given}
        moved = linear_step(problem, phase, stage.taken, at, q_next, v_next)
        inputs, along = {**at, "more": stage.padded(moved.more)}, stage.along(moved.more_by)
        model = gauss_newton(stage.cost, stage.ports, inputs, stage.wrt, along)
        return moved.gap, moved.by, model.cost, model.gradient, _upper(model.hessian)

    return program(knot, **problem_ports(problem), q_next=robot, v_next=robot.nv)


def hessian_program(problem: OptimalControl, phase: Phase) -> Program:
    """The upper triangle of the exact Hessian of a step's cost plus λᵀ (the gap after it).

    The costate λ (2 nv) is the derivative of all that follows by the next state.
    """
    robot, stage = problem.robot, _Stage(problem, phase)
    if problem.is_redundant(phase):
        rows = sum(x.size for x in phase.constraints)
        raise OptionError(
            f"exact Hessians need independent constraints, but a phase has {rows} rows of which {problem.ranks[phase]} "
            'are independent: leave out what is redundant, or take hessian="gauss_newton"'
        )

    def bent(q: Any, v: Any, u: Any, t: Any, given: Any, q_next: Any, v_next: Any, costate: Any) -> Any:
        at = {"q": q, "v": v, "u": u, "t": t, "given": given}
        moved = linear_step(problem, phase, stage.taken, at, q_next, v_next)
        inputs, along = {**at, "more": stage.padded(moved.more)}, stage.along(moved.more_by)
        H, on_more = hessian(stage.value, stage.ports, inputs, stage.wrt), np.zeros(stage.size)
        if along is not None:
            H, on_more = along.T @ H @ along, slope(stage.value, stage.ports, inputs, ("more",))
        return _upper(H + motion_hessian(problem, phase, stage.taken, at, q_next, v_next, costate, on_more))

    return program(bent, **problem_ports(problem), q_next=robot, v_next=robot.nv, costate=2 * robot.nv)


def terminal_program(problem: OptimalControl, is_exact: bool) -> Program:
    """The cost of the last state, its gradient (2 nv) and its Hessian (2 nv, 2 nv), of Gauss and Newton or exact."""
    robot, terminal = problem.robot, problem.terminal_cost
    n, wrt = 2 * robot.nv, ("q", "v")
    ports = {"q": robot, "v": robot.nv, "t": (), "given": given_size(problem)}

    def cost(q: Any, v: Any, t: Any, given: Any) -> Cost:
        assert terminal is not None
        return cost_of_last(terminal, {"t": t, "q": q, "v": v, **values(problem, given)})

    def value(**at: Any) -> Any:
        return value_of(cost(**at))

    def last(q: Any, v: Any, t: Any, given: Any) -> Any:
        at = {"q": q, "v": v, "t": t, "given": given}
        if terminal is None:
            return Quadratic(0.0 * t, np.zeros(n), np.zeros((n, n)))
        if is_exact:
            return Quadratic(value(**at), slope(value, ports, at, wrt), hessian(value, ports, at, wrt))
        return gauss_newton(cost, ports, at, wrt)

    return program(last, **ports)


def problem_ports(problem: OptimalControl) -> dict[str, Any]:
    """The arguments of a step."""
    return {"q": problem.robot, "v": problem.robot.nv, "u": problem.nu, "t": (), "given": given_size(problem)}


class _Stage:
    """The cost of a step as a function of the motion and of `more`: its other inputs from the dynamics, in a row."""

    def __init__(self, problem: OptimalControl, phase: Phase) -> None:
        returned = returned_by(problem.robot, phase)
        self.taken = {name: shape for name, shape in returned.items() if name in phase.cost.arguments}
        self.size = sum(math.prod(shape) for shape in self.taken.values())
        self.ports = {**problem_ports(problem), "more": self.size or 1}
        self.wrt = (*STATE, "more") if self.size else STATE
        self._problem, self._phase = problem, phase

    def cost(self, q: Any, v: Any, u: Any, t: Any, given: Any, more: Any) -> Cost:
        """The cost of the step."""
        at = {"t": t, "q": q, "v": v, "u": u, **values(self._problem, given)}
        start = 0
        for name, shape in self.taken.items():
            at[name] = more[start : start + math.prod(shape)].reshape(shape)
            start += math.prod(shape)
        return cost_of_step(self._phase, at)

    def value(self, **at: Any) -> Any:
        """The number that it is."""
        return value_of(self.cost(**at))

    def padded(self, more: Any) -> Any:
        """One number where the cost takes nothing."""
        return more if self.size else np.zeros(1)

    def along(self, more_by: Any) -> Any | None:
        """The derivatives of (q, v, u, more) by those of (q, v, u); None where the cost takes nothing more."""
        return np.vstack([np.eye(more_by.shape[1]), more_by]) if self.size else None


def _upper(H: Any) -> Any:
    return H[np.triu_indices(len(H))]
