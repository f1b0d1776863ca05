"""Motions of many steps in one kernel, as a function of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.arguments import check_out, dtype_like
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, defined_by
from kinetree.compiler.foreign import framework_among
from kinetree.compiler.tracing import is_symbolic, trace_in_progress
from kinetree.errors import KinetreeError, OptionError, ShapeError
from kinetree.functions.actuators import actuation_of_robot
from kinetree.functions.contact_options import (
    ContactOption,
    contact_option,
    contact_switch,
)
from kinetree.functions.contact_reports import EvaluatedRollout, ReportedRollout, flagged, warn_of_unsolved
from kinetree.functions.control_times import ControlDt, check_forward
from kinetree.functions.controlled_rollouts import ControlledRollout, Inputs, controlled_rollout
from kinetree.functions.drives import OnUnactuated, Passive, check_motors, limits_option, passive_option, switched_on
from kinetree.functions.force_programs import ActingForces, computed_forces
from kinetree.functions.gradient_softness import gradient_softness_option, softness_switch
from kinetree.functions.integrator_options import Integrator, rollout_integrator_option, step_of_file
from kinetree.functions.loads import refuse_sleep
from kinetree.functions.step_division import Given, Stiffness, divide_steps, never_divides, warn_where_stiff
from kinetree.functions.steps import StepKind, step_definition
from kinetree.inputs import array_or_foreign, flag, whole_number
from kinetree.model import Model, check_robot
from kinetree.model.external_forces import ExternalForces
from kinetree.model.parameters import ROWS
from kinetree.programs import Program

__all__ = ["actuated_rollout", "rollout"]

_MOST_STEPS = 1_000_000
"""Maximum for a kernel that a user compiles, which holds all its inputs and results in memory, per lane and thread."""


def _steps(_: Model, value: Any) -> Hashable:
    steps = whole_number(value)
    if steps is None or not 1 <= steps <= _MOST_STEPS:
        raise OptionError(
            f"steps must be a whole number from 1 to {_MOST_STEPS}, such as steps=100, not {value!r:.60}; "
            "kt.rollout itself takes any number"
        )
    return steps


def _divide_option(_: Model, value: Any) -> None:
    """It changes no kernel: who calls one divides steps, or warns where that is not possible."""
    if value is not None:
        flag("divide", value)


_OPTIONS = {
    "integrator": rollout_integrator_option,
    "passive": passive_option,
    "limits": limits_option,
    "contact": contact_option,
    "divide": _divide_option,
    "gradient_softness": gradient_softness_option,
}


def _definition(
    *, commands: bool = False, reports: tuple[str, ...] = (), counts: bool = True, sleeps: bool = False
) -> Definition:
    """Steps under joint forces, or commands; with the reports of each after its state; as many as the option `steps`
    says, or one per row of tau in the call, so that a new number of steps compiles nothing."""
    kind = StepKind(False, commands, commands, exchanges=False, sleeps=sleeps, reports=reports)
    name = "actuated_rollout" if commands else "rollout"
    return step_definition(name, kind, {**_OPTIONS, "steps": _steps} if counts else _OPTIONS)


ROLLOUT, ACTUATED_ROLLOUT = _definition(), _definition(commands=True)
_ANY_LENGTH, _ACTUATED = _definition(counts=False), _definition(commands=True, counts=False)
_OF_STEPS = {_ANY_LENGTH: ROLLOUT, _ACTUATED: ACTUATED_ROLLOUT}
"""Definitions of any number of steps, and the same ones whose number of steps is an option."""
_REPORTING = {
    (_ANY_LENGTH if not commands else _ACTUATED, sleeps, evaluated): _definition(
        commands=commands, reports=("evaluated", "error") if evaluated else ("error",), counts=False, sleeps=sleeps
    )
    for commands, sleeps, evaluated in product((False, True), repeat=3)
}
"""Rollouts that also report how exactly each step was solved, in which bodies may sleep or not, and perhaps where
forces were evaluated last."""


class _Options(TypedDict, total=False):
    """The keyword arguments of every form of `rollout`."""

    steps: int | None
    arguments: Inputs | None
    rows: Inputs | None
    state: Inputs | None
    control_dt: ControlDt
    integrator: Integrator | None
    passive: Passive
    limits: bool
    contact: ContactOption
    divide: bool
    gradient_softness: float
    on_unactuated: OnUnactuated
    parameters: Mapping[str, ArrayLike] | None
    out: Array | None
    threads: int | None


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: Program,
    dt: ArrayLike | None = None,
    f_ext: ActingForces | None = None,
    *,
    ctrl: None = None,
    act: None = None,
    report: bool = False,
    **options: Unpack[_Options],
) -> ControlledRollout: ...


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    dt: ArrayLike | None,
    f_ext: Mapping[Any, Program],
    *,
    ctrl: None = None,
    act: None = None,
    report: bool = False,
    **options: Unpack[_Options],
) -> ControlledRollout: ...


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    dt: ArrayLike | None = None,
    f_ext: ExternalForces | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    report: Literal[False] = False,
    **options: Unpack[_Options],
) -> Array: ...


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    dt: ArrayLike | None = None,
    f_ext: ExternalForces | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    report: Literal[True],
    **options: Unpack[_Options],
) -> ReportedRollout: ...


@overload
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    dt: ArrayLike | None = None,
    f_ext: ExternalForces | None = None,
    *,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    report: Literal["evaluated"],
    **options: Unpack[_Options],
) -> EvaluatedRollout: ...


@defined_by(ROLLOUT)
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | Program | None,
    dt: ArrayLike | None = None,
    f_ext: ActingForces | None = None,
    *,
    steps: int | None = None,
    arguments: Inputs | None = None,
    rows: Inputs | None = None,
    state: Inputs | None = None,
    control_dt: ControlDt = None,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    integrator: Integrator | None = None,
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    divide: bool = True,
    gradient_softness: float = 0.0,
    on_unactuated: OnUnactuated = "allow",
    report: bool | Literal["evaluated"] = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array | ControlledRollout | ReportedRollout | EvaluatedRollout:
    """Simulate many motions at once: the states after each step, under joint forces that are given or computed.

    All steps run inside one kernel, with motions side by side in its lanes and on threads. The model has rigid bodies,
    rotors and gravity, as in `aba`, and on request friction, springs and motor limits.

    Args:
        q: initial configuration (…, nq); rad, m, unit quaternions.
        v: initial velocity (…, nv); rad/s, m/s.
        tau: joint forces (…, T, nv), one row per step and constant over it; N·m, N. Or a controller: a `kt.program`
            that takes any of t (), q (nq,) and v (nv,), and arguments of its own, and returns tau (nv,), alone or as
            "tau" in a dict, named tuple or dataclass. It runs in the kernel, at the beginning of each step. A result
            with the name of an argument is that argument's value at the next call, so a controller can have a state
            (an integral, a filter, the last command as "tau").
        dt: length of a step (…), s; by default that of the robot's MJCF file.
        f_ext: external wrenches (…, 6) by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, as for `aba`:
            the same numbers at every step; seen from the bodies, those in the world's axes turn. A `kt.program` in
            place of the numbers, such as wind or a thruster, may take the same arguments as a controller, and returns
            the wrench (6,), alone or as "f_ext"; it runs when a controller does, and tau may then be None.
        steps: number of steps, with a program; by default the number of rows, if some are given.
        arguments: the controller's own arguments, by name, constant over a motion: (…, *shape).
        rows: others of them, with one row per step: (…, T, *shape).
        state: the initial state of the controller, by name, (…, *shape); by default that of the argument, or zero.
        control_dt: period of the controller, a multiple of dt in s, over which its results are held; None is each step.
            "stages" runs it at every stage of the integrator, as a smooth function of the state.
        ctrl: commands of the robot's actuators (…, T, nu), one row per step and constant over it, as for
            `actuator_forces`. Actuators then act inside each stage of a step, as do the weights that the file declares
            as carried; springs and dampers of its tendons act if "spring" and "damping" are among the passive forces.
            tau acts in addition, and may be None.
        act: initial activations (…, na), for ctrl; zeros by default.
        integrator: "semi_implicit_euler" (order one), "rk4" (order four, four times the work), "midpoint" (order two,
            keeps momentum, and energy for ever), "symplectic_euler", "implicitfast" or "discrete"; by default that of
            the robot's MJCF file, and "semi_implicit_euler" for other robots. All move on the configuration manifold,
            so that quaternions keep length 1; `kinetree docs integrators` helps to choose one.
        passive: the passive forces of the joints that act in addition to tau, as for `aba`. "semi_implicit_euler",
            "implicitfast" and "discrete" take friction at the end of the step: it brakes without overshooting however
            stiff it is. With the others a step must resolve friction, and with all except "discrete" it must resolve
            springs; a step that is too long for that is divided.
        limits: whether motors are limited in effort and velocity, as for `aba`.
        contact: whether shapes touch each other and joints end at their limits, as in `contact_dynamics`; dry friction,
            if it is among the passive forces, then sticks as well. "partial" leaves out contacts not computed yet.
            "mujoco", "compliant" and "rigid", or what `kt.contact.soft_constraints` returns, set how hard contacts
            push. Take "discrete" with contacts; compliant and rigid ones exclude "rk4", and all exclude "midpoint".
        divide: whether steps that are too long for stiff friction, springs or servos are divided into equal parts. The
            rule and the bits are those of `kt.simulate`, which looks every 10 ms of motion. Rows of tau and ctrl are
            held over all parts, and a controller runs at the beginning of the step. Compiled functions, derivatives,
            programs and other frameworks do not divide steps; with True a warning says where that is wrong: for
            programs when they are traced, and not for compiled functions, which do not know dt.
        gradient_softness: makes the derivatives those of softer contacts, as for `contact_dynamics`. Not with a
            controller.
        parameters: values that override some of the robot's parameters, as for `aba`; see `kinetree docs parameters`.
            With `[:]` after its name, a parameter has one row per step, (…, T, *shape), such as the poses of a mocap
            body, "body.NAME.placement[:]"; not with a controller.
        on_unactuated: "error" raises if tau is not zero at a degree of freedom that has no motor, "allow" does not, as
            for `aba`. Not with a controller, whose forces are computed in the kernel.
        report: whether to return two numbers per step as well. `contact_error`: how exactly its accelerations solve
            the problem of `contact_dynamics`; or with "midpoint", how exactly the step's equation was solved. `flagged`
            is True where that was not solved, and where velocities turn around in every step, so that the energy is
            not real: the step is too long for a stiff controller, servo or spring, and a `SimulationWarning` says so.
            Another warning, with or without a report, says where contacts have an error above 1e-8, and rigid contacts
            a residual above 1e-6 m/s if they are accurate, above 1 m/s otherwise. With a controller both numbers are
            recorded["contact.error"] and recorded["flagged"].
            "evaluated" returns where each step evaluated forces last: q, v and the acceleration qdd at which contacts
            push, that is, at the beginning of the step, and with "rk4" at its fourth stage. What MuJoCo derives from
            the state (xpos, cvel, cfrc_ext, sensors) is of this state after mj_step, and not of that after the step;
            `kt.contact.contact_forces` of them are the forces that acted. Also in programs; not with "midpoint".
        out: an array for the result, (…, T, nq + nv), of the result's dtype.

    Returns:
        The states after each step, [q, v] (…, T, nq + nv); with ctrl [q, v, act] (…, T, nq + nv + na). With
        report=True (states, contact_error, flagged), the latter two of shape (…, T); with "evaluated" (states, q, v,
        qdd). With a controller (states, recorded): recorded is a dict of its results other than tau, with one row per
        step.

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.
        OptionError: an integrator, passive force or controller is unknown, the robot has no actuators for ctrl, or dt
            is missing and the robot is not from an MJCF file.
        ActuationError: tau acts where there is no motor, and `on_unactuated` is "error".
        NameNotFoundError: the controller has no such argument or state.

    The kernel runs as many steps as tau has rows, so a different number of steps compiles nothing new.
    `kt.compile(robot, kt.rollout, steps=T)` is a kernel for exactly T steps, at most a million; its arguments are
    q, v, tau and dt, and its results are identical to the bit.

    Source: Munthe-Kaas, "High order Runge-Kutta methods on manifolds" (1999), for "rk4".

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
    dt = step_of_file(model) if dt is None else dt
    if on_unactuated != "allow":
        _check_motors(model, tau, on_unactuated)
    if ctrl is None and act is not None:
        raise OptionError("rollout: act, the activations of actuators, is for ctrl, their commands; give both")
    known, computed = computed_forces(model, f_ext)
    _refuse_functions(computed)
    if isinstance(tau, Program) or computed:
        if gradient_softness_option(model, gradient_softness):
            raise OptionError(
                "rollout: a motion with a controller has no gradient_softness; write it as a program that calls "
                "kt.rollout step by step (kt.programs.scan), with gradient_softness there"
            )
        if ctrl is not None:
            raise OptionError(
                "rollout: ctrl is for joint forces that are known beforehand; a controller computes commands itself "
                "and returns the result of kt.dynamics.actuator_forces as tau"
            )
        if tau is not None and not isinstance(tau, Program):
            tau = _rows("rollout", model, "tau", tau, model.nv, "one row per step")
        return controlled_rollout(
            model, tau, q, v, dt, f_ext, steps=steps, arguments=arguments, rows=rows, state=state,
            control_dt=control_dt, integrator=integrator, passive=passive, limits=limits, contact=contact,
            divide=divide, report=_report_option(report, is_controlled=True) is True, parameters=parameters, out=out,
            threads=threads,
        )  # fmt: skip
    _refuse_what_controllers_take(
        tau, {"steps": steps, "arguments": arguments, "rows": rows, "state": state, "control_dt": control_dt}
    )
    more: dict[str, Any] = {"integrator": integrator, "passive": passive, "limits": limits, "contact": contact}
    more |= {"parameters": parameters, "out": out, "threads": threads, "gradient_softness": gradient_softness}
    more["divide"] = divide
    if ctrl is not None:
        nu = len(actuation_of_robot(model).actuators)
        ctrl = _rows("rollout", model, "ctrl", ctrl, nu, "one row per step and one number per actuator")
        tau = np.zeros((ctrl.shape[-2], model.nv), dtype_like(ctrl)) if tau is None else tau
        if not _has_report(model, contact, (q, v, act, tau, ctrl, dt, known, parameters), report):
            return actuated_rollout(model, q, v, act, tau, ctrl, dt, known, **more)
        definition, begin, held = _actuated("rollout", model, (q, v, act), tau, ctrl)
        return _reported(definition, model, begin, held, dt, known, report=report, **more)
    tau = _rows("rollout", model, "tau", tau, model.nv, "one row per step")
    if _has_report(model, contact, (q, v, tau, dt, known, parameters), report):
        return _reported(_ANY_LENGTH, model, (q, v), (tau,), dt, known, report=report, **more)
    return _run(_ANY_LENGTH, model, (q, v), (tau,), dt, known, **more)[0]


