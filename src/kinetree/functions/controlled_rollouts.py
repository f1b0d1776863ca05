"""Rollouts with a program as controller."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.definition import Array
from kinetree.errors import DTypeError, NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.functions.closed_loop import ClosedLoop, Controlled, When, controlled
from kinetree.functions.control_times import ControlDt, control_period
from kinetree.functions.drives import Passive, switched_on
from kinetree.functions.integrator_options import integrator_option
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.programs import Program
from kinetree.programs.program import dtype_of

__all__ = ["ControlledRollout", "Inputs", "controlled_rollout"]

Inputs = Mapping[str, ArrayLike]


class ControlledRollout(NamedTuple):
    """What `kt.rollout` returns with a program as controller."""

    states: Array
    """The states after each step, [q, v] (…, T, nq + nv)."""
    recorded: dict[str, Array]
    """What the controller returned besides tau in each step, its own state included, by name: (…, T, *shape)."""


def controlled_rollout(
    robot: Model,
    controller: Program,
    q: ArrayLike,
    v: ArrayLike,
    dt: ArrayLike,
    f_ext: ExternalForces | None,
    *,
    steps: int | None,
    arguments: Inputs | None,
    rows: Inputs | None,
    state: Inputs | None,
    control_dt: ControlDt,
    integrator: str,
    passive: Passive,
    limits: bool,
    parameters: Inputs | None,
    out: Array | None,
    threads: int | None,
) -> ControlledRollout:
    """The motions that a controller leads to; see `kt.rollout`."""
    if out is not None:
        raise OptionError("rollout: out= is not possible with a controller, whose rows hold more than states")
    name = controller.name
    constants, per_step = _named("arguments", arguments), _named("rows", rows)
    forces, given = dict(f_ext or {}), dict(parameters or {})
    arrays = [q, v, dt, *constants.values(), *per_step.values(), *forces.values(), *given.values()]
    dtype = np.dtype(dtype_of(arrays))
    count = _count(controller, steps, per_step)
    dt = real_array("dt", dt, "(…)").astype(dtype)
    period = 1 if control_dt is None else _period(control_dt, dt)
    when: When = "stages" if period is None else "steps" if period == 1 else "held"
    integrator_option(robot, integrator)
    setting = Controlled(
        str(integrator), tuple(switched_on(robot, passive, limits).items()), tuple(forces), tuple(given),
        tuple(per_step), when, with_energies=False, with_tau=False, constraints=(), dtype=dtype.name,
    )  # fmt: skip
    loop = controlled(robot, controller, setting)
    _check_given(loop, controller, constants, per_step)
    constants = {**controller.defaults, **constants}
    if missing := [x for x in loop.given if x not in constants and x not in per_step]:
        raise DTypeError(
            f"rollout: the controller {name!r} takes {missing[0]!r}: give arguments={{{missing[0]!r}: …}} for a value "
            f"that is constant over a motion, or rows={{{missing[0]!r}: …}} for one row per step"
        )
    own = controller.arguments
    start = {
        "q": real_array("q", q, f"(…, {robot.nq})").astype(dtype),
        "v": real_array("v", v, f"(…, {robot.nv})").astype(dtype),
        **loop.start(_named("state", state), dtype),
    }
    some = max(count, 1)
    times = np.multiply.outer(dt, np.arange(some)).astype(dtype)
    fresh = None if when != "held" else (np.arange(some) % (period or 1) == 0).astype(dtype)
    whole = loop(
        start, times, fresh,
        {x: _typed(controller, x, y, dtype) for x, y in per_step.items()}, dt,
        {x: _typed(controller, x, constants[x], dtype) for x in own if x in constants and x in loop.given},
        [*forces.values()], [*given.values()], threads=threads,
    )[..., :count, :]  # fmt: skip
    states = whole[..., : robot.nq + robot.nv]
    parts = dict(loop.parts)
    recorded = {
        part.name: whole[..., place].reshape((*whole.shape[:-1], *part.shape))
        for part, place in parts.items()
        if part.name in loop.state or part.name in loop.recorded
    }
    return ControlledRollout(states, recorded)


def _period(control_dt: ControlDt, dt: Array) -> int | None:
    periods = {control_period(control_dt, float(x)) for x in np.unique(dt)}
    if len(periods) > 1:
        raise OptionError("rollout: control_dt is the same multiple of dt for all motions; give one dt")
    return periods.pop()


def _count(controller: Program, steps: int | None, rows: Mapping[str, Any]) -> int:
    """The number of steps, which is given, or that of the rows of an argument."""
    counts = {}
    for name, x in rows.items():
        if name not in controller.arguments:
            raise NameNotFoundError(
                f"rollout: the controller {controller.name!r} has no argument {name!r:.60}: "
                f"{nearest_names(name, list(controller.arguments))}"
            )
        rank, shape = len(controller.arguments[name].shape), np.shape(x)
        if len(shape) <= rank:
            raise ShapeError(f"rollout: rows[{name!r}] has shape {shape}, but needs one row per step: (…, T, …)")
        counts[name] = shape[len(shape) - rank - 1]
    if steps is not None:
        try:
            counts["steps"] = operator.index(steps)
        except TypeError:
            counts["steps"] = -1
        if counts["steps"] < 0 or isinstance(steps, bool):
            raise OptionError(f"rollout: steps is a whole number, not {steps!r:.60}")
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {n}" for name, n in counts.items())
        raise ShapeError(f"rollout: the numbers of steps differ: {listed}")
    if not counts:
        raise OptionError("rollout: with a controller, give steps=, the number of steps")
    return int(next(iter(counts.values())))


def _check_given(loop: ClosedLoop, controller: Program, constants: Mapping[str, Any], rows: Mapping[str, Any]) -> None:
    for name in constants:
        if name in rows:
            raise OptionError(f"rollout: {name!r} is given in arguments and in rows; it is one or the other")
        if name not in loop.given:
            known = ", ".join(loop.given) or "none"
            raise OptionError(
                f"rollout: the controller {controller.name!r} has no argument {name!r:.60} to be given; it has {known}"
                + ("; its initial state is given in state=" if name in loop.state else "")
            )


def _typed(controller: Program, name: str, x: ArrayLike, dtype: np.dtype[Any]) -> Array:
    argument = controller.arguments[name]
    numbers = argument.numbers(controller.name, name, x)
    array = real_array(name, numbers, f"(…, {argument.shape})").astype(dtype)
    if array.shape[array.ndim - len(argument.shape) :] != argument.shape:
        raise ShapeError(
            f"rollout: {name} has shape {array.shape}, but the controller {controller.name!r} needs "
            f"(…, {', '.join(map(str, argument.shape))})"
        )
    return array


def _named(what: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DTypeError(f"rollout: {what} must be a dict from names to arrays, not {type(given).__name__}")
    return dict(given)
