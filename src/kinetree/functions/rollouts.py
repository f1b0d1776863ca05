"""Motions of many steps in one kernel, as a function of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import check_out, dtype_beside
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.compiler.tracing import is_symbolic, trace_in_progress
from kinetree.contact import SoftConstraints
from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Scalar
from kinetree.functions.contact_options import (
    ContactOption,
    contact_option,
    contact_switch,
    is_without_contact,
    soft,
    without_dry_friction,
)
from kinetree.functions.contact_reports import ReportedRollout, warn_of_unsolved
from kinetree.functions.control_times import ControlDt
from kinetree.functions.controlled_rollouts import ControlledRollout, Inputs, controlled_rollout
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.functions.gradient_softness import gradient_softness_option, softness_switch
from kinetree.functions.integrator_options import Integrator, integrator_option
from kinetree.inputs import real_array
from kinetree.model import Model, check_robot
from kinetree.model.external_forces import ExternalForces
from kinetree.programs import Program
from kinetree.spatial import Force

__all__ = ["rollout"]

_MOST_STEPS = 1_000_000
"""Maximum for a kernel that a user compiles, which holds all its inputs and results in memory, per lane and thread."""


def _step(model: Form, q: Slots, v: Slots, tau: Slots, dt: Scalar, **options: Any) -> tuple[Slots, Slots]:
    end = _end_of_step(model, q, v, tau, dt, **options)
    return end.q, end.v


def _reported_step(
    model: Form, q: Slots, v: Slots, _: Sequence[Scalar], tau: Slots, dt: Scalar, **options: Any
) -> tuple[Slots, Slots, Sequence[Scalar]]:
    end = _end_of_step(model, q, v, tau, dt, **options)
    return end.q, end.v, [end.error]


def _end_of_step(
    model: Form,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Scalar,
    *,
    integrator: str,
    passive: Sequence[str],
    limits: bool,
    contact: SoftConstraints | None,
    gradient_softness: float,
    f_ext: Callable[[Slots], Mapping[int, Force]],
) -> algorithms.StepEnd:
    method, rows = algorithms.INTEGRATORS[integrator], soft(model, contact, passive, gradient_softness, integrator)
    forces = without_dry_friction(passive, contact)
    return algorithms.step(model.tree, method, q, v, tau, dt, f_ext, forces, limits, rows)


def _steps(_: Model, value: Any) -> Hashable:
    try:
        steps = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        steps = 0
    if not 1 <= steps <= _MOST_STEPS:
        raise OptionError(
            f"steps must be a whole number from 1 to {_MOST_STEPS}, such as steps=100, not {value!r:.60}; "
            "kt.rollout itself takes any number"
        )
    return steps


ROLLOUT = Definition(
    "rollout",
    (("q", "nq"), ("v", "nv"), ("tau", "forces")),
    (),
    _step,
    {
        "integrator": integrator_option,
        "passive": passive_option,
        "limits": limits_option,
        "contact": contact_option,
        "gradient_softness": gradient_softness_option,
        "steps": _steps,
    },
    takes_forces=True,
    divides_by_inertia=True,
    is_step=True,
    regroups=True,
    strategy=Strategy(loops=is_without_contact),
)
_ANY_LENGTH = replace(ROLLOUT, options={name: check for name, check in ROLLOUT.options.items() if name != "steps"})
"""A rollout of one step per row of tau in the call, so that a new number of steps compiles nothing."""
_WITH_ERROR = replace(
    _ANY_LENGTH, inputs=(("q", "nq"), ("v", "nv"), ("error", 1), ("tau", "forces")), compute=_reported_step, state=3
)
"""The same with the error of each step's contacts after its state."""


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: Program,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    steps: int | None = None,
    arguments: Inputs | None = None,
    rows: Inputs | None = None,
    state: Inputs | None = None,
    control_dt: ControlDt = None,
    integrator: Integrator = "semi_implicit_euler",
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    gradient_softness: float = 0.0,
    report: Literal[False] = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ControlledRollout: ...


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    steps: int | None = None,
    arguments: Inputs | None = None,
    rows: Inputs | None = None,
    state: Inputs | None = None,
    control_dt: ControlDt = None,
    integrator: Integrator = "semi_implicit_euler",
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    gradient_softness: float = 0.0,
    report: Literal[False] = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array: ...


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    integrator: Integrator = "semi_implicit_euler",
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    gradient_softness: float = 0.0,
    report: Literal[True],
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ReportedRollout: ...