@defined_by(ACTUATED_ROLLOUT)
def actuated_rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    act: ArrayLike | None,
    tau: ArrayLike,
    ctrl: ArrayLike,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    integrator: Integrator | None = None,
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    divide: bool = True,
    gradient_softness: float = 0.0,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The states that commands of a robot's actuators lead to: `rollout` with `ctrl`, with all arrays by position.

    This is the function to compile and to differentiate; its arguments are those of `rollout`.

    Args:
        q: initial configuration (…, nq); rad, m, unit quaternions.
        v: initial velocity (…, nv); rad/s, m/s.
        act: initial activations (…, na); None for zeros.
        tau: joint forces besides those of actuators (…, T, nv); N·m, N.
        ctrl: commands (…, T, nu), one row per step and constant over it.
        dt: length of a step (…), s.
        f_ext: external wrenches (…, 6), as for `rollout`.
        integrator: as for `rollout`.
        passive: as for `rollout`.
        limits: as for `rollout`; these are limits of tau, while actuators have their own.
        contact: as for `rollout`.
        divide: as for `rollout`.
        gradient_softness: as for `rollout`.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, (…, T, nq + nv + na), of the result's dtype.

    Returns:
        The states after each step, [q, v, act] (…, T, nq + nv + na).

    Raises:
        OptionError: the robot has no actuators, or one whose force is not computed; the message names it.
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.

    Source: MuJoCo documentation, "Computation", sections on actuation and on numerical integration; version 4.

    >>> import kinetree as kt, numpy as np
    >>> from kinetree.model.extras import Actuator, Extras
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    >>> builder.extras = Extras(actuators=(Actuator("push", "joint", "slider", gear=(10.0, 0, 0, 0, 0, 0)),))
    >>> robot = builder.build()
    >>> rest = np.zeros(2)
    >>> states = kt.sim.actuated_rollout(robot, rest, rest, None, np.zeros((50, 2)), np.ones((50, 1)), 0.01)
    >>> states.shape, bool(states[-1, 0] > 0.0)
    ((50, 4), True)
    """
    model = check_robot(robot)
    definition, state, rows = _actuated("actuated_rollout", model, (q, v, act), tau, ctrl)
    return _run(
        definition, model, state, rows, dt, f_ext, integrator=integrator, passive=passive, limits=limits,
        contact=contact, divide=divide, gradient_softness=gradient_softness, parameters=parameters, out=out,
        threads=threads,
    )[0]  # fmt: skip


def _actuated(
    function: str, model: Model, state: tuple[ArrayLike, ArrayLike, ArrayLike | None], tau: ArrayLike, ctrl: ArrayLike
) -> tuple[Definition, Sequence[ArrayLike], Sequence[Array]]:
    """The definition for a robot's actuators, and its checked arguments."""
    own, (q, v, act) = actuation_of_robot(model), state
    tau = _rows(function, model, "tau", tau, model.nv, "one row per step")
    ctrl = _rows(function, model, "ctrl", ctrl, len(own.actuators), "one row per step and one number per actuator")
    if tau.shape[-2] != ctrl.shape[-2]:
        raise ShapeError(
            f"{function}: tau has {tau.shape[-2]} rows and ctrl has {ctrl.shape[-2]}; both have one per step"
        )
    na = len(own.with_activation)
    act = np.zeros(na, dtype_like(ctrl)) if act is None else act
    if not na and np.shape(act)[-1:] != (0,):
        raise ShapeError(f"{function}: act has shape {np.shape(act)}, but {model.name!r} has no activations")
    return _ACTUATED, (q, v, act), (tau, ctrl)


