"""A step of an optimal control problem on arrays of one sample, plain or symbolic: the next state, and its cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.errors import ShapeError
from kinetree.functions.constrained import constrained_dynamics, impact
from kinetree.functions.dynamics import aba
from kinetree.functions.kinematics import integrate
from kinetree.functions.rollouts import rollout
from kinetree.programs import Program

__all__ = [
    "Cost",
    "cost_of_last",
    "cost_of_step",
    "given_size",
    "has_plain_step",
    "next_state",
    "row_tolerance",
    "torques",
    "value_of",
    "values",
    "weight_of_change",
]


class Cost(NamedTuple):
    """The result of a cost's program."""

    scalar: Any | None
    residual: Any | None


def given_size(problem: OptimalControl) -> int:
    """How many numbers the given arguments of one step have; at least one, which may be unused."""
    return sum(math.prod(argument.shape) for argument in problem.given.values()) or 1


def values(problem: OptimalControl, given: Any) -> dict[str, Any]:
    """The given arguments by name, from all their numbers in a row."""
    by_name, start = {}, 0
    for name, argument in problem.given.items():
        stop = start + math.prod(argument.shape)
        x = given[start:stop].reshape(argument.shape)
        by_name[name] = x if argument.dtype is float else x != 0.0 if argument.dtype is bool else np.rint(x).astype(int)
        start = stop
    return by_name


def torques(problem: OptimalControl, u: Any) -> Any:
    """Joint forces (nv,) of controls of the motors."""
    S = problem.selection
    return u if np.array_equal(S, np.eye(problem.robot.nv)) else S.T @ u


def has_plain_step(problem: OptimalControl, phase: Phase) -> bool:
    """Whether a step is v + dt q̈ or an impact, then q ⊕ dt v, for which derivatives of the dynamics are all that is
    needed."""
    return phase.dynamics is None and (
        phase.is_impact or (problem.integrator == "semi_implicit_euler" and not problem.passive)
    )


def row_tolerance(problem: OptimalControl, phase: Phase) -> float | None:
    """The tolerance of `constrained_dynamics`: rows that are independent need not be searched for others."""
    return None if problem.is_redundant(phase) else 0.0


def weight_of_change(phase: Phase) -> float:
    """The part of an acceleration, or of an impact's change of velocity, that a step adds to the velocity."""
    return 1.0 if phase.is_impact else phase.dt


def next_state(problem: OptimalControl, phase: Phase, at: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """q and v after a step, and the other results of the dynamics."""
    robot, tolerance = problem.robot, row_tolerance(problem, phase)
    q, v = at["q"], at["v"]
    if phase.dynamics is not None:
        results = dict(_named(_called(phase.dynamics, at)))
        return results.pop("q"), results.pop("v"), results
    if phase.is_impact:
        v, impulses = impact(robot, q, v, phase.constraints, restitution=phase.restitution, tolerance=tolerance)
        return q, v, {"impulses": impulses}
    tau = torques(problem, at["u"])
    if phase.constraints:
        solution = constrained_dynamics(robot, q, v, tau, phase.constraints, tolerance=tolerance)
        v = v + phase.dt * solution.qdd
        return integrate(robot, q, phase.dt * v), v, {"forces": solution.forces}
    if has_plain_step(problem, phase):
        v = v + phase.dt * aba(robot, q, v, tau)
        return integrate(robot, q, phase.dt * v), v, {}
    options: Any = {"integrator": problem.integrator, "passive": problem.passive}
    state = rollout(robot, q, v, tau[None], phase.dt, **options)[0]
    return state[: robot.nq], state[robot.nq :], {}


def cost_of_step(phase: Phase, at: Mapping[str, Any]) -> Cost:
    """The cost of a step, of the motion and of the results of its dynamics."""
    return _cost(phase.cost, _called(phase.cost, at))


def cost_of_last(terminal: Program, at: Mapping[str, Any]) -> Cost:
    """The cost of the last state."""
    return _cost(terminal, _called(terminal, at))


def value_of(cost: Cost) -> Any:
    """The number that it is."""
    value = 0.0 if cost.scalar is None else cost.scalar
    return value if cost.residual is None else value + 0.5 * (cost.residual @ cost.residual)


def _called(program: Program, at: Mapping[str, Any]) -> Any:
    arguments = {name: at[name] for name in program.arguments if name in at}
    return program(**arguments)


def _named(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else value._asdict() if hasattr(value, "_asdict") else vars(value)


def _cost(program: Program, results: Any) -> Cost:
    parts: Mapping[str, Any] = {}
    if isinstance(results, Mapping):
        parts = results
    elif np.ndim(results) <= 1:
        parts = {"cost" if np.ndim(results) == 0 else "residual": results}
    scalar, residual = parts.get("cost"), parts.get("residual")
    is_known = set(parts) <= {"cost", "residual"} and parts
    if not is_known or (scalar is not None and np.ndim(scalar)) or (residual is not None and np.ndim(residual) != 1):
        raise ShapeError(
            f"the cost {program.name!r} must return a scalar, a vector of residuals, or a dict of both, "
            '{"cost": …, "residual": …}'
        )
    return Cost(scalar, residual)
