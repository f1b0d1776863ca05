"""The arrays that problems are solved from: checked, broadcast, one problem per row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.shooting import Array, Motions
from kinetree.control.optimal.stages import given_size
from kinetree.errors import OptionError, ShapeError, nearest_names
from kinetree.functions.dynamics import gravity_forces
from kinetree.inputs import common_axes, sample_shape, samples
from kinetree.programs import Argument
from kinetree.records import record

__all__ = ["Inputs", "inputs", "knot_arguments", "read"]

_MEMORY = 8e6
"""Bytes of the quadratic models of problems that one thread solves side by side: more would not stay near it."""
_LANES = 16


@record(frozen=True, slots=True)
class Inputs:
    """Problems in the first axis of all arrays."""

    batch: tuple[int, ...]
    """The leading axes that they stand for."""
    at: Motions
    given: Array
    """The programs' own arguments at all knots, (count, steps + 1, size)."""
    has_states: bool
    """Whether the states are given; otherwise only the first ones are meant."""
    together: int
    """How many are solved side by side."""

    @property
    def count(self) -> int:
        """How many problems there are."""
        return math.prod(self.batch)

    def of(self, piece: slice) -> Motions:
        """The initial guesses of some problems, in memory of their own."""
        return Motions(*(np.array(x[piece]) for x in self.at))


def inputs(
    problem: OptimalControl,
    q: ArrayLike,
    v: ArrayLike | None,
    u: ArrayLike | None,
    states: tuple[ArrayLike, ArrayLike] | None,
    arguments: Mapping[str, ArrayLike] | None,
    rows: Mapping[str, ArrayLike] | None,
) -> Inputs:
    """Check the arguments of `ilqr`."""
    robot, T, m = problem.robot, problem.steps, problem.nu
    q0 = read("ilqr", "q", q, (robot.nq,))
    Argument(robot=robot).refuse_zero_quaternions("q", q0)
    v0 = np.zeros(robot.nv) if v is None else read("ilqr", "v", v, (robot.nv,))
    controls = _gravity_torques(problem, q0) if u is None else read("ilqr", "u", u, (T, m))
    controls = np.clip(controls, *problem.limits)
    numbers = knot_arguments("ilqr", problem, arguments or {}, rows or {})
    if states is None:
        q_all, v_all = q0[..., None, :], v0[..., None, :]
    else:
        q_all, v_all = _states(problem, states)
    leads = {"q": q0.shape[:-1], "v": v0.shape[:-1], "u": controls.shape[:-2], "arguments": numbers.shape[:-2]}
    batch = common_axes("ilqr", {**leads, "states q": q_all.shape[:-2], "states v": v_all.shape[:-2]})

    def flat(x: Array, knots: int) -> Array:
        array = np.broadcast_to(x, (*batch, knots, x.shape[-1]))
        return array.reshape((math.prod(batch), knots, x.shape[-1]))

    at = Motions(flat(q_all, T + 1), flat(v_all, T + 1), flat(controls, T))
    if states is not None:
        at = Motions(at.q.copy(), at.v.copy(), at.u)
        at.q[:, 0], at.v[:, 0] = flat(q0[..., None, :], 1)[:, 0], flat(v0[..., None, :], 1)[:, 0]
    p = 2 * robot.nv + m
    groups = int(_MEMORY / (8 * T * (p * p + p * 2 * robot.nv))) // _LANES
    return Inputs(batch, at, flat(numbers, T + 1), states is not None, _LANES * max(groups, 1))


def _gravity_torques(problem: OptimalControl, q: Array) -> Array:
    """Torques against gravity at q, (…, steps, nu)."""
    robot = problem.robot
    parts = []
    for phase in problem.phases:
        own = np.zeros((*q.shape[:-1], problem.nu))
        if phase.dynamics is None and not phase.is_impact:
            own = gravity_forces(robot, q) @ problem.selection.T
        parts.append(np.broadcast_to(own[..., None, :], (*q.shape[:-1], phase.steps, problem.nu)))
    return np.concatenate(parts, axis=-2)


def _states(problem: OptimalControl, states: Any) -> tuple[Array, Array]:
    robot, knots = problem.robot, problem.steps + 1
    if not (isinstance(states, tuple | list) and len(states) == 2):
        raise OptionError("states must be a pair: configurations (…, steps + 1, nq) and velocities (…, steps + 1, nv)")
    q, v = (
        read("ilqr", "states[0]", states[0], (knots, robot.nq)),
        read("ilqr", "states[1]", states[1], (knots, robot.nv)),
    )
    Argument(robot=robot).refuse_zero_quaternions("states[0]", q)
    return q, v


def knot_arguments(
    function: str, problem: OptimalControl, arguments: Mapping[str, ArrayLike], rows: Mapping[str, ArrayLike]
) -> Array:
    """The programs' own arguments, (…, steps + 1, size), or with one row for all knots."""
    for name in [*arguments, *rows]:
        if name not in problem.given:
            raise OptionError(
                f"no program of this problem has an argument {name!r:.60}: {nearest_names(name, list(problem.given))}"
            )
        if name in arguments and name in rows:
            raise OptionError(f"{name} is given twice, in arguments= and in rows=")
    parts = []
    for name, argument in problem.given.items():
        if name not in arguments and name not in rows and name not in problem.defaults:
            raise OptionError(
                f"the problem's programs take {name} {argument.shape}: give arguments={{{name!r}: …}} for a value that "
                f"is constant over a motion, or rows={{{name!r}: …}} for one row per step"
            )
        if name in rows:
            x = _rows(function, problem, name, argument, rows[name])
        else:
            value = arguments[name] if name in arguments else problem.defaults[name]
            x = read(function, name, argument.numbers(function, name, value), argument.shape)
            x = x.reshape((*x.shape[: x.ndim - len(argument.shape)], 1, -1))
        argument.refuse_zero_quaternions(name, x)
        parts.append(x)
    if not parts:
        return np.zeros((1, given_size(problem)))
    leading = np.broadcast_shapes(*(x.shape[:-1] for x in parts))
    return np.concatenate([np.broadcast_to(x, (*leading, x.shape[-1])) for x in parts], axis=-1)


def _rows(function: str, problem: OptimalControl, name: str, argument: Argument, values: ArrayLike) -> Array:
    """One row per step, and one for the last state: the last one again if nothing but steps takes them."""
    T, terminal = problem.steps, problem.terminal_cost
    numbers = argument.numbers(function, name, values)
    axis = -1 - len(argument.shape)
    count = np.shape(numbers)[axis] if np.ndim(numbers) >= -axis else 0
    is_for_last = terminal is not None and name in terminal.arguments
    if count not in ((T + 1,) if is_for_last else (T, T + 1)):
        raise ShapeError(
            f"rows[{name!r}] must have {T + 1 if is_for_last else T} rows, one per step"
            f"{' and one for the last state' if is_for_last else ''}: "
            f"{sample_shape((T + is_for_last, *argument.shape))}, not {np.shape(values)}"
        )
    x = read(function, f"rows[{name!r}]", numbers, (count, *argument.shape))
    x = x.reshape((*x.shape[: x.ndim - 1 - len(argument.shape)], count, -1))
    return x if count == T + 1 else np.concatenate([x, x[..., -1:, :]], axis=-2)


def read(function: str, name: str, values: ArrayLike, core: tuple[int, ...]) -> Array:
    """An array (…, *core) of real numbers; `function` is the one that messages begin with."""
    return samples(f"{function}: {name}", values, core, "this problem").astype(np.float64)