def _rows(function: str, model: Model, name: str, x: ArrayLike | None, width: int, what: str) -> Array:
    """An argument with one row per step."""
    rows: Array = array_or_foreign(name, x, f"(…, T, {width})")
    if rows.ndim < 2 or rows.shape[-1] != width:
        raise ShapeError(f"{function}: {name} has shape {rows.shape}, but {model.name!r} needs (…, T, {width}), {what}")
    return rows


def _run(
    definition: Definition,
    model: Model,
    state: Sequence[ArrayLike],
    rows: Sequence[Array],
    dt: ArrayLike,
    f_ext: ExternalForces | None,
    *,
    integrator: Integrator | None,
    passive: Passive,
    limits: bool,
    contact: ContactOption,
    divide: bool,
    gradient_softness: float,
    parameters: Mapping[str, ArrayLike] | None,
    out: Array | None,
    threads: int | None,
) -> tuple[Array, bool | Array]:
    """The states after each step, of any number of steps, none included; and the motions that have divided steps."""
    switches = switched_on(model, passive, limits) | contact_switch(model, contact)
    switches |= softness_switch(model, gradient_softness)
    if "contact" in switches:
        check_forward(definition.name, dt)
    is_some = bool(rows[0].shape[-2])
    if divide is not True:
        _divide_option(model, divide)
    names: tuple[str, ...] = ()
    stiff = None
    if is_some and divide and ("passive" in switches or definition.sizes):
        names = tuple(str(name).removesuffix(ROWS) for name in parameters or ())
        actuation = actuation_of_robot(model) if definition.sizes else None
        stiff = rollout_integrator_option(model, integrator), switches.get("passive", ()), actuation
        with suppress(KinetreeError):  # the call reports the fault
            stiff = None if never_divides(model, *stiff, names) else stiff
        if stiff is not None and not _are_arrays((*state, *rows, dt, f_ext, parameters)):
            what = "rollout: inside a program, or for another framework, it"
            warn_where_stiff(what, model, state[0], dt, *stiff)
            stiff = None
    if is_some and framework_among([*state, *rows, dt]):  # adapters call programs of all steps
        definition, switches["steps"] = _OF_STEPS[definition], rows[0].shape[-2]
    some = rows if is_some else [np.zeros((*x.shape[:-2], 1, x.shape[-1]), x.dtype) for x in rows]  # run one, drop it
    with np.errstate(all="ignore" if stiff else None):  # of steps that are too long
        states = run(
            definition, model, (*state, *some, dt), f_ext=f_ext, parameters=parameters, out=out if is_some else None,
            threads=threads, integrator=integrator, **switches,
        )  # fmt: skip
    if not is_some:
        if out is None:
            return states[..., :0, :], False
        check_out(definition.name, out, (*states.shape[:-2], 0, states.shape[-1]), states.dtype)
        return out, False
    if stiff is None:
        return states, False
    own = [*(_given(x, 1) for x in state), *(_given(x, 2, is_row=True) for x in rows), _given(dt, 0)]
    given = [*own, *(_given(x, 1) for x in (f_ext or {}).values())]
    last = len(given)
    for name, x in (parameters or {}).items():
        is_row = name.endswith(ROWS)
        given.append(_given(x, model.parameter(name.removesuffix(ROWS)).ndim + is_row, is_row=is_row))

    def take(xs: Sequence[Any], parts: int) -> Array:
        results = run(
            definition, model, xs[: len(own)], threads=threads, integrator=integrator,
            f_ext=None if f_ext is None else dict(zip(f_ext, xs[len(own) : last], strict=True)),
            parameters=None if parameters is None else dict(zip(parameters, xs[last:], strict=True)), **switches,
        )  # fmt: skip
        ends = results[..., parts - 1 :: parts, :]
        if definition in _REPORTING.values():
            ends[..., -1] = np.fmax.reduceat(results[..., -1], np.arange(0, results.shape[-2], parts), axis=-1)
        return ends

    def stiffness_of(h: float, given: Sequence[Given]) -> Stiffness:
        numbers = {name: x.at_first for name, x in zip(names, given[last:], strict=True)}
        return Stiffness(model, *stiff, h, numbers)

    return states, divide_steps(states, given, len(state), len(own) - 1, stiffness_of, take)


