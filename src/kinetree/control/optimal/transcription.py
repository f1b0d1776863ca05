"""One interval of a motion as algebraic equations: the defects of direct collocation, and the cost of the interval.

Sources: Kelly, "An introduction to trajectory optimization: how to do your own direct collocation", SIAM Review 59
(2017), sections 3 and 4; Munthe-Kaas, "High order Runge-Kutta methods on manifolds" (1999), for configurations that are
no vectors: they move by displacements from the first one of the interval, with rates that follow from the velocity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import cost_of_last, cost_of_step, given_size, torques, value_of, values
from kinetree.functions.derivatives import jacobian, vjp
from kinetree.functions.dynamics import aba
from kinetree.functions.kinematics import difference, integrate
from kinetree.functions.manifold import difference_jacobian
from kinetree.programs import Program, program

__all__ = ["Transcription", "end_cost", "transcription"]


class Transcription(NamedTuple):
    """Programs of one interval, of its variables y = (δ₀, v₀, u₀, u of the middle if any, δ₁, v₁, u₁).

    Displacements δ are from the configurations q_0 and q_1 of a reference; t is where the interval begins, and `given`
    (2, …) the problem's own arguments at both ends.
    """

    equations: Program
    """The defects (2 nv) and the cost."""
    slopes: Program
    """Their derivatives by y, (2 nv, ny) and (ny)."""
    bending: Program
    """The Hessian (ny, ny) of weights (2 nv) of the defects and one of the cost."""


def transcription(problem: OptimalControl, phase: Phase, is_simpson: bool) -> Transcription:
    """The programs for the intervals of a phase."""
    robot, nu, dt = problem.robot, problem.nu, phase.dt
    nv = robot.nv
    size = 2 * (2 * nv + nu) + (nu if is_simpson else 0)
    ports = {"y": size, "q_0": robot, "q_1": robot, "t": (), "given": (2, given_size(problem))}

    def equations(y: Any, q_0: Any, q_1: Any, t: Any, given: Any) -> Any:
        first, last = y[: 2 * nv + nu], y[size - 2 * nv - nu :]
        q0, q1 = integrate(robot, q_0, first[:nv]), integrate(robot, q_1, last[:nv])
        v0, v1, u0, u1 = first[nv : 2 * nv], last[nv : 2 * nv], first[2 * nv :], last[2 * nv :]

        def rate(q: Any, v: Any) -> Any:
            return difference_jacobian(robot, q0, q, wrt="q1") @ v

        def acceleration(q: Any, v: Any, u: Any) -> Any:
            return aba(robot, q, v, torques(problem, u), passive=problem.passive)

        def cost(q: Any, v: Any, u: Any, t: Any, given: Any) -> Any:
            return value_of(cost_of_step(phase, {"t": t, "q": q, "v": v, "u": u, **values(problem, given)}))

        way = difference(robot, q0, q1)
        a0, a1, r1 = acceleration(q0, v0, u0), acceleration(q1, v1, u1), rate(q1, v1)
        ends = cost(q0, v0, u0, t, given[0]), cost(q1, v1, u1, t + dt, given[1])
        if not is_simpson:
            defects = [way - 0.5 * dt * (v0 + r1), v1 - v0 - 0.5 * dt * (a0 + a1)]
            return {"defects": np.concatenate(defects), "cost": 0.5 * (ends[0] + ends[1])}
        um = y[2 * nv + nu : 2 * nv + 2 * nu]
        qm = integrate(robot, q0, 0.5 * way + 0.125 * dt * (v0 - r1))
        vm = 0.5 * (v0 + v1) + 0.125 * dt * (a0 - a1)
        middle = cost(qm, vm, um, t + 0.5 * dt, 0.5 * (given[0] + given[1]))
        defects = [
            way - dt / 6.0 * (v0 + 4.0 * rate(qm, vm) + r1),
            v1 - v0 - dt / 6.0 * (a0 + 4.0 * acceleration(qm, vm, um) + a1),
        ]
        return {"defects": np.concatenate(defects), "cost": (ends[0] + 4.0 * middle + ends[1]) / 6.0}

    plain = program(equations, **ports)

    def slopes(y: Any, q_0: Any, q_1: Any, t: Any, given: Any) -> Any:
        return jacobian(plain, (y, q_0, q_1, t, given), wrt="y")

    def gradient(y: Any, q_0: Any, q_1: Any, t: Any, given: Any, weights: Any, of_cost: Any) -> Any:
        return vjp(plain, (y, q_0, q_1, t, given), {"defects": weights, "cost": of_cost}, wrt="y")[1]["y"]

    weighted = program(gradient, **ports, weights=2 * nv, of_cost=())

    def bending(y: Any, q_0: Any, q_1: Any, t: Any, given: Any, weights: Any, of_cost: Any) -> Any:
        return jacobian(weighted, (y, q_0, q_1, t, given, weights, of_cost), wrt="y")

    return Transcription(plain, program(slopes, **ports), program(bending, **ports, weights=2 * nv, of_cost=()))


def end_cost(problem: OptimalControl) -> tuple[Program, Program, Program]:
    """The cost of the last state, its gradient and its Hessian, by displacements and velocities."""
    robot, terminal = problem.robot, problem.terminal_cost
    ports = {"x": 2 * robot.nv, "q": robot, "t": (), "given": given_size(problem)}

    def cost(x: Any, q: Any, t: Any, given: Any) -> Any:
        assert terminal is not None
        q, v = integrate(robot, q, x[: robot.nv]), x[robot.nv :]
        return value_of(cost_of_last(terminal, {"t": t, "q": q, "v": v, **values(problem, given)}))

    plain = program(cost, **ports)

    def gradient(x: Any, q: Any, t: Any, given: Any) -> Any:
        return vjp(plain, (x, q, t, given), 1.0, wrt="x")[1]["x"]

    slopes = program(gradient, **ports)

    def hessian(x: Any, q: Any, t: Any, given: Any) -> Any:
        return jacobian(slopes, (x, q, t, given), wrt="x")

    return plain, slopes, program(hessian, **ports)