@defined_by(ROLLOUT)
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | Program,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    steps: int | None = None,
    arguments: Inputs | None = None,
    rows: Inputs | None = None,
    state: Inputs | None = None,
    control_dt: ControlDt = None,
    integrator: Integrator = "semi_implicit_euler",
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    gradient_softness: float = 0.0,
    report: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array | ControlledRollout | ReportedRollout:
    """The states that joint forces lead to, step by step, for many motions at once.

    All steps run inside one kernel, with motions side by side in its lanes and on threads. The model has rigid bodies,
    rotors and gravity, as in `aba`, and on request friction, springs and motor limits.

    Args:
        robot: the robot.
        q: initial configuration (…, nq); rad, m, unit quaternions.
        v: initial velocity (…, nv); rad/s, m/s.
        tau: joint forces (…, T, nv), one row per step and constant over it; N·m, N. Or a controller: a `kt.program`
            whose arguments are among t (), q (nq,) and v (nv,), and others of its own, and which returns tau (nv,),
            alone or as "tau" in a dict, named tuple or dataclass. It runs in the kernel, at the beginning of each step.
            A result that is named as an argument is that argument's value at the next call: so a controller has a state
            (an integral, a filter, the last command as "tau").
        dt: length of a step (…), s.
        f_ext: external wrenches (…, 6) by frame name, `kt.WrenchOn` or `kt.ForceOn`, as for `aba`: the same numbers at
            every step, while those in the world's axes turn as seen from the bodies.
        steps: how many steps, with a controller; as many as there are rows if some are given.
        arguments: the controller's own arguments, by name, constant over a motion: (…, *shape).
        rows: others of them, with one row per step: (…, T, *shape).
        state: the initial state of the controller, by name, (…, *shape); where nothing is given, the default of
            the argument, or zero.
        control_dt: how often the controller runs, a multiple of dt in s, with its results held in between; None is each
            step. "stages" runs it at every stage of the integrator, as a smooth function of the state.
        integrator: "semi_implicit_euler" (order one; a body that spins freely gains speed over many steps, as its
            velocity is in its own axes) or "rk4" (order four, four times the work). Both move on the configuration
            manifold, so that quaternions stay quaternions.
        passive: which passive forces of the joints act besides tau, as for `aba`. Semi-implicit Euler takes friction at
            the new velocity: it brakes without overshooting however stiff it is. With "rk4" a step must resolve
            friction, and with both it must resolve springs; `kt.simulate` divides its steps where it must, a rollout
            does not.
        limits: whether motors are limited in effort and velocity, as for `aba`.
        contact: whether shapes touch each other and joints end at their limits, as in `contact_dynamics`; dry friction,
            if it is among the passive forces, then sticks as well. "partial" leaves out what is not computed yet.
            "mujoco", "compliant" and "rigid", or what `kt.soft_constraints` returns, say how hard they push; compliant
            and rigid ones go with "semi_implicit_euler".
        gradient_softness: for derivatives only, as for `contact_dynamics`: they are those of softer contacts. Not with
            a controller.
        parameters: values that override some of the robot's parameters, as for `aba`; see docs/parameters.md.
        report: whether to return the errors of contacts as well, one per step: how exactly its accelerations solve
            the problem of `contact_dynamics`. A `SimulationWarning` says in any case where one is above 1e-8; of rigid
            contacts where accurate ones have a residual above 1e-6 m/s.
        out: where to put the result, (…, T, nq + nv), of the result's dtype.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        The states after each step, [q, v] (…, T, nq + nv). With report=True (states, contact_error), the latter of
        shape (…, T). With a controller (states, recorded): recorded is a dict of
        what the controller returned besides tau, with one row per step.

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.
        OptionError: there is no such integrator or passive force, or the controller is none.
        NameNotFoundError: the controller has no such argument or state.

    The kernel runs as many steps as tau has rows, so a different number of steps compiles nothing new.
    `kt.compile(robot, kt.rollout, steps=T)` is a kernel for exactly T steps, at most a million; its arguments are
    q, v, tau and dt, and its results are identical to the bit.

    Source: Celledoni, Marthinsen, Owren, "Commutator-free Lie group methods" (2003), for "rk4".

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> states = kt.rollout(robot, robot.neutral(), np.zeros(2), np.zeros((500, 2)), 0.001)
    >>> states.shape
    (500, 4)
    >>> @kt.program(q=robot, v=robot.nv, gain=())
    ... def brake(q, v, gain):
    ...     return {"tau": kt.gravity_forces(robot, q) - gain * v, "speed": np.linalg.norm(v)}
    >>> motion = kt.rollout(robot, robot.neutral(), [1.0, 0.0], brake, 0.001, steps=500, arguments={"gain": 2.0})
    >>> motion.states.shape, motion.recorded["speed"].shape
    ((500, 4), (500,))
    """
    model = check_robot(robot)
    if isinstance(tau, Program):
        if report is not False:
            raise OptionError("rollout: report=True is for motions without a controller")
        if gradient_softness_option(model, gradient_softness):
            raise OptionError(
                "rollout: a motion with a controller has no gradient_softness; write it as a program that calls "
                "kt.rollout step by step (kt.scan), with gradient_softness there"
            )
        return controlled_rollout(
            model, tau, q, v, dt, f_ext, steps=steps, arguments=arguments, rows=rows, state=state,
            control_dt=control_dt, integrator=integrator, passive=passive, limits=limits, contact=contact,
            parameters=parameters, out=out, threads=threads,
        )  # fmt: skip
    _refuse_what_controllers_take(
        tau, {"steps": steps, "arguments": arguments, "rows": rows, "state": state, "control_dt": control_dt}
    )
    tau = real_array("tau", tau, f"(…, T, {model.nv})")
    if tau.ndim < 2 or tau.shape[-1] != model.nv:
        raise ShapeError(
            f"rollout: tau has shape {tau.shape}, but {model.name!r} needs (…, T, {model.nv}), one row per step"
        )
    switches = switched_on(model, passive, limits) | contact_switch(model, contact)
    switches |= softness_switch(model, gradient_softness)
    options = {"f_ext": f_ext, "parameters": parameters, "threads": threads, "integrator": integrator, **switches}
    if _has_errors(switches, (q, v, tau, dt, f_ext, parameters), report):
        found = _reported(model, q, v, tau, dt, out, options)
        return found if report else found.states
    some = tau if tau.shape[-2] else np.zeros((*tau.shape[:-2], 1, model.nv), tau.dtype)  # none: run one, drop it
    into = out if some is tau else None
    states = run(_ANY_LENGTH, model, (q, v, some, dt), out=into, **options)
    if some is tau:
        return states
    if out is None:
        return states[..., :0, :]
    check_out("rollout", out, (*states.shape[:-2], 0, states.shape[-1]), states.dtype)
    return out