def _given(x: Any, rank: int, *, is_row: bool = False) -> Given:
    """An argument of a call, whose plain numbers leave the dtype to others."""
    return Given(x if isinstance(x, int | float) else np.asarray(x), rank, is_row)


def _are_arrays(given: Sequence[Any]) -> bool:
    """Whether all are arrays of numbers, not symbols of a program or arrays of another framework."""
    every = [x for some in given for x in (some.values() if isinstance(some, Mapping) else (some,))]
    return framework_among(every) is None and not (trace_in_progress() is not None and is_symbolic(every))


def _refuse_functions(computed: Mapping[Any, Any]) -> None:
    """Raise OptionError if an external force is a Python function."""
    for key, force in computed.items():
        if not isinstance(force, Program):
            raise OptionError(
                f"rollout: f_ext[{key!r:.80}] is a Python function, which cannot run in the kernel; make it a program "
                "with @kt.program(q=robot, v=robot.nv), or simulate it with kt.simulate"
            )


def _report_option(report: object, *, is_controlled: bool = False) -> bool | Literal["evaluated"]:
    if report is not True and report is not False and (report != "evaluated" or is_controlled):
        also = "" if is_controlled else ', "evaluated" for where forces were evaluated'
        raise OptionError(
            f"rollout: report must be True, for the errors of contacts{also}, or False, not {report!r:.60}"
        )
    return report


