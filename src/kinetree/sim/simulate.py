"""Simulation: from a state and torques to a motion."""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError, ShapeError, SimulationError, SimulationWarning
from kinetree.functions.constraint_options import Constraints, first_sample
from kinetree.functions.contact_options import ContactOption, contact_option
from kinetree.functions.control_times import ControlDt, control_period
from kinetree.functions.drives import Passive, switched_on
from kinetree.functions.integrator_options import integrator_option
from kinetree.model import Model, check_robot
from kinetree.model.external_forces import ExternalForces, ForceKey
from kinetree.model.reference import reference_configuration
from kinetree.programs import Program
from kinetree.sim.accelerations import accelerations
from kinetree.sim.controlled import ProgramMotion, program_inputs
from kinetree.sim.fastest import spring_stiffness
from kinetree.sim.held import held_frames, leading_axes
from kinetree.sim.motion import Held, Motion, Sampled, Setting, Staged
from kinetree.sim.record import Record
from kinetree.sim.remarks import remarks
from kinetree.sim.stiffness import Stiffness, most_parts
from kinetree.sim.torques import (
    Controller,
    checked_controller,
    checked_state,
    force_rows,
    parameter_values,
    torque_rows,
)
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory
from kinetree.symbolic import refuse_symbols

__all__ = ["MAX_STEPS", "simulate", "step_count"]

Array = NDArray[np.float64]

MAX_STEPS = 10_000_000
"""A trajectory holds every step; longer motions are simulated in pieces."""

_STIFFNESS_PERIOD = 0.01
"""Seconds between two looks at how stiff friction and springs are: it changes with the configuration, slowly."""

_WORTH_SAYING = 2.0  # seconds
_log = logging.getLogger("kinetree")

SECONDS_PER_BLOCK = 0.02
"""Approximate maximum duration of one call that takes many steps: Ctrl-C and `progress` wait for its end."""


