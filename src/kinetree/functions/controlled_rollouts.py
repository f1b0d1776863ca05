"""Rollouts with a program as controller."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.definition import Array
from kinetree.compiler.tracing import is_symbolic, trace_in_progress
from kinetree.errors import DTypeError, NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.functions.closed_loop import ClosedLoop, controlled
from kinetree.functions.contact_options import ContactOption, contact_switch
from kinetree.functions.contact_reports import flagged, warn_of_unsolved
from kinetree.functions.control_times import ControlDt, check_forward, control_period
from kinetree.functions.controllers import ERROR, Controlled, When, controller_input, ways_to_give
from kinetree.functions.drives import Passive, switched_on
from kinetree.functions.force_programs import GIVEN, ActingForces, computed_forces, force_names, with_forces
from kinetree.functions.integrator_options import integrator_option, rollout_integrator_option
from kinetree.functions.step_division import Given, Stiffness, divide_steps, never_divides
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Program
from kinetree.programs.program import dtype_of
from kinetree.symbolic.refusals import refuse

__all__ = ["ControlledRollout", "Inputs", "controlled_rollout"]

Inputs = Mapping[str, ArrayLike]


class ControlledRollout(NamedTuple):
    """The result of `kt.rollout` with a program as controller."""

    states: Array
    """The states after each step, [q, v] (…, T, nq + nv)."""
    recorded: dict[str, Array]
    """The controller's outputs other than tau in each step, its own state included, by name: (…, T, *shape). With
    `report=True` also "contact.error", how exactly the contacts of each step were solved (…, T), and "flagged", the
    steps that were not, or that make energy."""


def controlled_rollout(
    robot: Model,
    tau: ArrayLike | Program | None,
    q: ArrayLike,
    v: ArrayLike,
    dt: ArrayLike,
    f_ext: ActingForces | None,
    *,
    steps: int | None,
    arguments: Inputs | None,
    rows: Inputs | None,
    state: Inputs | None,
    control_dt: ControlDt,
    integrator: str | None,
    passive: Passive,
    limits: bool,
    contact: ContactOption,
    divide: bool,
    report: bool,
    parameters: Inputs | None,
    out: Array | None,
    threads: int | None,
) -> ControlledRollout:
    """The motions that a controller, or forces that are programs, lead to; see `kt.rollout`."""
    if out is not None:
        raise OptionError(
            "rollout: out= is not possible with a controller or a force that is a program: their rows hold more than "
            "states"
        )
    f_ext, sources = computed_forces(robot, f_ext)
    controller = with_forces(tau, sources) if isinstance(tau, Program) and sources else tau
    if not isinstance(tau, Program):
        controller = with_forces(None, sources, size=robot.nv, is_given=tau is not None)
        rows = {**_named("rows", rows), **({} if tau is None else {GIVEN.format("tau"): tau})}
    assert isinstance(controller, Program)
    name = controller.name
    constants, given = _named("arguments", arguments), _named("parameters", parameters)
    forces: dict[ForceKey, Any] = _named("f_ext", f_ext)
    own, initial = controller.arguments, _named("state", state)
    arrays = [q, v, dt, *constants.values(), *_named("rows", rows).values(), *forces.values(), *given.values()]
    if trace_in_progress() is not None and is_symbolic([*arrays, *initial.values()]):
        refuse(
            "rollout: a controller is not possible inside a program; take the steps there by kt.programs.scan, with "
            "the controller and kt.rollout of one row of tau in its body"
        )
    dtype = np.dtype(dtype_of("rollout", arrays))
    per_step = {x: _row(controller, x, y, dtype) for x, y in _named("rows", rows).items()}
    count = _count(steps, {x: y.shape[y.ndim - len(own[x].shape) - 1] for x, y in per_step.items()})
    seconds = real_array("dt", dt, "(…)")
    dt = seconds.astype(dtype)
    period = 1 if control_dt is None else _period(control_dt, seconds)
    when: When = "stages" if period is None else "steps" if period == 1 else "held"
    integrator = str(integrator_option(robot, rollout_integrator_option(robot, integrator)))
    switches = switched_on(robot, passive, limits) | (touches := contact_switch(robot, contact))
    if touches:
        check_forward("rollout", dt)
    stiff = integrator, switches.get("passive", ()), None
    may_divide = divide and not never_divides(robot, *stiff, given)
    if may_divide and when == "steps":
        when = "held"  # over all parts of a step
    setting = Controlled(
        integrator, tuple(switches.items()), tuple(forces), tuple(given),
        tuple(per_step), when, with_energies=False, with_output=False, constraints=(), dtype=dtype.name,
        reports=(ERROR,) if touches else (), sources=tuple(force_names([*sources]).items()),
    )  # fmt: skip
    loop = controlled(robot, controller, setting)
    _check_given(loop, controller, constants, per_step)
    constants = {**controller.defaults, **constants}
    if missing := [x for x in loop.given if x not in constants and x not in per_step]:
        raise DTypeError(f"rollout: the controller {name!r} takes {missing[0]!r}: {ways_to_give(missing[0])}")
    constants = {
        x: controller_input("rollout", controller, x, constants[x], dtype)
        for x in own
        if x in constants and x in loop.given
    }
    start = {
        "q": real_array("q", q, f"(…, {robot.nq})").astype(dtype),
        "v": real_array("v", v, f"(…, {robot.nv})").astype(dtype),
        **loop.start(initial, dtype),
    }
    for force, x in forces.items():
        forces[force] = real_array(f"f_ext[{force!r:.80}]", x, "(…, 6)").astype(dtype)
    given = {x: real_array(x, y, f"(…, {robot.parameter(x).shape})").astype(dtype) for x, y in given.items()}
    some = max(count, 1)
    times = np.multiply.outer(dt, np.arange(some)).astype(dtype)
    fresh = (np.arange(some) % (period or 1) == 0).astype(dtype)
    if not count:  # none: run one, drop it
        per_step = {x: _one_row(y, len(own[x].shape)) for x, y in per_step.items()}
    kept, places = loop.kept_places, {part.name: place for part, place in loop.parts}

    def take(xs: Sequence[Any], parts: int) -> Array:
        x = iter(xs)
        state, times, fresh = {name: next(x) for name in kept}, next(x), next(x)
        rows, h, constant = {name: next(x) for name in per_step}, next(x), {name: next(x) for name in constants}
        results = loop(
            state, times, fresh if when == "held" else None, rows, h, constant, [next(x) for _ in forces], [*x],
            parts=parts, threads=threads,
        )  # fmt: skip
        ends = results[..., parts - 1 :: parts, :]
        for name in loop.recorded if parts > 1 else ():
            ends[..., places[name]] = results[..., ::parts, places[name]]
        if touches and parts > 1:
            error = results[..., places[ERROR].start]
            ends[..., places[ERROR].start] = np.fmax.reduceat(error, np.arange(0, error.shape[-1], parts), axis=-1)
        return ends

    def stiffness_of(h: float, xs: Sequence[Given]) -> Stiffness:
        return Stiffness(
            robot, *stiff, h, {x: y.at_first for x, y in zip(given, xs[len(xs) - len(given) :], strict=True)}
        )

    every = [
        *(Given(start[x], len(loop.core(x))) for x in kept), Given(times, 1, True), Given(fresh, 1, True),
        *(Given(y, len(own[x].shape) + 1, True) for x, y in per_step.items()), Given(dt, 0),
        *(Given(y, len(own[x].shape)) for x, y in constants.items()), *(Given(x, 1) for x in forces.values()),
        *(Given(y, robot.parameter(x).ndim) for x, y in given.items()),
    ]  # fmt: skip
    try:
        whole = take([x.x for x in every], 1)[..., :count, :]
    except ShapeError:
        held = {x: y.shape[: y.ndim - len(loop.core(x))] for x, y in start.items() if not x.startswith("held ")}
        named = {x: y.shape[: y.ndim - len(own[x].shape)] for x, y in constants.items()}
        named |= {x: y.shape[: y.ndim - len(own[x].shape) - 1] for x, y in per_step.items()}
        outer = {f"f_ext[{x!r:.80}]": y.shape[:-1] for x, y in forces.items()}
        outer |= {x: y.shape[: y.ndim - robot.parameter(x).ndim] for x, y in given.items()}
        _check_axes({**held, "dt": dt.shape, **named, **outer})
        raise
    divided: bool | Array = False
    if may_divide and count:
        length = len(kept) + 2 + len(per_step)
        divided = divide_steps(whole, every, len(kept), length, stiffness_of, take)
    states = whole[..., : robot.nq + robot.nv]
    with np.errstate(invalid="ignore"):  # NaN, and numbers beyond all whole ones
        recorded = {
            name: whole[..., places[name]].reshape((*whole.shape[:-1], *part.shape)).astype(part.dtype, copy=False)
            for name, part in {**loop.state, **loop.recorded}.items()
        }
    error, contacts = np.zeros(states.shape[:-1], states.dtype), None
    if touches:
        error, contacts = whole[..., places[ERROR].start], touches["contact"].setting
        warn_of_unsolved("rollout", error, 3, contacts)
        if report:
            recorded["contact.error"] = error
    if report:
        recorded["flagged"] = flagged("rollout", robot, contacts, (q, v), states, error, given, 3, divided)
    return ControlledRollout(states, recorded)


def _period(control_dt: ControlDt, dt: Array) -> int | None:
    periods = {control_period(control_dt, x) for x in np.unique(dt)} or {1}
    if len(periods) > 1:
        raise OptionError("rollout: control_dt is the same multiple of dt for all motions; give one dt")
    return periods.pop()


def _count(steps: int | None, counts: dict[str, int]) -> int:
    """The number of steps, which is given, or that of the rows of an argument."""
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
    return next(iter(counts.values()))


def _one_row(x: Array, rank: int) -> Array:
    """A row of zeros for an array without rows, (…, 0, *shape)."""
    return np.zeros((*x.shape[: x.ndim - rank - 1], 1, *x.shape[x.ndim - rank :]), x.dtype)


def _check_axes(leading: Mapping[str, tuple[int, ...]]) -> None:
    """Raise if the axes of the batch do not fit together, by the names that the caller knows."""
    try:
        np.broadcast_shapes(*leading.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in leading.items() if shape)
        raise ShapeError(f"rollout: the leading axes of the arguments do not broadcast: {listed}") from None


def _check_given(loop: ClosedLoop, controller: Program, constants: Mapping[str, Any], rows: Mapping[str, Any]) -> None:
    for name in constants:
        if name in rows:
            raise OptionError(f"rollout: {name!r} is given in arguments and in rows; it is one or the other")
        if name not in loop.given:
            known = ", ".join(loop.given) or "none"
            raise OptionError(
                f"rollout: the controller {controller.name!r} has no argument {name!r:.60} to be given; it has {known}"
                f"{loop.hint(name)}"
            )


def _row(controller: Program, name: str, x: ArrayLike, dtype: np.dtype[Any]) -> Array:
    """An argument with one row per step."""
    if name not in controller.arguments:
        raise NameNotFoundError(
            f"rollout: the controller {controller.name!r} has no argument {name!r:.60}: "
            f"{nearest_names(name, list(controller.arguments))}"
        )
    array = controller_input("rollout", controller, name, x, dtype)
    if array.ndim <= len(controller.arguments[name].shape):
        raise ShapeError(f"rollout: rows[{name!r}] has shape {array.shape}, but needs one row per step: (…, T, …)")
    return array


def _named(what: str, given: Any) -> dict[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise DTypeError(f"rollout: {what} must be a dict from names to arrays, not {type(given).__name__}")
    return dict(given)