def _check_motors(model: Model, tau: ArrayLike | Program | None, on_unactuated: object) -> None:
    if isinstance(tau, Program):
        raise OptionError(
            "rollout: on_unactuated is for rows of joint forces; multiply those of a controller by robot.actuated"
        )
    if tau is not None:
        check_motors(model, tau, on_unactuated)


def _has_report(model: Model, contact: ContactOption, given: Sequence[Any], report: object) -> bool:
    """Whether steps have something to report."""
    _report_option(report)
    if report is False and not contact_switch(model, contact):
        return False
    are_arrays = _are_arrays(given)
    if report is True and not are_arrays and trace_in_progress() is not None:
        raise OptionError("rollout: report=True returns a report of the steps, and is not for use in programs")
    return are_arrays or report == "evaluated"


def _reported(
    definition: Definition,
    model: Model,
    state: Sequence[ArrayLike],
    rows: Sequence[Array],
    dt: ArrayLike,
    f_ext: ExternalForces | None,
    *,
    report: bool | Literal["evaluated"],
    out: Array | None,
    **more: Any,
) -> Array | ReportedRollout | EvaluatedRollout:
    """A rollout, with the errors of its steps if they are asked for; a warning says if contacts were not solved."""
    are_arrays = _are_arrays((*state, *rows, dt, f_ext, more["parameters"]))
    is_evaluated = report == "evaluated"
    if is_evaluated:
        _check_evaluated(model, more["integrator"], (*state, *rows, dt), out)
    constraints = contact_option(model, more["contact"]) if more["integrator"] != "midpoint" else None
    sleeps = are_arrays and constraints is not None and constraints.sleep is not None
    if sleeps and (changing := [name for name in more["parameters"] or () if str(name).endswith(ROWS)]):
        refuse_sleep(constraints, f"{changing[0]} could move what they rest on")
    q, v = state[:2]
    sizes = [model.nv] * sleeps + [model.nq, model.nv, model.nv] * is_evaluated + [1]
    unread: list[Any] = [np.zeros(n, dtype_like(q)) for n in sizes]
    if is_evaluated:
        unread[-4] = q  # a configuration, whose quaternions are checked
    definition = _REPORTING[definition, sleeps, is_evaluated]
    rows_after, divided = _run(definition, model, (*state, *unread), rows, dt, f_ext, out=None, **more)
    states, error = rows_after[..., : -sum(sizes)], rows_after[..., -1]
    if constraints is not None and are_arrays:
        warn_of_unsolved("rollout", error, 3, constraints.setting)
    if is_evaluated:
        n, end = model.nv, rows_after.shape[-1] - 1
        parts = rows_after[..., end - 2 * n - model.nq : end - 2 * n], rows_after[..., end - 2 * n : end - n]
        return EvaluatedRollout(states, *parts, rows_after[..., end - n : end])
    if out is not None:
        check_out("rollout", out, states.shape, states.dtype)
        out[...] = states
        states = out
    if not report:
        return states
    setting = None if constraints is None else constraints.setting
    wrong = flagged("rollout", model, setting, (q, v), states, error, more["parameters"], 3, divided)
    return ReportedRollout(states, error, wrong)


def _check_evaluated(model: Model, integrator: Integrator | None, given: Sequence[Any], out: Array | None) -> None:
    """Raise OptionError where a rollout cannot say where it evaluated forces."""
    what = 'rollout: report="evaluated"'
    if rollout_integrator_option(model, integrator) == "midpoint":
        raise OptionError(f'{what} is for integrators with stages; "midpoint" has none')
    if framework_among(given):
        raise OptionError(f"{what} is for NumPy's arrays and programs")
    if out is not None:
        raise OptionError(f"{what} returns several arrays; leave out= out")


def _refuse_what_controllers_take(tau: object, given: Mapping[str, object]) -> None:
    if callable(tau):
        raise OptionError(
            "rollout: tau is a Python function, which cannot run in the kernel; make it a program with "
            "@kt.program(q=robot, v=robot.nv), or simulate it with kt.simulate"
        )
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"rollout: {name}= is for a controller, a kt.program given as tau; leave it out")