def simulate(
    robot: Model,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | Controller | Program | None = None,
    f_ext: ExternalForces | None = None,
    constraints: Constraints | None = None,
    duration: float = 5.0,
    dt: float = 1e-3,
    control_dt: ControlDt = None,
    arguments: Mapping[str, ArrayLike] | None = None,
    rows: Mapping[str, ArrayLike] | None = None,
    state: Mapping[str, ArrayLike] | None = None,
    integrator: str | None = None,
    passive: Passive = True,
    limits: bool = False,
    contact: ContactOption = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectory:
    """The motion of a robot under gravity, joint torques, joint friction and springs; or the motions of a batch.

    q (nq,) and v (nv,) are the initial state: by default at rest, where an MJCF file places the robot's bodies
    (`robot.extras.reference_configuration`), and `robot.neutral()` for others. The motion ends at the first whole
    number of steps `dt` that reaches `duration` (both in s). Arrays of results have one row per step and one for the
    start: q is (steps + 1, nq).

    tau (N·m or N) is None, constant (nv,), one row per step (steps, nv) held over that step, or a controller, whose
    result is held until its next call. A controller is a program (`kt.program`), which runs in the kernel of the steps,
    or a Python function (t, q, v) -> (nv,), which is slow: a call of it takes many times as long as a step. It is
    called once per step, in the order of time; with `control_dt`, a multiple of dt in s, that often.
    control_dt="stages" calls it at every stage of the integrator, some of them at times and states that the motion does
    not pass through: for torques that are a smooth function of the state, not for a controller that remembers. Where
    there is no motor (`robot.actuated`), as at a floating base, tau must be zero: what pushes from outside is `f_ext`.

    A program takes any of t (), q (nq,) and v (nv,), and arguments of its own: `arguments` gives those that are
    constant over the motion, by name, and `rows` those with one row per step (steps, *shape). It returns tau (nv,),
    alone or as "tau" in a dict, named tuple or dataclass. A result that is named as an argument is that argument's
    value at the next call. So a program has a state, such as an integral, a filter, or "tau", the last command; `state`
    gives its initial value, by default that of the argument's default, or zero. The trajectory has what else it
    returns, and its state, in `recorded`.

    `f_ext` holds external forces by frame name, `kt.WrenchOn` or `kt.ForceOn`, as for `aba`: constant (6,), or one row
    per step (steps, 6), such as a push that ends. Their work is part of the trajectory's `work`.

    `constraints` is a list of `kt.Contact` and `kt.Loop` that hold during the whole motion, as for
    `constrained_dynamics`; a contact without `at=` stays where it is at the start. Each step ends with a projection
    onto the states that satisfy them, so with "rk4" they stay closed to rounding, and gains are not needed. The start
    must satisfy them to 1e-6: `kt.nearest_configuration` and `kt.nearest_velocity` find one that does.

    A batch: q (…, nq), v (…, nv), tau (…, steps, nv), f_ext (…, steps, 6), parameters and the numbers of constraints
    (such as `at=`) may have leading axes, which broadcast (a single row per motion is (…, 1, nv)). Results have them
    first: q is (…, steps + 1, nq); a controller gets q (…, nq) and returns (…, nv); `motion[k]` is the trajectory of
    one of the motions, to plot for example. Each is the same as alone.

    With `contact=True` the robot's shapes touch each other and the world, its joints end at their limits, and dry
    friction sticks, as in `contact_dynamics`; what contacts take from the energy is part of the trajectory's `loss`.
    Constraints cannot hold at the same time.

    `integrator` is "rk4" (order four; for smooth motion far more exact at the same cost; the default without contacts)
    or "semi_implicit_euler" (order one, with friction taken implicitly: steady however stiff friction is; the default
    with contacts); the steps are those of `rollout`.
    Steps are divided where friction (for RK4) or springs (for both) are stiff. Where that would take more than a
    hundred parts, it is refused: by `StiffFrictionError`, or for springs by `SimulationError`.

    `passive` says which passive forces of the joints act: True for all, False for none, or a list of names among
    "damping", "friction" and "spring". With `limits` motors give at most their effort limit of tau and drive no joint
    beyond its velocity limit. Without `contact=True` a joint swings through its stops, and a
    `SimulationWarning` says which, when and how far. Another warns about a base that falls more than 10 m, and about a
    start far outside a joint's limits. See docs/drives.md. `parameters` are values that override some of the robot's
    parameters, as for `aba`. `progress(done, steps)` is called now and then.

    Raises `ShapeError`, `DTypeError`, `ConfigurationError` and `OptionError` for unusable arguments, `ActuationError`
    for a torque where there is no motor, whenever `tau` returns it, `SingularModelError` for a robot without forward
    dynamics, and `SimulationError` when the motion ceases to be finite or the controller returns numbers that are not.
    Ctrl-C raises `SimulationInterrupted`, a `KeyboardInterrupt` whose `trajectory` is the motion until then, unless the
    first step is not done yet.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=1.0)
    >>> motion.q.shape
    (1001, 2)
    >>> bool(abs(motion.balance_error).max() < 1e-8)
    True
    """
    check_robot(robot)
    refuse_symbols(
        "simulate: how a motion goes on",
        "use kt.rollout, or steps of your own with kt.integrate, in programs",
        *(x for x in (q, v, tau, duration, dt) if x is not None),
        *(x for some in (parameters, arguments, rows, state) if isinstance(some, Mapping) for x in some.values()),
    )
    acting = switched_on(robot, passive, limits).get("passive", ())
    steps = step_count(duration, dt)
    if progress is not None and not callable(progress):
        raise OptionError(f"progress must be a function of (done, steps), not {progress!r:.60}")
    soft = contact_option(robot, contact)
    if soft is not None and constraints is not None:
        raise OptionError(
            "simulate: with contacts, constraints are soft rows among the others; leave constraints= out, and give "
            "contact=kt.soft_constraints(robot, constraints=[…])"
        )
    if integrator is None:
        integrator = "rk4" if soft is None else "semi_implicit_euler"
    integrator_option(robot, integrator)
    integrator, dt = str.__str__(integrator), float(dt)
    if control_dt is not None and not callable(tau):
        raise OptionError("control_dt says how often tau is called, so it needs a controller; leave it out")
    period = control_period(control_dt, dt)
    inputs = None
    if isinstance(tau, Program):
        inputs = program_inputs(tau, steps, arguments, rows, state)
    else:
        for name, value in (("arguments", arguments), ("rows", rows), ("state", state)):
            if value is not None:
                raise OptionError(f"simulate: {name}= is for a controller that is a kt.program; leave it out")
    q = reference_configuration(robot) if q is None else checked_state(robot, "q", q, robot.q_names)
    robot.check_configuration(q)
    v = np.zeros(robot.nv) if v is None else checked_state(robot, "v", v, robot.v_names)
    forces, given = force_rows(robot, f_ext, steps), parameter_values(robot, parameters)
    known = None if callable(tau) else torque_rows(robot, tau, steps)
    leading = {} if inputs is None else inputs.leading(tau)  # type: ignore[arg-type]
    shape = _batch_shape(robot, q, v, known, forces, given, constraints, leading)
    if math.prod(shape) * steps > MAX_STEPS:
        raise OptionError(
            f"{math.prod(shape):,} motions of {steps:,} steps are more than {MAX_STEPS:,} steps in all, which is the "
            "most that are taken at once, because a trajectory holds every step"
        )
    q, v = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v))
    held = held_frames(robot, constraints, q, v, given)
    setting = Setting(robot, dt, integrator, acting, limits, shape, forces, given, held, soft)
    motion: Motion
    recorded: Mapping[str, Array] = {}
    began = time.perf_counter()
    if known is not None:
        motion = Held(setting, known)
    elif isinstance(tau, Program):
        assert inputs is not None
        motion = controlled = ProgramMotion(setting, tau, inputs, period, steps)
        recorded = controlled.recorded
    else:
        torque = checked_controller(robot, tau, shape)  # type: ignore[arg-type]
        if period is None and shape:
            raise OptionError(
                f"control_dt='stages' is for one motion, and this is a batch {shape}: leave it out, or simulate the "
                "motions one by one"
            )
        motion = Staged(setting, torque) if period is None else Sampled(setting, torque, period, steps)
    record, found = Record(robot, shape, steps, given), partial(accelerations, setting)
    record.recorded = recorded
    record.rows[..., 0, :] = np.concatenate((q, v, np.zeros((*shape, 2))), axis=-1)
    stiffness = Stiffness(robot, acting, integrator, dt, given)
    springs = bool(spring_stiffness(robot, acting).any())
    try:
        with np.errstate(all="ignore"):  # as a compiled function does; a controller has its own
            _run(robot, motion, stiffness, record, dt, progress)
        trajectory = record.trajectory(integrator, dt, found, springs=springs, limits=limits)
    except KeyboardInterrupt as stop:
        if record.done < 2:
            raise
        trajectory = record.trajectory(integrator, dt, found, springs=springs, limits=limits)
        raise SimulationInterrupted(trajectory, steps) from stop
    if callable(tau) and not isinstance(tau, Program):
        _say_if_slow(time.perf_counter() - began)
    for remark in remarks(robot, trajectory, setting.gravity, stops_push=soft is not None):
        warnings.warn(remark, SimulationWarning, stacklevel=2)
    return trajectory


