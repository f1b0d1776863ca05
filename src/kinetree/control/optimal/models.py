"""The quadratic models of all knots of several problems: the input of iLQR's backward pass.

Costates: the derivatives of all that a motion costs from a knot on, by the state there.

Source: Dunn and Bertsekas, "Efficient dynamic programming implementations of Newton's method for unconstrained optimal
control problems", Journal of Optimization Theory and Applications 63 (1989).

Second derivatives of a motion, weighted by costates: iLQR leaves them out, and Newton's method has them.

Where the robot moves by its own equations R(z, y) = 0, with y = (q̈, forces of constraints), a weighted sum wᵀy has the
Hessian Zᵀ (∂²/∂(z, y)² μᵀR) Z, where R_yᵀ μ = −w, and Z has the derivatives of (z, y) by z. So inverse dynamics are
differentiated twice, and the solution for y never is.

Sources: Dunn and Bertsekas, "Efficient dynamic programming implementations of Newton's method for unconstrained optimal
control problems", Journal of Optimization Theory and Applications 63 (1989), for Hessians weighted by costates; Singh,
Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", IEEE
Robotics and Automation Letters (2022), for second derivatives of forward dynamics by those of inverse dynamics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats
from kinetree.compiler.compiled import CompiledFunction
from kinetree.control.optimal.cost_model import Quadratic, gauss_newton, hessian, slope
from kinetree.control.optimal.held_motion import equations, held_motion, multipliers
from kinetree.control.optimal.linear_step import STATE, ends, linear_step
from kinetree.control.optimal.phase import Phase, returned_by
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.stages import (
    Cost,
    cost_of_last,
    cost_of_step,
    given_size,
    has_plain_step,
    value_of,
    values,
    weight_of_change,
)
from kinetree.errors import OptionError
from kinetree.functions.kinematics import difference, integrate
from kinetree.programs import Program, program

__all__ = ["Models", "compiled_each", "hessian_program", "knot_program"]

Array = NDArray[np.float64]


class Models:
    """The compiled models of a problem: with Hessians of Gauss and Newton, and with exact ones if they are asked for.

    Rows of all knots (b, T, …) and of the last ones (b, …) are as `backward_pass` takes them.
    """

    def __init__(self, problem: OptimalControl) -> None:
        self._problem, self._times = problem, problem.times
        self._knots = compiled_each(problem.phases, lambda phase: knot_program(problem, phase), of_any_length=True)
        self._last = terminal_program(problem, is_exact=False).compiled("float64")

    def gauss_newton(self, q: Array, v: Array, u: Array, given: Array) -> tuple[Array, Array]:
        """The models at motions of several problems."""
        return self._evaluated(self._knots, self._arrays(q, v, u, given)), self._at_end(self._last, q, v, given)

    def exact(self, knots: Array, q: Array, v: Array, u: Array, given: Array) -> tuple[Array, Array]:
        """The models with exact Hessians, from those of Gauss and Newton: Hessians of the Lagrangian."""
        T, n, m = self._problem.steps, 2 * v.shape[-1], u.shape[-1]
        hessians, terminal = self._exact_functions
        last, weights = self._at_end(terminal, q, v, given), np.empty((len(q), T, n))
        costates(knots, last, weights, T, n, m)
        bent = self._evaluated(hessians, (*self._arrays(q, v, u, given), weights))
        return np.concatenate([knots[..., : -bent.shape[-1]], bent], axis=-1), last

    @cached_property
    def _exact_functions(self) -> tuple[list[CompiledFunction], CompiledFunction]:
        problem = self._problem
        hessians = compiled_each(problem.phases, lambda phase: hessian_program(problem, phase), of_any_length=True)
        return hessians, terminal_program(problem, is_exact=True).compiled("float64")

    def _arrays(self, q: Array, v: Array, u: Array, given: Array) -> tuple[Array, ...]:
        t = np.broadcast_to(self._times[:-1], u.shape[:2])
        return q[:, :-1], v[:, :-1], u, t, given[:, :-1], q[:, 1:], v[:, 1:]

    def _at_end(self, function: CompiledFunction, q: Array, v: Array, given: Array) -> Array:
        ends = q[:, -1], v[:, -1], self._times[-1], given[:, -1]
        return np.ascontiguousarray(function.call(*map(np.ascontiguousarray, ends)))

    def _evaluated(self, functions: list[CompiledFunction], arrays: tuple[Array, ...]) -> Array:
        """The rows (b, T, …) of each phase's function, of arrays (b, T, …)."""
        b, parts, start = len(arrays[0]), [], 0
        for function, phase in zip(functions, self._problem.phases, strict=True):
            own = [np.ascontiguousarray(x[:, start : start + phase.steps]) for x in arrays]
            rows = function.call(*(x.reshape((b * phase.steps, *x.shape[2:])) for x in own))
            parts.append(rows.reshape((b, phase.steps, -1)))
            start += phase.steps
        return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))


def compiled_each(
    phases: Sequence[Phase], make: Callable[[Phase], Program], *, of_any_length: bool = False
) -> list[CompiledFunction]:
    """The compiled programs of phases; those that are alike share theirs, as in `Phase.likeness`."""
    keys = [phase.likeness(of_any_length=of_any_length) for phase in phases]
    functions = {key: make(phase) for key, phase in dict(zip(keys, phases, strict=True)).items()}
    return [functions[key].compiled("float64") for key in keys]


@compiled
def costates(knots: Floats, last: Floats, results: Floats, T: int, n: int, m: int) -> None:
    """Backward through the linear models of several problems, from rows as `backward_pass` has them.

    Args:
        knots: (b, T, …), from the start of each row: the gap (n), F (n, p), the cost and its gradient (p).
        last: (b, 1 + n + n²).
        results: (b, T, n), result: the costate of the state after each step.
        T, n, m: the number of steps, and the lengths of displacements of the state and of controls.
    """
    p = n + m
    at_g = n + n * p + 1
    for i in range(len(knots)):
        for r in range(n):
            results[i, T - 1, r] = last[i, 1 + r]
        for back in range(T - 1):
            t = T - 1 - back
            for r in range(n):
                results[i, t - 1, r] = knots[i, t, at_g + r]
            for s in range(n):
                for r in range(n):
                    results[i, t - 1, r] += knots[i, t, n + s * p + r] * results[i, t, s]


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
            'are independent: leave out the redundant ones, or take hessian="gauss_newton"'
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
