"""From the arguments of `simulate` to a motion that can be computed: everything is checked here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.actuation import Actuation
from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError
from kinetree.functions.actuators import actuation_of_robot
from kinetree.functions.constraint_options import Constraints
from kinetree.functions.contact_options import contact_option
from kinetree.functions.control_times import control_period
from kinetree.functions.drives import switched_on
from kinetree.functions.force_programs import GIVEN, computed_forces, force_names, with_forces
from kinetree.functions.loads import refuse_sleep
from kinetree.inputs import common_axes
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Program
from kinetree.sim.controllers import checked_commander, checked_controller, checked_force
from kinetree.sim.durations import MAX_STEPS, check_total, step_count
from kinetree.sim.events import event_numbers
from kinetree.sim.inputs import program_inputs
from kinetree.sim.setting import Setting, Start, chosen_integrator, held_frames, leading_axes
from kinetree.sim.snapshot import Snapshot, identity_of
from kinetree.sim.task import Task
from kinetree.sim.torques import (
    checked_state,
    command_rows,
    first_activations,
    force_rows,
    parameter_values,
    torque_rows,
)
from kinetree.sim.wanted import wanted_of

__all__ = ["prepared"]

Array = NDArray[np.float64]
_MOST_STREAMED = 1e15
"""Steps whose numbers times dt are still exact enough."""
_INPUTS = itemgetter("q", "v", "tau", "ctrl", "act", "f_ext", "arguments", "rows", "state", "resume")
_SETTINGS = itemgetter("constraints", "duration", "dt", "control_dt", "limits", "record")


def prepared(robot: Model, options: Mapping[str, Any]) -> Task:
    """The motion that these arguments of `simulate` describe, by their names; `record` is a `Recording`."""
    q, v, tau, ctrl, act, f_ext, arguments, rows, state, resume = _INPUTS(options)
    constraints, duration, dt, control_dt, limits, recording = _SETTINGS(options)
    acting = switched_on(robot, options["passive"], limits).get("passive", ())
    is_streamed = recording.stream is not None
    steps = step_count(duration, dt, _MOST_STREAMED if is_streamed else MAX_STEPS)
    soft = contact_option(robot, options["contact"])
    if soft is not None and constraints is not None:
        raise OptionError(
            "simulate: with contacts, constraints are soft rows among the others; leave constraints= out, and give "
            "contact=kt.contact.soft_constraints(robot, constraints=[…])"
        )
    integrator, tolerances = chosen_integrator(robot, options["integrator"], soft)
    dt = float(dt)
    if ctrl is not None and tolerances is not None:
        raise OptionError(
            f"simulate: commands of actuators (ctrl=) are for steps of dt, and {integrator!r} takes steps of its own; "
            "take another integrator, or give the result of kt.dynamics.actuator_forces as tau"
        )
    actuation = _actuation(robot, tau, ctrl, act)
    f_ext, computed = computed_forces(robot, f_ext)
    callers = [x for x in (tau, ctrl, *computed.values()) if callable(x)]
    if control_dt is not None and not callers:
        raise OptionError(
            "control_dt says how often tau, ctrl or a force of f_ext is called, so it needs a controller; leave it out"
        )
    period = control_period(control_dt, dt)
    if period is None and actuation is not None:
        raise OptionError(
            "control_dt='stages' is for joint forces: commands of actuators (ctrl=) are held over a step, while the "
            "actuators act at each stage of it"
        )
    program = next((x for x in (tau, ctrl) if isinstance(x, Program)), None)
    if computed:
        if any(isinstance(x, Program) for x in callers) and not all(isinstance(x, Program) for x in callers):
            raise OptionError(
                "simulate: torques, commands and external forces that are computed are all programs or all Python "
                "functions; make a program of each (kt.program)"
            )
        if isinstance(callers[0], Program):
            program, rows = _with_forces(robot, program, computed, tau, ctrl, rows, steps)
            tau, ctrl = (program, None) if ctrl is None else (tau, program)
    inputs = None
    if program is not None:
        if period is None and tolerances is not None:
            raise OptionError(
                f"simulate: with the integrator {integrator!r} a program runs once every dt, or every control_dt; for "
                "control_dt='stages' give a Python function"
            )
        inputs = program_inputs(program, steps, arguments, rows, state)
    else:
        for name, value in (("arguments", arguments), ("rows", rows), ("state", state)):
            if value is not None:
                raise OptionError(
                    f"simulate: {name}= is for a controller that is a kt.program, or a force that is one; leave it out"
                )
    _check_resumed(robot, resume, q, v, state, act)
    q, v = _start_of(robot, q, v, soft) if resume is None else (resume.q, resume.v)
    w = np.zeros(0)
    if actuation is not None:
        w = first_activations(robot, act) if resume is None else resume.act
    forces, given = force_rows(robot, f_ext, steps), parameter_values(robot, options["parameters"])
    soft = soft and soft.called_for(robot, given)
    known = None if callable(tau) else torque_rows(robot, tau, steps)
    commands = ctrl if ctrl is None or callable(ctrl) else command_rows(robot, ctrl, steps)
    leading = {} if inputs is None or program is None else inputs.leading(program)
    leading |= {"act": w.shape[:-1], "ctrl": () if commands is None or callable(commands) else commands.shape[:-2]}
    shape = _batch_shape(robot, q, v, known, forces, given, constraints, leading)
    if not is_streamed:
        check_total(math.prod(shape), steps)
    q, v, w = [np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v, w)]
    places = {} if resume is None else resume.start.places
    held, places = held_frames(robot, constraints, q, v, given, places)
    first = 0 if resume is None else resume.step
    setting = Setting(
        robot, dt, integrator, acting, limits, shape, forces, given, held, soft, first, actuation, tolerances,
        force_names([*computed]) if computed else {},
    )  # fmt: skip
    if tolerances is not None or program is not None or period is None:
        refuse_sleep(soft, "not with error control, nor under programs, nor with functions at every stage of a step")
    torques: Any = tau
    if known is not None:
        torques = known
    elif not isinstance(tau, Program):
        torques = checked_controller(robot, tau, shape)
    if period is None and program is None:
        if shape:
            raise OptionError(
                f"control_dt='stages' is for one motion, and this is a batch {shape}: leave it out, or simulate the "
                "motions one by one"
            )
        if computed and tolerances is not None:
            raise OptionError(
                f"simulate: with the integrator {integrator!r} a force of f_ext is called once every dt, or every "
                "control_dt; control_dt='stages' is for the other integrators"
            )
    if callable(commands) and not isinstance(commands, Program):
        commands = checked_commander(robot, commands, shape)
    functions = {} if program is not None else {
        setting.sources[key]: checked_force(robot, key, x, shape) for key, x in computed.items()
    }  # fmt: skip
    events = event_numbers(robot, options["until"], shape)
    recorded = wanted_of(robot, recording, dt, soft, bool(held), has_commands=actuation is not None)
    identity = identity_of(setting, period, program)
    if resume is None:
        row = np.concatenate((q, v, w, np.zeros((*shape, 2))), axis=-1)
        start = Start(0, row, np.full(shape, np.inf), {}, {}, places)
    else:
        resume.check(identity)
        start = resume.start
    return Task(setting, start, steps, torques, functions, commands, inputs, period, events, recorded, identity)


def _with_forces(
    robot: Model, controller: Program | None, forces: Mapping[ForceKey, Program], tau: Any, ctrl: Any, rows: Any,
    steps: int,
) -> tuple[Program, Any]:  # fmt: skip
    """The controller with forces that programs compute, and its arguments with one row per step.

    Joint forces, or commands, that are known in advance are such an argument.
    """
    name, given = ("tau", tau) if ctrl is None else ("ctrl", ctrl)
    if controller is not None:
        return with_forces(controller, forces, name), rows
    if given is None:
        return with_forces(None, forces, name, robot.nv), rows
    known = torque_rows(robot, tau, steps) if ctrl is None else command_rows(robot, ctrl, steps)
    program = with_forces(None, forces, name, known.shape[-1], is_given=True)
    return program, {**(rows or {}), GIVEN.format(name): known}


def _actuation(robot: Model, tau: Any, ctrl: Any, act: Any) -> Actuation | None:
    """The actuators, if they have commands."""
    if ctrl is None:
        if act is not None:
            raise OptionError("simulate: act, the activations of actuators, is for ctrl, their commands; give both")
        return None
    if isinstance(tau, Program):
        raise OptionError(
            "simulate: ctrl is for joint forces that are known beforehand or given by a Python function; give the "
            "program that computes commands as ctrl=, or return the result of kt.dynamics.actuator_forces as tau"
        )
    if isinstance(ctrl, Program) and callable(tau):
        raise OptionError(
            "simulate: with commands from a program, joint forces are known beforehand: give tau as an array"
        )
    return actuation_of_robot(robot)


def _start_of(
    robot: Model, q: ArrayLike | None, v: ArrayLike | None, soft: SoftConstraints | None
) -> tuple[Array, Array]:
    from kinetree.functions.above_ground import usual_start

    q = usual_start(robot, touches=soft is not None) if q is None else checked_state(robot, "q", q, robot.q_names)
    robot.check_configuration(q)
    return q, np.zeros(robot.nv) if v is None else checked_state(robot, "v", v, robot.v_names)


def _check_resumed(robot: Model, resume: Any, q: Any, v: Any, state: Any, act: Any) -> None:
    if resume is None:
        return
    if not isinstance(resume, Snapshot):
        raise OptionError(
            f"simulate: resume must be a kt.sim.Snapshot, such as motion.snapshot() or kt.sim.Snapshot.load(path), not "
            f"{resume!r:.60}"
        )
    for name, given in (("q", q), ("v", v), ("state", state), ("act", act)):
        if given is not None:
            raise OptionError(f"simulate: {name}= and resume= exclude each other: the snapshot has the state")
    resume.check({"robot": robot.name})


def _batch_shape(
    robot: Model,
    q: Array,
    v: Array,
    tau: Array | None,
    forces: Mapping[ForceKey, Array],
    parameters: Mapping[str, Array],
    constraints: Constraints | None,
    inputs: Mapping[str, tuple[int, ...]],
) -> tuple[int, ...]:
    """The leading axes of all arguments together."""
    shapes = {"q": q.shape[:-1], "v": v.shape[:-1], "tau": () if tau is None else tau.shape[:-2]}
    shapes |= {f"f_ext[{key!r:.80}]": rows.shape[:-2] for key, rows in forces.items()}
    shapes |= {name: x.shape[: x.ndim - robot.parameter(name).ndim] for name, x in parameters.items()}
    shapes |= leading_axes(constraints)
    shapes |= inputs
    return common_axes("simulate", shapes)