def _say_if_slow(seconds: float) -> None:
    """Tell someone who waited for a Python function what would be quicker."""
    if seconds > _WORTH_SAYING:
        _log.warning(
            "simulate took %.1f s, most of it in calls of tau, which is a Python function; "
            "as a program (kt.program) it would run in the kernel of the steps",
            seconds,
        )


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
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ShapeError(f"simulate: the leading axes of the arguments do not broadcast: {listed}") from None


def _run(
    robot: Model,
    motion: Motion,
    stiffness: Stiffness,
    record: Record,
    dt: float,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Fill the record, in blocks of steps.

    A block goes beyond the next look at how stiff the robot is if its steps are likely to be divided there as they are
    now. What follows a look at which that is wrong is computed again.
    """
    rows, nq = record.rows, robot.nq
    steps, states = rows.shape[-2] - 1, rows[..., : nq + robot.nv]
    look = steps if stiffness.is_zero else max(1, int(_STIFFNESS_PERIOD / dt))
    k, block = 0, 1
    while True:
        record.tau[..., k, :] = motion.torque(k, rows[..., k, :])
        record.done = k + 1
        if k == steps:
            motion.accept(record, k, k + 1)
            return
        if k == 0 and not stiffness.is_zero:
            stiffness.follow(states[..., :1, :nq])
        record.substeps = max(record.substeps, most_parts(stiffness.parts))
        count = min(block, look - k % look + look * stiffness.ahead, steps - k, motion.most(k))
        begin = time.perf_counter()
        motion.advance(record, k, count, stiffness.parts)
        seconds = time.perf_counter() - begin
        finite = _finite_rows(states[..., k + 1 : k + count + 1, :])
        first, end = k + look - k % look, min(k + finite + 1, steps)
        looks = range(first, end, look)
        held = stiffness.follow(states[..., first:end:look, :nq]) if looks and not stiffness.is_zero else len(looks)
        if held < len(looks):
            kept = looks[held] - k
        elif finite < count:
            motion.accept(record, k, k + finite + 1)
            raise _not_finite(robot, states[..., k + finite + 1, :], k + finite + 1, dt)
        else:
            kept = count
        motion.accept(record, k, k + kept)
        k += kept
        record.done = k
        block = max(1, min(2 * kept, int(count * SECONDS_PER_BLOCK / seconds)))
        if progress is not None:
            progress(k, steps)


def step_count(duration: float, dt: float) -> int:
    """The number of steps of dt that reach the duration. Raises `OptionError` unless both are positive times."""
    for name, value in (("duration", duration), ("dt", dt)):
        try:
            is_time = isinstance(value, Real) and math.isfinite(value) and value > 0.0
        except OverflowError:
            raise OptionError(f"{name} must be finite, and is a whole number beyond all floats") from None
        if not is_time:
            raise OptionError(f"{name} must be a positive number of seconds, not {value!r:.60}")
    # 5 s in steps of 1 ms are 5000 steps, though 5 / 0.001 may round to a little more.
    exact = duration / dt
    if exact > MAX_STEPS:
        raise OptionError(
            f"{duration:g} s in steps of {dt:g} s are {exact:.2g} steps; at most {MAX_STEPS:,} are taken at once, "
            "because a trajectory holds every step"
        )
    return max(1, math.ceil(exact * (1.0 - 1e-12)))


def _finite_rows(rows: Array) -> int:
    """How many rows (…, T, n) come before the first one that is not finite, in any sample."""
    finite, count = np.isfinite(rows), int(rows.shape[-2])
    if finite.all():
        return count
    return int(np.argmin(finite.all(axis=-1).reshape(-1, count).all(axis=0)))


def _not_finite(robot: Model, row: Array, step: int, dt: float) -> SimulationError:
    """The error for the states (…, nq + nv) at a step, some of which are not finite."""
    nq = robot.nq
    wrong = ~np.isfinite(row)
    sample, where = first_sample(np.asarray(wrong.any(axis=-1)))
    bad, names = wrong[sample][nq:], robot.v_names
    if not bad.any():
        bad, names = wrong[sample][:nq], robot.q_names
    return SimulationError(
        f"the motion of {robot.name!r}{where} is no longer finite at t = {step * dt:g} s "
        f"({names[int(np.argmax(bad))]!r} first): it grew beyond all bounds; try a "
        f"smaller step than {dt:g} s, smaller torques or initial velocities, or more friction"
    )