def _has_errors(switches: Mapping[str, Any], given: Sequence[Any], report: object) -> bool:
    """Whether steps have errors that can be told."""
    if report is not True and report is not False:
        raise OptionError(f"rollout: report must be True, for the errors of contacts, or False, not {report!r:.60}")
    every = [x for some in given for x in (some.values() if isinstance(some, Mapping) else (some,))]
    is_inside = trace_in_progress() is not None and is_symbolic(every)
    if report and ("contact" not in switches or is_inside):
        raise OptionError(
            "rollout: report=True tells the errors of contacts: it needs contact=True, and is not for use in programs"
        )
    return "contact" in switches and not is_inside


def _reported(
    model: Model, q: ArrayLike, v: ArrayLike, tau: Array, dt: ArrayLike, out: Array | None, options: Mapping[str, Any]
) -> ReportedRollout:
    """A rollout with the errors of its contacts; a warning says if these were not solved."""
    count = tau.shape[-2]
    some = tau if count else np.zeros((*tau.shape[:-2], 1, model.nv), tau.dtype)
    whole = run(_WITH_ERROR, model, (q, v, np.zeros(1, dtype_beside(q)), some, dt), **options)
    states, error = whole[..., :count, :-1], whole[..., :count, -1]
    warn_of_unsolved("rollout", error, 3, options["contact"].setting)
    if out is not None:
        check_out("rollout", out, states.shape, states.dtype)
        out[...] = states
        states = out
    return ReportedRollout(states, error)


def _refuse_what_controllers_take(tau: object, given: Mapping[str, object]) -> None:
    if callable(tau):
        raise OptionError(
            "rollout: tau is a Python function, which cannot run in the kernel; make it a program with "
            "@kt.program(q=robot, v=robot.nv), or simulate it with kt.simulate"
        )
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"rollout: {name}= is for a controller, a kt.program given as tau; leave it out")
