"""Motions of many steps in one kernel, as a function of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import check_out
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
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


def _step(
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
) -> tuple[Slots, Slots]:
    method, rows = algorithms.INTEGRATORS[integrator], soft(model, contact, passive, gradient_softness)
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
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array: ...


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
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array | ControlledRollout:
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
        gradient_softness: for derivatives only, as for `contact_dynamics`: they are those of softer contacts. Not with
            a controller.
        parameters: values that override some of the robot's parameters, as for `aba`; see docs/parameters.md.
        out: where to put the result, (…, T, nq + nv), of the result's dtype.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        The states after each step, [q, v] (…, T, nq + nv). With a controller (states, recorded): recorded is a dict of
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
    some = tau if tau.shape[-2] else np.zeros((*tau.shape[:-2], 1, model.nv), tau.dtype)  # none: run one, drop it
    into = out if some is tau else None
    states = run(
        _ANY_LENGTH, model, (q, v, some, dt), f_ext=f_ext, parameters=parameters, out=into, threads=threads,
        integrator=integrator, **switches,
    )  # fmt: skip
    if some is tau:
        return states
    if out is None:
        return states[..., :0, :]
    check_out("rollout", out, (*states.shape[:-2], 0, states.shape[-1]), states.dtype)
    return out


def _refuse_what_controllers_take(tau: object, given: Mapping[str, object]) -> None:
    if callable(tau):
        raise OptionError(
            "rollout: tau is a Python function, which cannot run in the kernel; make it a program with "
            "@kt.program(q=robot, v=robot.nv), or simulate it with kt.simulate"
        )
    for name, value in given.items():
        if value is not None:
            raise OptionError(f"rollout: {name}= is for a controller, a kt.program given as tau; leave it out")
